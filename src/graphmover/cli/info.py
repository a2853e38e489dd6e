"""``graphmover info``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphmover._utils.messages import printable
from graphmover.cli.command import Result
from graphmover.cli.options import Source, reads_graphs
from graphmover.cli.tables import print_histogram

if TYPE_CHECKING:
    from graphmover.datasets.summary import Spread, Summary


@reads_graphs
def info(source: Source, reading: dict[str, Any]) -> Result:
    """Describe a collection: sizes, components, and all that its graphs carry.

    "views" are what GraphVectorizer uses of it. Ids and targets accompany the rows: no vector
    depends on either.
    """
    from graphmover.datasets.summary import summarise

    summary = summarise(source, progress=True, **reading)
    return Result(summary.as_dict(), lambda: _print(summary))


def _print(summary: Summary) -> None:
    from graphmover.nodes.input_warnings import embedding_of

    print(f"graphs            {summary.graphs:,}")
    print(f"nodes             {_words(summary.nodes)}")
    print(f"edges             {_words(summary.edges)}")
    print(f"components        {_words(summary.components)}")
    print(f"node labels       {_used(summary.node_labels, 'node labels', summary)}")
    print(f"node attributes   {_used(summary.node_attributes, 'node attributes', summary)}")
    print(f"edge weights      {_used(summary.edge_weights, 'edge weights', summary)}")
    print(f"edge labels       {_used(summary.edge_labels, 'edge labels', summary)}")
    print(f"edge attributes   {_used(summary.edge_attributes, 'edge attributes', summary)}")
    print(f"direction         {_direction(summary)}")
    print(f"ids               {_ids(summary)}")
    print(f"target            {_target(summary.target)}")
    if summary.other_columns:
        print(f"other columns     {_others(summary.other_columns)}")
    print(f"views             {', '.join(summary.views)}")
    for name, sees in summary.views.items():
        print(f"  {name:<15} {sees}")
    if summary.unused_by_default:
        unused, blocks = ", ".join(summary.unused_by_default), embedding_of(summary.used)
        print(
            f"(RandomGraphEmbedding does not use {unused} by default; "
            f"--node-embedding {blocks} does)"
        )
    print_histogram("nodes per graph", summary.node_histogram)
    print_histogram("degrees", summary.degree_histogram)


def _direction(summary: Summary) -> str:
    if not summary.directed:
        return "none"
    if summary.keeps_direction:
        return "some edges are directed; direction is kept as edge labels"
    return "some edges are directed; direction is ignored: --keep-direction keeps it as edge labels"


def _used(amount: int | bool, what: str, summary: Summary) -> str:
    """Say how much there is of something, and which views use it."""
    if not amount:
        return "none"
    shown = "yes" if amount is True else f"{amount:,}"
    return f"{shown}; used by {', '.join(summary.used.get(what, [])) or 'none of the views'}"


def _ids(summary: Summary) -> str:
    """Say how many graphs have ids, and show some."""
    if not summary.ids:
        return "none"
    shown = ", ".join(printable(str(value)[:40]) for value in summary.first_ids)
    more = ", ..." if summary.ids > len(summary.first_ids) else ""
    return f"{summary.ids:,} ({shown}{more})"


def _target(target: dict[str, Any] | None) -> str:
    if target is None:
        return "none"
    if "classes" not in target:
        return f"real numbers from {target['least']:g} to {target['most']:g}"
    counts = [f"{printable(name)}: {count}" for name, count in target["classes"].items()]
    more = ", ..." if len(counts) > 5 else ""
    return f"{len(counts)} classes ({', '.join(counts[:5])}{more})"


def _others(names: list[str]) -> str:
    shown = ", ".join(map(printable, names[:8])) + (", ..." if names[8:] else "")
    return f"{shown}; not read: choose with --target-column and --id-column"


def _words(spread: Spread) -> str:
    if spread.least == spread.most:
        return f"{spread.total:,} in all; {spread.least:,} per graph"
    ends = f"{spread.least:,} to {spread.most:,}"
    return f"{spread.total:,} in all; {ends} per graph, mean {spread.mean:.1f}"
