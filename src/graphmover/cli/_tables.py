"""Tables and histograms as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphmover.evaluation import Score


def print_scores(scores: Sequence[Score]) -> None:
    """Print accuracies, a line per method."""
    width = max(len(score.method) for score in scores)
    print(f"{'method':<{width}}   accuracy       seconds")
    for score in scores:
        accuracy = f"{100 * score.mean:5.1f} +- {100 * score.std:3.1f} %"
        print(f"{score.method:<{width}}   {accuracy}   {score.seconds:5.1f}")


def print_histogram(title: str, counts: Mapping[str, int]) -> None:
    """Print a bar per range of values."""
    print(f"\n{title}")
    total, most = sum(counts.values()) or 1, max(counts.values(), default=0) or 1
    label, number = max(map(len, counts), default=0), len(f"{most:,}")
    for values, count in counts.items():
        bar = "#" * round(40 * count / most)
        print(f"  {values:>{label}}  {count:>{number},}  {100 * count / total:5.1f} %  {bar}")
