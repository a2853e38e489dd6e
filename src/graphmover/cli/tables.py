"""Tables and histograms as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def print_scores(scores: Sequence[Mapping[str, Any]]) -> None:
    """Print the summary of an evaluation, a line per method.

    The standard deviation is that of the means of repetitions, or of folds if there is only one.
    """
    names = [_name(score) for score in scores]
    width = max(map(len, names))
    print(f"{'method':<{width}}   accuracy        seconds")
    for name, score in zip(names, scores, strict=True):
        deviation = score["fold_std"] if score["std"] is None else score["std"]
        accuracy = f"{100 * score['mean']:5.1f} +- {100 * deviation:4.1f} %"
        print(f"{name:<{width}}   {accuracy}   {score['seconds']:5.1f}")


def _name(score: Mapping[str, Any]) -> str:
    R = score["n_components"]
    return str(score["method"]) if R is None else f"{score['method']}, R = {R}"


def print_histogram(title: str, counts: Mapping[str, int]) -> None:
    """Print a bar per range of values."""
    print(f"\n{title}")
    total, most = sum(counts.values()) or 1, max(counts.values(), default=0) or 1
    label, number = max(map(len, counts), default=0), len(f"{most:,}")
    for values, count in counts.items():
        bar = "#" * round(40 * count / most)
        print(f"  {values:>{label}}  {count:>{number},}  {100 * count / total:5.1f} %  {bar}")
