"""Several node embedding methods side by side, each with a weight and with scales of its own.

What `fit` decides is kept in a `Block` per method: for standardised columns their means and
standard deviations over the training nodes, for ranked ones the scores of training values, for
labels those that were known.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover.nodes.carried import known_labels
from graphmover.nodes.carried_by_edges import known_edge_labels
from graphmover.nodes.normal_scores import Knots, fitted_knots
from graphmover.nodes.registry import NODE_EMBEDDINGS, OF_ATTRIBUTES, Work, named_blocks

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Coordinates are limited to this size; squares of more would overflow.
_LARGEST = 1e150


class Block(NamedTuple):
    """One method, and what `fit` has decided.

    Points are (columns - centres) / scales * weight, with centres of 0 unless standardised.
    """

    name: str
    weight: float
    centres: Floats  # one per column
    scales: Floats
    labels: Ints | None = None  # codes of the known labels, increasing
    knots: Knots | None = None  # of ranked columns, which are replaced by scores first

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.centres)


def digest_of(blocks: tuple[Block, ...] | None) -> str:
    """Return a hash that is equal for equal blocks; "" if there are none."""
    if blocks is None:
        return ""
    content = hashlib.blake2b(digest_size=16)
    for block in blocks:
        content.update(f"{block.name} {block.weight!r} {block.width} ".encode())
        for values in (block.centres, block.scales, block.labels, *(block.knots or ())):
            content.update(b"" if values is None else values.tobytes())
    return content.hexdigest()


def farthest_square(block: Block) -> float:
    """Return the square of how far apart two points are that have nothing in common."""
    if block.name == "labels":
        return 2 * block.weight**2
    per_column = 2 if NODE_EMBEDDINGS[block.name].is_standardised else 1
    return per_column * block.width * block.weight**2


def is_composed(node_embedding: object) -> bool:
    """Tell whether points are made of blocks: of several methods, weighted ones or features."""
    if node_embedding is None or callable(node_embedding):
        return False
    (name, weight), *more = named_blocks(node_embedding)
    return bool(more) or weight != 1 or NODE_EMBEDDINGS[name].is_feature


def fitted_blocks(work: Work, node_embedding: object) -> tuple[Block, ...]:
    """Fit the blocks of a node embedding to the training nodes."""
    if not work.batch.n_nodes:
        raise ValueError("node_embedding is fitted to nodes, but no graph has any")
    return tuple(_fitted(work, name, weight) for name, weight in named_blocks(node_embedding))


def _fitted(work: Work, name: str, weight: float) -> Block:
    method = NODE_EMBEDDINGS[name]
    if name == "labels":
        labels = known_labels(work.batch)
        return Block(name, weight, np.zeros(len(labels)), np.ones(len(labels)), labels)
    if method.in_unit_cube:
        return Block(name, weight, np.zeros(work.n_dimensions), np.ones(work.n_dimensions))
    if name == "edges":
        work = work._replace(known_labels=known_edge_labels(work.batch))
    columns = method.points(work)
    if method.is_standardised:
        knots = None
        centres, scales = means_and_deviations(columns)
        if method.is_ranked:
            knots = fitted_knots(columns, centres, scales)
            centres, scales = means_and_deviations(knots.replace(columns))
        return Block(name, weight, centres, scales, work.known_labels, knots)
    extent = float(columns.max() - columns.min())
    n_columns = columns.shape[1]
    return Block(name, weight, np.zeros(n_columns), np.full(n_columns, extent or 1.0))


def means_and_deviations(columns: Floats) -> tuple[Floats, Floats]:
    """Return the mean and the standard deviation of each column; 1 if it is constant.

    Columns are divided by their largest size before they are squared: nothing overflows, and
    numbers of any size count. Deviations of the size of rounding errors count as none.
    """
    centres, scales = np.empty(columns.shape[1]), np.ones(columns.shape[1])
    for c in range(columns.shape[1]):
        column = np.ascontiguousarray(columns[:, c])
        size = float(np.abs(column).max())
        if column.min() == column.max():
            centres[c] = column[0]
            continue
        shares = column / size
        mean = shares.mean()
        deviation = float(np.sqrt(np.square(shares - mean).mean()))
        centres[c] = mean * size
        if deviation > 1e-14 and deviation * size > 0:
            scales[c] = deviation * size
    return centres, scales


def composed_points(work: Work, blocks: tuple[Block, ...]) -> Floats:
    """Return the columns of all blocks side by side."""
    points = np.empty((work.batch.n_nodes, sum(block.width for block in blocks)))
    first = 0
    for block in blocks:
        _fill(work, block, points[:, first : first + block.width])
        first += block.width
    return points


def _fill(work: Work, block: Block, out: Floats) -> None:
    if not len(out):
        return
    known = work._replace(known_labels=block.labels, n_columns=block.width)
    columns = NODE_EMBEDDINGS[block.name].points(known)
    if columns.shape[1] != block.width:
        first, n_graphs = work.first_index, len(work.batch)
        graphs = (
            f"graph {first} has"
            if n_graphs == 1
            else f"graphs {first} to {first + n_graphs - 1} have"
        )
        what = "attributes" if block.name in OF_ATTRIBUTES else block.name
        raise ValueError(
            f"{graphs} {columns.shape[1]} columns of {what}, expected {block.width} as in fit"
        )
    if not NODE_EMBEDDINGS[block.name].is_standardised:
        np.multiply(columns, block.weight / block.scales, out=out)
        return
    if block.knots is not None:
        columns = block.knots.replace(columns)
    # Numbers far outside the training range may overflow: they are limited below.
    with np.errstate(over="ignore"):
        np.subtract(columns, block.centres, out=out)
        out /= block.scales
        np.clip(out, -_LARGEST, _LARGEST, out=out)
        out *= block.weight
    np.clip(out, -_LARGEST, _LARGEST, out=out)
