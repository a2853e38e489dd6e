"""Indexes of graphs in one file: plain arrays that are mapped into memory, no pickle.

The file is an ``.npz`` file of uncompressed, aligned members: the arrays of the embedding's model
under names that begin with ``model_``, the embedded nodes of the graphs, their distances to the
pivots, and vectors where these are searched. Loading checks the checksums of all members.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover import __version__
from graphmover._utils.files import replacing
from graphmover._utils.segments import offsets_from_counts
from graphmover.graphs.columns import id_array, joined_ids
from graphmover.io.model_file import (
    INDEX,
    FittedModel,
    arrays_to_save,
    opened_file,
    read_model,
    read_parameters,
)
from graphmover.io.stored_arrays import PrefixedArrays, StoredArrays, write_aligned
from graphmover.nodes.embeddings import NodeEmbeddings
from graphmover.nodes.masses import integer_masses

#: Version of the file layout; raised by a change that older code cannot read.
INDEX_FORMAT = 1

_MODEL = "model_"
_MAX_VERSION = 100
_MEMBERS = {
    INDEX,
    "version",
    "parameters",
    "points",
    "masses",
    "offsets",
    "labels",
    "pivots",
    "ids",
    "vectors",
    "recall",
}

Floats = NDArray[np.float64]


class StoredIndex(NamedTuple):
    """The state of a fitted `NearestGraphs`."""

    parameters: dict[str, Any]
    model: FittedModel
    nodes: NodeEmbeddings
    pivots: Floats  # (graphs, pivots) distances to the first random graphs of the model
    ids: NDArray[Any] | None
    vectors: Floats | None = None  # (graphs, features) of a search by vectors alone
    recall: float | None = None  # and its recall


def write_index(path: str | os.PathLike[str], index: StoredIndex) -> None:
    """Write an index atomically."""
    write_joined_index(path, index, [index])


def write_joined_index(
    path: str | os.PathLike[str], index: StoredIndex, parts: Sequence[StoredIndex]
) -> None:
    """Write an index of the graphs of several, which may be mapped files, atomically.

    The model and the parameters are those of ``index``.
    """
    nodes = [part.nodes for part in parts]
    ids = joined_ids([part.ids for part in parts], [len(some) for some in nodes])
    arrays: dict[str, NDArray[Any] | list[NDArray[Any]]] = {
        INDEX: np.array(INDEX_FORMAT),
        "version": np.array(__version__),
        "parameters": np.array(json.dumps(index.parameters)),
        "points": [some.points for some in nodes],
        "masses": [some.masses for some in nodes],
        "offsets": offsets_from_counts(np.concatenate([some.node_counts for some in nodes])),
        "pivots": [part.pivots for part in parts],
    }
    if index.model.random_graphs.labels is not None:
        arrays["labels"] = [some.labels for some in nodes if some.labels is not None]
    if index.vectors is not None:
        arrays["vectors"] = [part.vectors for part in parts if part.vectors is not None]
        arrays["recall"] = np.array(index.recall)
    if ids is not None:
        arrays["ids"] = np.frombuffer(json.dumps(ids.tolist()).encode(), np.uint8)
    model = arrays_to_save(index.model)
    arrays |= {_MODEL + name: array for name, array in model.items()}
    with replacing(path) as file:
        write_aligned(file, arrays)


@contextmanager
def opened_index(path: str | os.PathLike[str]) -> Iterator[StoredIndex]:
    """Map an index into memory; errors raised in the block mean a damaged file."""
    file = os.fspath(path)
    with opened_file(path, "an index of graphs") as stream:
        try:
            arrays = StoredArrays(stream, mapped=True)
            if INDEX not in arrays.names and "gamma" in arrays.names:
                raise ValueError("it is a model without graphs")
            found = int(arrays.array(INDEX, "iu", 0))
            version = arrays.text("version", _MAX_VERSION)
        except Exception as error:  # zip, NumPy and decoding errors: all mean the same here
            raise ValueError(
                f"{file} is not an index of graphs, or it is damaged ({str(error)[:500]}): "
                f"expected a file that NearestGraphs.save or `graphmover index` wrote"
            ) from error
        if found != INDEX_FORMAT:
            raise ValueError(
                f"{file} has index format {found} (graphmover {version}), but graphmover "
                f"{__version__} reads format {INDEX_FORMAT}: use that version, or index the graphs "
                f"again"
            )
        try:
            with arrays:
                index = _read(arrays)
            yield index
        except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
            raise ValueError(
                f"{file} is a damaged index: {str(error)[:500]}. Index the graphs again"
            ) from error


def index_fingerprint(path: str | os.PathLike[str]) -> str:
    """Return a hash that two index files share only if they hold the same arrays."""
    content = hashlib.blake2b(digest_size=16)
    with opened_file(path, "an index of graphs") as stream, zipfile.ZipFile(stream) as archive:
        for member in archive.infolist():
            content.update(f"{member.filename} {member.file_size} {member.CRC} ".encode())
    return content.hexdigest()


def _read(arrays: StoredArrays) -> StoredIndex:
    unknown = {name for name in arrays.names if not name.startswith(_MODEL)} - _MEMBERS
    if unknown:
        raise ValueError(f"{min(unknown)[:100]!r} is not part of an index")
    model = read_model(PrefixedArrays(arrays, _MODEL))
    nodes = _read_nodes(arrays, model.random_graphs)
    pivots = _plain(arrays.array("pivots", "f", 2), np.float64)
    n_pivots = pivots.shape[1]
    if len(pivots) != len(nodes) or not 1 <= n_pivots <= len(model.random_graphs):
        raise ValueError(f"pivots has the shape {pivots.shape} for {len(nodes)} graphs")
    if (np.isfinite(pivots) != (nodes.node_counts > 0)[:, np.newaxis]).any() or (pivots < 0).any():
        raise ValueError("a distance to a pivot is negative, not a number, or infinite")
    ids = _read_ids(arrays, len(nodes)) if "ids" in arrays.names else None
    vectors = recall = None
    if "vectors" in arrays.names:
        vectors = _plain(arrays.array("vectors", "f", 2), np.float64)
        recall = float(arrays.array("recall", "f", 0))
        if vectors.shape != (len(nodes), len(model.random_graphs)):
            raise ValueError(f"vectors has the shape {vectors.shape} for {len(nodes)} graphs")
        if not np.isfinite(vectors).all() or not 0 <= recall <= 1:
            raise ValueError("a vector or the recall is not a number in its range")
    return StoredIndex(read_parameters(arrays), model, nodes, pivots, ids, vectors, recall)


def _read_nodes(arrays: StoredArrays, random_graphs: NodeEmbeddings) -> NodeEmbeddings:
    """Return the nodes as views of the file, checked as the constructor would check copies."""
    points = _plain(arrays.array("points", "f", 2), np.float64)
    offsets = _plain(arrays.array("offsets", "i", 1), np.int64)
    masses = _plain(arrays.array("masses", "i", 1), np.int64)
    labels = None
    if random_graphs.labels is not None:
        labels = _plain(arrays.array("labels", "i", random_graphs.labels.ndim), np.int64)
        if labels.shape[1:] != random_graphs.labels.shape[1:] or len(labels) != len(points):
            raise ValueError(f"labels has the shape {labels.shape}")
    if points.shape[1] != random_graphs.n_dimensions:
        raise ValueError(
            f"points have {points.shape[1]} dimensions, expected {random_graphs.n_dimensions}"
        )
    if not len(offsets) or offsets[0] != 0 or offsets[-1] != len(points):
        raise ValueError("offsets do not lead from 0 to the number of points")
    if (offsets[1:] < offsets[:-1]).any():
        raise ValueError("offsets decrease")
    if points.size and not max(abs(points.min()), abs(points.max())) <= 1e150:
        raise ValueError("a point is not finite or too large")
    if (integer_masses(masses, offsets) != masses).any():
        raise ValueError("masses add up to too much")
    return NodeEmbeddings._trusted(points, masses, offsets, labels)


def _plain(array: NDArray[Any], dtype: type) -> NDArray[Any]:
    if array.dtype != dtype or not array.flags.c_contiguous:
        raise ValueError(f"an array has the type {array.dtype}, expected {np.dtype(dtype)}")
    return array


def _read_ids(arrays: StoredArrays, n_graphs: int) -> NDArray[Any]:
    values = json.loads(bytes(arrays.array("ids", "u", 1)))
    if not isinstance(values, list) or len(values) != n_graphs:
        raise ValueError(f"ids are not a list of {n_graphs}")
    return id_array(values, n_graphs)
