"""Tables and histograms as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphmover._utils.messages import printable
from graphmover.cli.words import in_words_of_options


def print_scores(scores: Sequence[Mapping[str, Any]]) -> None:
    """Print the summary of an evaluation, a line per method, and its notes.

    The standard deviation is that of the means of repetitions, or of folds if there is only one.
    """
    from graphmover.evaluation.metrics import METRIC_NAMES

    names = [_name(score) for score in scores]
    width = max(map(len, names))
    by_metric = [score.get("metrics", {"accuracy": score}) for score in scores]
    cells = {
        metric: [_cell(metric, metrics[metric]) for metrics in by_metric] for metric in by_metric[0]
    }
    widths = {metric: max(len(METRIC_NAMES[metric]), *map(len, cells[metric])) for metric in cells}
    header = "   ".join(f"{METRIC_NAMES[metric]:<{widths[metric]}}" for metric in cells)
    print(f"{'method':<{width}}   {header} seconds")
    for place, (name, score) in enumerate(zip(names, scores, strict=True)):
        line = "   ".join(f"{cells[metric][place]:<{widths[metric]}}" for metric in cells)
        print(f"{name:<{width}}   {line}   {score['seconds']:5.1f}")
    for note in scores[0].get("notes", []):
        print(f"\n{printable(in_words_of_options(note))}")


def _cell(metric: str, score: Mapping[str, Any]) -> str:
    from graphmover.evaluation.metrics import CLASSIFICATION_METRICS

    mean = score["mean"]
    if mean is None:
        return "-"
    deviation = score["fold_std"] if score["std"] is None else score["std"]
    if metric in CLASSIFICATION_METRICS:
        return f"{100 * mean:5.1f} +- {100 * (deviation or 0.0):4.1f} %"
    return f"{mean:.4g} +- {deviation:.2g}"


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
