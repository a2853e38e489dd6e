"""Tables of the page of results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

NOT_RUN = "not run yet"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def percent(row: dict[str, str]) -> str:
    """Return a mean and its standard deviation, as the paper writes them."""
    deviation = f" +- {100 * float(row['std']):.2f}" if row["std"] else ""
    return f"{100 * float(row['mean']):.2f}{deviation}"
