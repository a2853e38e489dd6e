"""``graphmover datasets``."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from graphmover.cli.command import Result

if TYPE_CHECKING:
    from graphmover.datasets.catalogue import DatasetInfo


class Category(StrEnum):
    """What the graphs represent."""

    bioinformatics = "bioinformatics"
    molecules = "molecules"
    social = "social"
    synthetic = "synthetic"
    vision = "vision"


def datasets(
    contains: Annotated[
        str, typer.Argument(help="Part of the name.", show_default=False, metavar="CONTAINS")
    ] = "",
    category: Annotated[Category | None, typer.Option(help="What the graphs represent.")] = None,
    max_graphs: Annotated[
        int | None, typer.Option(min=0, help="The largest number of graphs.")
    ] = None,
    node_labels: Annotated[
        bool | None,
        typer.Option("--node-labels/--no-node-labels", help="With node labels, or without."),
    ] = None,
) -> Result:
    """List the data sets of the TU collection; their names work wherever a SOURCE is expected."""
    from graphmover.datasets import catalogue
    from graphmover.datasets.catalogue import did_you_mean

    found = catalogue(
        contains=contains,
        category=None if category is None else category.value,
        max_graphs=max_graphs,
        node_labels=node_labels,
    )
    if not found:
        raise ValueError(f"no data set of the collection matches.{did_you_mean(contains)}")
    return Result({"datasets": [one._asdict() for one in found]}, lambda: _print(found))


def _print(found: Sequence[DatasetInfo]) -> None:
    width = max(len(info.name) for info in found)
    print(f"{'name':<{width}}  {'category':<14}    graphs  classes    nodes     edges  has")
    for info in found:
        has = {
            "node labels": info.node_labels,
            "edge labels": info.edge_labels,
            "node attributes": info.node_attributes,
            "edge attributes": info.edge_attributes,
            "real targets": info.n_targets,
            "timestamps": info.temporal,
        }
        print(
            f"{info.name:<{width}}  {info.category:<14}  {info.n_graphs:>8}  "
            f"{info.n_classes or '-':>7}  {info.mean_nodes:>7.1f}  {info.mean_edges:>8.1f}  "
            + ", ".join(what for what, there in has.items() if there)
        )
