"""``graphmover datasets``."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from graphmover.cli._options import Json


def datasets(
    text: Annotated[str, typer.Argument(help="Only names that contain this.")] = "",
    min_graphs: Annotated[int, typer.Option(min=0, help="Only sets of so many graphs.")] = 0,
    classes: Annotated[
        int | None, typer.Option(min=2, help="Only sets of this many classes.")
    ] = None,
    node_labels: Annotated[
        bool, typer.Option("--node-labels", help="Only sets with node labels.")
    ] = False,
    node_attributes: Annotated[
        bool, typer.Option("--node-attributes", help="Only sets with node attributes.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List the sets of the TU collection, which go by name wherever a source is asked for."""
    from graphmover.datasets import catalogue

    found = [
        entry
        for entry in catalogue()
        if text.lower() in entry.name.lower()
        and entry.graphs >= min_graphs
        and (classes is None or entry.classes == classes)
        and (entry.node_labels or not node_labels)
        and (entry.node_attributes or not node_attributes)
    ]
    if as_json:
        print(json.dumps([entry._asdict() for entry in found]))
        return
    if not found:
        print("graphmover: no set is like that", file=sys.stderr)
        raise typer.Exit(1)
    width = max(len(entry.name) for entry in found)
    print(f"{'name':<{width}}    graphs  classes    nodes    edges  has")
    for entry in found:
        has = ["node labels"] * bool(entry.node_labels)
        has += ["node attributes"] * bool(entry.node_attributes)
        has += ["edge labels"] * bool(entry.edge_labels)
        has += ["edge attributes"] * bool(entry.edge_attributes)
        print(
            f"{entry.name:<{width}}  {entry.graphs:>8}  {entry.classes or '-':>7}  "
            f"{entry.mean_nodes:>7.1f}  {entry.mean_edges:>7.1f}  {', '.join(has)}"
        )
