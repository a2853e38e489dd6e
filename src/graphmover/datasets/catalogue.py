"""The catalogue of the TU collection, available without any download."""

from __future__ import annotations

import csv
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import NamedTuple

#: The categories of the collection.
CATEGORIES = ("bioinformatics", "molecules", "social", "synthetic", "vision")


class DatasetInfo(NamedTuple):
    """One data set of the TU collection, as the collection describes it.

    Attributes
    ----------
    name : str
        What `load_dataset` takes.
    category : str
        "bioinformatics", "molecules", "social", "synthetic" or "vision".
    n_graphs : int
    n_classes : int
        0 for a data set with real targets.
    n_targets : int
        Real targets per graph; 0 for a data set with classes.
    mean_nodes, mean_edges : float
        Per graph; an edge counts once.
    node_labels, edge_labels : bool
    node_attributes, edge_attributes : int
        Real numbers per node and per edge.
    temporal : bool
        Whether labels and edges have timestamps. The collection does not document them, so
        such a data set has neither labels nor attributes here.

    Examples
    --------
    >>> from graphmover.datasets import catalogue
    >>> mutag = next(info for info in catalogue() if info.name == "MUTAG")
    >>> mutag.n_graphs, mutag.n_classes, mutag.edge_labels
    (188, 2, True)
    """

    name: str
    category: str
    n_graphs: int
    n_classes: int
    n_targets: int
    mean_nodes: float
    mean_edges: float
    node_labels: bool
    edge_labels: bool
    node_attributes: int
    edge_attributes: int
    temporal: bool


def catalogue(
    *,
    contains: str | None = None,
    category: str | None = None,
    max_graphs: int | None = None,
    node_labels: bool | None = None,
) -> list[DatasetInfo]:
    """List the data sets of the TU collection, or those that match all criteria.

    Parameters
    ----------
    contains : str, optional
        A part of the name; case is ignored.
    category : str, optional
        "bioinformatics", "molecules", "social", "synthetic" or "vision".
    max_graphs : int, optional
        The largest number of graphs.
    node_labels : bool, optional
        Whether nodes must, or must not, have labels.

    Returns
    -------
    list of DatasetInfo
        Sorted by name. ``pandas.DataFrame(catalogue())`` is a table with named columns.

    Examples
    --------
    >>> from graphmover.datasets import catalogue
    >>> [info.name for info in catalogue(category="social", max_graphs=1500) if not info.temporal]
    ['IMDB-BINARY', 'IMDB-MULTI']
    """
    if category is not None and category not in CATEGORIES:
        raise ValueError(f"category must be one of {', '.join(CATEGORIES)}, got {category!r}")
    return [
        info
        for info in _all_data_sets()
        if (contains is None or contains.lower() in info.name.lower())
        and (category is None or info.category == category)
        and (max_graphs is None or info.n_graphs <= max_graphs)
        and (node_labels is None or info.node_labels == node_labels)
    ]


def is_in_catalogue(name: str) -> bool:
    """Return whether the collection has a data set of exactly that name."""
    return any(info.name == name for info in _all_data_sets())


def did_you_mean(name: str) -> str:
    """Return a question about similar names, to end a message, or an empty string."""
    by_lower_case = {info.name.lower(): info.name for info in _all_data_sets()}
    meant = [by_lower_case[match] for match in get_close_matches(name.lower(), by_lower_case)]
    return f" Did you mean {' or '.join(meant)}?" if meant else ""


@cache
def _all_data_sets() -> tuple[DatasetInfo, ...]:
    table = files("graphmover.datasets").joinpath("tu_catalogue.csv").read_text(encoding="utf-8")
    return tuple(_parsed(row) for row in csv.DictReader(table.splitlines()))


def _parsed(row: dict[str, str]) -> DatasetInfo:
    return DatasetInfo(
        name=row["name"],
        category=row["category"],
        n_graphs=int(row["n_graphs"]),
        n_classes=int(row["n_classes"]),
        n_targets=int(row["n_targets"]),
        mean_nodes=float(row["mean_nodes"]),
        mean_edges=float(row["mean_edges"]),
        node_labels=row["node_labels"] == "1",
        edge_labels=row["edge_labels"] == "1",
        node_attributes=int(row["node_attributes"]),
        edge_attributes=int(row["edge_attributes"]),
        temporal=row["temporal"] == "1",
    )
