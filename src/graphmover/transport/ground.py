"""The ground distance: what it costs to move a unit of mass from one node to another.

A node has d coordinates and k >= 0 labels, one in each label column. Between nodes at x and y

    distance = max(||x - y||_2, floor if any label differs, else 0)
               + per_label * (number of labels that differ)

This is the only statement of the rule. `cpu/ground.py` and `cuda/ground.cuh` compute it. Nodes
without coordinates whose label columns refine each other are compared by `TreeDistance`, for which
transport has a closed form (`tree/`).

Shares and counts. By shares, the masses of both graphs are divided by their sums. By counts
(partial transport), each unit of y's mass is matched with a unit of x's mass of its own. What is
left of x costs nothing; each unit of y that finds none costs ``unmatched``; the sum is divided by
y's mass.
"""

from __future__ import annotations

import math
from typing import NamedTuple


class GroundDistance(NamedTuple):
    """How the columns of two nodes are compared.

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.transport import GroundDistance
    >>> x = gm.NodeEmbeddings([[0.0]], [1], [0, 1], labels=[7])
    >>> y = gm.NodeEmbeddings([[0.5]], [1], [0, 1], labels=[8])
    >>> gm.earth_movers_distance(x, y, ground=GroundDistance(floor=0.0, per_label=2.0))
    array([[2.5]])

    By counts, one node of y is matched with that of x, and the other is not:

    >>> y = gm.NodeEmbeddings([[0.5], [0.7]], [1, 1], [0, 2], labels=[8, 7])
    >>> ground = GroundDistance(floor=0.0, per_label=2.0, unmatched=3.0)
    >>> gm.earth_movers_distance(x, y, ground=ground)
    array([[1.85]])
    """

    floor: float  # nodes of which any label differs are at least this far apart
    per_label: float  # added for each label that differs
    unmatched: float | None = None  # the cost of a unit of y beyond x's mass; None: by shares

    @property
    def partial(self) -> bool:
        """Whether masses are counted rather than divided by their sum."""
        return self.unmatched is not None


def default_ground_distance(n_dimensions: int) -> GroundDistance:
    """Return the paper's rule: different labels are sqrt(d) apart, the unit cube's diameter."""
    return GroundDistance(floor=math.sqrt(n_dimensions), per_label=0.0)


class TreeDistance(NamedTuple):
    """The share of the label columns in which two nodes differ; points have no coordinates.

    Every column must refine the one before it, as the depths of Weisfeiler-Lehman labels do: nodes
    with the same label in a column have the same labels in all columns before. Labels are then
    places in a tree, and the earth mover's distance is a mean of differences of histograms.

    Examples
    --------
    >>> import numpy as np
    >>> import graphmover as gm
    >>> from graphmover.transport import TreeDistance
    >>> labels = [[6, 1], [6, 2], [6, 1], [6, 1], [8, 3]]
    >>> graphs = gm.NodeEmbeddings(np.zeros((5, 0)), [1] * 5, [0, 2, 5], labels)
    >>> gm.earth_movers_distance(graphs[0], graphs[1], ground=TreeDistance())
    array([[0.41666667]])
    >>> gm.earth_movers_distance(graphs[0], graphs[1], ground=TreeDistance(partial=True))
    array([[0.5]])
    """

    #: Whether masses are counted rather than divided by their sum. Mass of y is matched with mass
    #: of x, at most as much as there is; what of x is left costs nothing, what of y is left costs
    #: 1; the sum is divided by the mass of y.
    partial: bool = False

    def by_columns(self, n_columns: int) -> GroundDistance:
        """Return the same distance as the general rule states it."""
        return GroundDistance(0.0, 1 / n_columns, unmatched=1.0 if self.partial else None)


Ground = GroundDistance | TreeDistance
