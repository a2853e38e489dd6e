"""The ground distance: what it costs to move a unit of mass from one node to another.

A node has d coordinates and k >= 0 labels, one in each label column. Between nodes at x and y

    distance = max(||x - y||_2, floor if any label differs, else 0)
               + per_label * (number of labels that differ)

This is the only statement of the rule. `cpu/ground.py` and `cuda/ground.cuh` compute it.
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
    """

    floor: float  # nodes of which any label differs are at least this far apart
    per_label: float  # added for each label that differs


def default_ground_distance(n_dimensions: int) -> GroundDistance:
    """Return the paper's rule: different labels are sqrt(d) apart, the unit cube's diameter."""
    return GroundDistance(floor=math.sqrt(n_dimensions), per_label=0.0)
