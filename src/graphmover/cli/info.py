"""``graphmover info``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from graphmover.cli.options import (
    Errors,
    IdColumn,
    Json,
    MaxBytes,
    MaxSmiles,
    OnError,
    Source,
    TargetColumn,
)
from graphmover.cli.tables import print_histogram

if TYPE_CHECKING:
    from graphmover.datasets.summary import Spread, Summary


def info(
    source: Source,
    target_column: TargetColumn = None,
    id_column: IdColumn = None,
    errors: Errors = OnError.error,
    max_bytes: MaxBytes = None,
    max_smiles: MaxSmiles = None,
    as_json: Json = False,
) -> None:
    """Describe a collection: sizes, labels, components, targets.

    "views" are what GraphVectorizer uses of it.
    """
    from graphmover.datasets.summary import summarise

    summary = summarise(
        source,
        target_column=target_column,
        id_column=id_column,
        errors=errors.value,
        max_bytes=max_bytes,
        max_smiles=max_smiles,
    )
    if as_json:
        print(json.dumps(summary.as_dict()))
    else:
        _print(summary)


def _print(summary: Summary) -> None:
    print(f"graphs            {summary.graphs:,}")
    print(f"nodes             {_words(summary.nodes)}")
    print(f"edges             {_words(summary.edges)}")
    print(f"components        {_words(summary.components)}")
    print(f"node labels       {summary.node_labels or 'none'}")
    print(f"node attributes   {summary.node_attributes or 'none'}")
    print(f"edge weights      {'yes' if summary.edge_weights else 'none'}")
    print(f"edge labels       {summary.edge_labels or 'none'}")
    print(f"edge attributes   {summary.edge_attributes or 'none'}")
    print(f"target            {_target(summary.target)}")
    print(f"views             {', '.join(summary.views)}")
    for name, sees in summary.views.items():
        print(f"  {name:<15} {sees}")
    print_histogram("nodes per graph", summary.node_histogram)
    print_histogram("degrees", summary.degree_histogram)


def _target(target: dict[str, Any] | None) -> str:
    if target is None:
        return "none"
    if "classes" not in target:
        return f"real numbers from {target['least']:g} to {target['most']:g}"
    counts = [f"{name}: {count}" for name, count in target["classes"].items()]
    more = ", ..." if len(counts) > 5 else ""
    return f"{len(counts)} classes ({', '.join(counts[:5])}{more})"


def _words(spread: Spread) -> str:
    return f"{spread.total:,} in all; {spread.least:,} to {spread.most:,} a graph, mean " + (
        f"{spread.mean:.1f}"
    )
