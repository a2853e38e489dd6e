"""Fitted models as ``.npz`` files: plain arrays, no pickle."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover import __version__
from graphmover._utils.files import replacing
from graphmover.io.stored_arrays import PrefixedArrays, StoredArrays
from graphmover.nodes.attributes_as_labels import ReadAsLabels
from graphmover.nodes.blocks import Block, is_composed
from graphmover.nodes.embeddings import NodeEmbeddings
from graphmover.nodes.normal_scores import Knots
from graphmover.nodes.recipe import NodeRecipe
from graphmover.nodes.registry import NODE_EMBEDDINGS, named_blocks, text_of
from graphmover.parameters import require_allowed
from graphmover.random_graphs import RandomGraphs

if TYPE_CHECKING:
    from graphmover.nodes.registry import NodeEmbedding

#: Version of the file layout; raised by a change that older code cannot read.
MODEL_FORMAT = 1

#: The member that a file has if it is not a model but an index of graphs (`index_file.py`).
INDEX = "index"

#: Limits on what is read from a file, far above what models hold.
_MAX_NAME = 100
_MAX_BLOCKS = 1_000
_MAX_PARAMETERS = 100_000
_MAX_WL_ITERATIONS = 100_000

#: Parameters that do not affect the vectors.
_WITHOUT_EFFECT = ("n_jobs", "random_state", "verbose")

#: Parameters that have no effect in `fit`, either.
_NEVER_MATTER = ("n_jobs", "verbose")


class FittedModel(NamedTuple):
    """The state of a fitted `RandomGraphEmbedding`."""

    parameters: dict[str, Any]
    gamma: float
    recipe: NodeRecipe
    random_graphs: NodeEmbeddings


class FittedView(NamedTuple):
    """One of several embeddings; without a model it is the sizes of graphs."""

    name: str
    weight: float
    model: FittedModel | None


class FittedViews(NamedTuple):
    """The state of a fitted `GraphVectorizer`."""

    parameters: dict[str, Any]
    views: list[FittedView]
    centres: NDArray[np.float64]  # of all columns
    scales: NDArray[np.float64]


def require_model_name(path: str | os.PathLike[str]) -> None:
    """Raise ValueError unless a file name ends in ``.npz``."""
    if not os.fspath(path).endswith(".npz"):
        raise ValueError(
            f"cannot save a model as {os.fspath(path)}: expected a name that ends in .npz"
        )


def write_model(path: str | os.PathLike[str], model: FittedModel | FittedViews) -> None:
    """Write a model atomically.

    Parameters other than numbers, strings and booleans, such as a generator, are saved as None.
    """
    require_model_name(path)
    with replacing(path) as file:
        write_model_to(file, model)


def write_model_to(file: IO[bytes], model: FittedModel | FittedViews) -> None:
    """Write a model to an open file."""
    np.savez(file, **arrays_to_save(model))  # type: ignore[arg-type]


def arrays_to_save(model: FittedModel | FittedViews) -> dict[str, NDArray[Any]]:
    """Return the arrays of a model, by name."""
    for one in [model] if isinstance(model, FittedModel) else _models_of(model):
        if callable(one.recipe.node_embedding) or callable(one.parameters["node_embedding"]):
            raise ValueError(
                "a model whose node_embedding is a callable cannot be saved: pickle it, or use one "
                f"of {', '.join(NODE_EMBEDDINGS)}"
            )
        _check_fitted_values(one)
    return _all_arrays_of(model, _saved_parameters)


def read_model(arrays: StoredArrays | PrefixedArrays) -> FittedModel:
    """Read the model of a `RandomGraphEmbedding`, and check it."""
    model = _read_model(arrays)
    _check_fitted_values(model)
    return model


def fingerprint(model: FittedModel | FittedViews) -> str:
    """Return a hash that two models share only if they compute the same vectors bit for bit."""
    content = hashlib.blake2b(digest_size=16)
    for name, array in sorted(_all_arrays_of(model, _parameters_with_effect).items()):
        if name.endswith(_SOURCES):
            continue
        content.update(f"{name} {array.dtype} {array.shape} ".encode() + array.tobytes())
    return content.hexdigest()


def model_differences(
    before: FittedModel | FittedViews, now: FittedModel | FittedViews
) -> list[str]:
    """Say in a few words each why two models compute other vectors; nothing if they do not.

    ``before`` has been read from a file.
    """
    if fingerprint(before) == fingerprint(now):
        return []
    if type(before) is not type(now):
        kinds = {FittedModel: "RandomGraphEmbedding", FittedViews: "GraphVectorizer"}
        return [f"the model is a {kinds[type(now)]}, it was a {kinds[type(before)]}"]
    saved = json.loads(_saved_parameters(now.parameters))
    found = [
        f"the model has {name}={saved[name]!r}, it was {name}={before.parameters[name]!r}"
        for name in saved
        if name in before.parameters
        and name not in _NEVER_MATTER
        and saved[name] != before.parameters[name]
    ]
    return found or [
        "the model is a different one with the same parameters, fitted to other graphs or with "
        "other random graphs"
    ]


def _models_of(model: FittedViews) -> list[FittedModel]:
    return [view.model for view in model.views if view.model is not None]


def _saved_parameters(parameters: dict[str, Any]) -> str:
    return json.dumps({name: _plain(value) for name, value in _with_text(parameters).items()})


def _parameters_with_effect(parameters: dict[str, Any]) -> str:
    kept = {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in _with_text(parameters).items()
        if name not in _WITHOUT_EFFECT
    }
    return json.dumps(kept, default=str)


def _with_text(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return parameters in which a node embedding of several blocks is text, as it is loaded."""
    blocks = parameters.get("node_embedding")
    return parameters | (
        {"node_embedding": text_of(blocks)} if isinstance(blocks, list | tuple) else {}
    )


@contextmanager
def opened_model(
    path: str | os.PathLike[str],
    wanted: type[FittedModel] | type[FittedViews] | None = None,
    content: IO[bytes] | None = None,
) -> Iterator[FittedModel | FittedViews]:
    """Read a model, perhaps of one kind; errors raised in the block mean a damaged file.

    ``content`` is the open file, if the path is not one of this machine.
    """
    file = os.fspath(path)
    with opened_file(path) if content is None else content as stream:
        try:
            arrays = StoredArrays(stream)
            is_index = INDEX in arrays.names
            found = MODEL_FORMAT if is_index else int(arrays.array("format", "iu", 0))
            version = arrays.text("version", _MAX_NAME)
        except Exception as error:  # zip, NumPy and decoding errors: all mean the same here
            raise ValueError(
                f"{file} is not a graphmover model, or it is damaged ({str(error)[:500]}): "
                f"expected a file that save wrote"
            ) from error
        if found != MODEL_FORMAT:
            raise ValueError(
                f"{file} has model format {found} (graphmover {version}), but graphmover "
                f"{__version__} reads format {MODEL_FORMAT}: use that version, or fit and save the "
                f"model again"
            )
        if is_index:
            raise ValueError(f"{file} is an index of graphs: load it with NearestGraphs.load")
        has_views = "views" in arrays.names
        if wanted is not None and has_views != (wanted is FittedViews):
            kind = "GraphVectorizer" if has_views else "RandomGraphEmbedding"
            raise ValueError(f"{file} is a model of {kind}: load it with {kind}.load")
        try:
            with arrays:
                model = _read_views(arrays) if has_views else _read_model(arrays)
            for one in [model] if isinstance(model, FittedModel) else _models_of(model):
                _check_fitted_values(one)
            yield model
        except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
            raise ValueError(
                f"{file} is a damaged graphmover model: {str(error)[:500]}. Fit and save the model "
                f"again"
            ) from error


def opened_file(path: str | os.PathLike[str], what: str = "a graphmover model") -> IO[bytes]:
    """Open a file that must be there and be a regular one."""
    if not os.path.exists(path):
        raise FileNotFoundError(f"there is no file {os.fspath(path)}")
    if not os.path.isfile(path):
        raise ValueError(f"{os.fspath(path)} is not {what}: it is not a regular file")
    return open(path, "rb")


def _read_views(arrays: StoredArrays) -> FittedViews:
    text = arrays.text("views", _MAX_PARAMETERS)
    try:
        named = [
            (str(name), float(weight), bool(sizes)) for name, weight, sizes in json.loads(text)
        ]
    except (ValueError, TypeError, RecursionError, OverflowError) as error:
        raise ValueError(
            f"views cannot be read as a list of names, weights and kinds: {error}"
        ) from error
    views = []
    known = {"format", "version", "parameters", "views", "centres", "scales"}
    for number, (name, weight, is_size) in enumerate(named):
        if is_size:
            views.append(FittedView(name, weight, None))
            continue
        prefix = _prefix(number)
        members = {member for member in arrays.names if member.startswith(prefix)}
        known |= members
        views.append(FittedView(name, weight, _read_model(PrefixedArrays(arrays, prefix))))
    unknown = set(arrays.names) - known
    if unknown:
        raise ValueError(f"{min(unknown)[:100]!r} is not part of a model")
    centres, scales = arrays.array("centres", "f", 1), arrays.array("scales", "f", 1)
    if len(centres) != len(scales) or not np.isfinite(np.stack([centres, scales])).all():
        raise ValueError("centres and scales are not finite numbers, one of each per column")
    if (scales <= 0).any():
        raise ValueError("a scale is not positive")
    return FittedViews(read_parameters(arrays), views, centres.copy(), scales.copy())


def _prefix(number: int) -> str:
    """Return how the names of the arrays of a view begin."""
    return f"view_{number}_"


def _read_model(arrays: StoredArrays | PrefixedArrays) -> FittedModel:
    unknown = set(arrays.names) - set(_MEMBERS)
    if unknown:
        raise ValueError(f"{min(unknown)[:100]!r} is not part of a model")
    wl_depths = arrays.text("wl_depths", _MAX_NAME) if "wl_depths" in arrays.names else "last"
    columns = 2 if wl_depths == "all" else 1
    labels = arrays.array("labels", "i", columns) if "labels" in arrays.names else None
    random_graphs = _with_sources(
        arrays,
        NodeEmbeddings(
            arrays.array("points", "f", 2),
            arrays.array("masses", "i", 1),
            arrays.array("offsets", "i", 1),
            labels,
        ),
    )
    node_embedding: str | None = arrays.text("node_embedding", _MAX_BLOCKS)
    if node_embedding == str(None):
        node_embedding = None
    has_features = "n_dimensions" in arrays.names
    recipe = NodeRecipe(
        int(arrays.array("n_dimensions", "iu", 0)) if has_features else random_graphs.n_dimensions,
        node_embedding,
        arrays.text("node_mass", _MAX_NAME),
        bool(arrays.array("uses_node_labels", "b", 0)),
        int(arrays.array("wl_iterations", "iu", 0)),
        float(arrays.array("node_scale", "fiu", 0)),
        wl_depths=wl_depths,
        use_edge_labels="uses_edge_labels" in arrays.names
        and bool(arrays.array("uses_edge_labels", "b", 0)),
        label_weight=float(arrays.array("label_weight", "fiu", 0))
        if "label_weight" in arrays.names
        else 1.0,
        smoothing=int(arrays.array("smoothing", "iu", 0)) if has_features else 0,
        blocks=_read_blocks(arrays, node_embedding) if is_composed(node_embedding) else None,
        read=_read_as_labels(arrays),
    )
    gamma = float(arrays.array("gamma", "fiu", 0))
    return FittedModel(read_parameters(arrays), gamma, recipe, random_graphs)


def _read_as_labels(arrays: StoredArrays | PrefixedArrays) -> ReadAsLabels:
    if _READ_AS_LABELS not in arrays.names:
        return ReadAsLabels()
    columns = arrays.array(_READ_AS_LABELS, "i", 1).tolist()
    if len(columns) != len(ReadAsLabels._fields) or min(columns) < 0 or not any(columns):
        raise ValueError(f"{_READ_AS_LABELS} is {columns}, expected numbers of columns")
    return ReadAsLabels(*columns)


def _with_sources(arrays: StoredArrays | PrefixedArrays, nodes: NodeEmbeddings) -> RandomGraphs:
    """Return random graphs with where they came from; older files do not tell."""
    if _SOURCES[0] not in arrays.names:
        return RandomGraphs.of(nodes, None, None)
    graphs, numbers = (arrays.array(name, "i", 1) for name in _SOURCES)
    return RandomGraphs.of(nodes, graphs.astype(np.int64), numbers.astype(np.int64))


def _read_blocks(
    arrays: StoredArrays | PrefixedArrays, node_embedding: str | None
) -> tuple[Block, ...]:
    centres = arrays.array("block_centres", "f", 1)
    scales = arrays.array("block_scales", "f", 1)
    widths = arrays.array("block_widths", "i", 1)
    named = named_blocks(node_embedding)
    if len(widths) != len(named) or len(scales) != len(centres) or (widths < 0).any():
        raise ValueError("the blocks of the node embedding do not fit its name")
    if not (np.isfinite(centres).all() and np.isfinite(scales).all() and (scales > 0).all()):
        raise ValueError("a centre or scale of the node embedding is not a finite number")
    ends = np.cumsum(widths)
    if ends[-1] != len(centres):
        raise ValueError(f"the node embedding has {ends[-1]} columns, {len(centres)} centres")
    blocks = []
    for (name, weight), width, end in zip(named, widths, ends, strict=True):
        columns = slice(end - width, end)
        labels = arrays.array(_LABELS_OF[name], "i", 1) if name in _LABELS_OF else None
        if labels is not None:
            fits = len(labels) <= width if name == "edges" else len(labels) == width
            if not fits or (labels[1:] <= labels[:-1]).any():
                raise ValueError(f"{_LABELS_OF[name]} are not increasing, a column each")
        knots = _read_knots(arrays, width) if NODE_EMBEDDINGS[name].is_ranked else None
        blocks.append(Block(name, weight, centres[columns], scales[columns], labels, knots))
    return tuple(blocks)


def _read_knots(arrays: StoredArrays | PrefixedArrays, width: int) -> Knots:
    knots = Knots(*(arrays.array(name, kind, 1) for name, kind in _KNOTS.items()))
    offsets, values, scores = knots
    ends = np.array([0, len(values)])
    if (
        len(offsets) != width + 1
        or (offsets[1:] < offsets[:-1]).any()
        or (offsets[[0, -1]] != ends).any()
        or len(scores) != len(values)
    ):
        raise ValueError("the ranked attributes do not fit their columns")
    starts = np.isin(np.arange(1, len(values)), offsets)
    for numbers in (values, scores):
        if not np.isfinite(numbers).all() or ((numbers[1:] <= numbers[:-1]) & ~starts).any():
            raise ValueError("values or scores of ranked attributes do not increase")
    return knots


def read_parameters(arrays: StoredArrays | PrefixedArrays) -> dict[str, Any]:
    """Read the parameters of an estimator."""
    try:
        parameters = json.loads(arrays.text("parameters", _MAX_PARAMETERS))
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"parameters cannot be read as JSON: {error}") from error
    if not isinstance(parameters, dict):
        raise ValueError("parameters is not a JSON object")
    for name, value in parameters.items():
        if _plain(value) is None and value is not None:
            raise ValueError(f"the parameter {name} is {value!r}, expected a number or a string")
    return parameters


def _check_fitted_values(model: FittedModel) -> None:
    recipe = model.recipe
    if not (math.isfinite(model.gamma) and model.gamma > 0):
        raise ValueError(f"gamma is {model.gamma}, expected a positive number")
    if not 0 <= recipe.wl_iterations <= _MAX_WL_ITERATIONS:
        raise ValueError(
            f"wl_iterations is {recipe.wl_iterations}, expected 0 to {_MAX_WL_ITERATIONS}"
        )
    require_allowed("node_embedding", recipe.node_embedding)
    require_allowed("node_mass", recipe.node_mass)
    require_allowed("smoothing", recipe.smoothing)
    if recipe.node_embedding is not None:
        require_allowed("n_dimensions", recipe.n_dimensions)
    if recipe.blocks is not None and recipe.n_columns != model.random_graphs.n_dimensions:
        raise ValueError(
            f"the random graphs have {model.random_graphs.n_dimensions} coordinates, but the node "
            f"embedding has {recipe.n_columns}"
        )
    if not (math.isfinite(recipe.scale) and recipe.scale > 0):
        raise ValueError(f"node_scale is {recipe.scale}, expected a positive number")
    if model.random_graphs.has_labels != (recipe.use_node_labels or recipe.wl_iterations > 0):
        raise ValueError(
            "the random graphs have labels although the model uses none, or the reverse"
        )
    _check_labels(model)
    if not len(model.random_graphs) or (model.random_graphs.node_counts == 0).any():
        raise ValueError("a random graph has no nodes")
    _check_sources(model.random_graphs)


def _check_sources(drawn: NodeEmbeddings) -> None:
    if not isinstance(drawn, RandomGraphs) or drawn.source_graphs is None:
        return
    graphs, nodes = drawn.source_graphs, drawn.source_nodes
    if nodes is None or (len(graphs), len(nodes)) != (len(drawn), len(drawn.points)):
        raise ValueError(f"{_SOURCES[0]} and {_SOURCES[1]} do not fit the random graphs")
    if min(graphs.min(initial=0), nodes.min(initial=0)) < 0:
        raise ValueError(f"a number in {_SOURCES[0]} or {_SOURCES[1]} is negative")


def _check_labels(model: FittedModel) -> None:
    recipe, graphs = model.recipe, model.random_graphs
    require_allowed("wl_depths", recipe.wl_depths)
    require_allowed("label_weight", recipe.label_weight)
    wanted = (recipe.wl_iterations + 1,) if recipe.wl_depths == "all" else ()
    if graphs.labels is not None and graphs.labels.shape[1:] != wanted:
        raise ValueError(f"labels has the shape {graphs.labels.shape}, expected (nodes, *{wanted})")
    if (recipe.node_embedding is None) != (graphs.n_dimensions == 0):
        raise ValueError(
            f"the random graphs have {graphs.n_dimensions} coordinates, but node_embedding is "
            f"{recipe.node_embedding}"
        )


#: Names of the arrays.
_MEMBERS = (
    *("format", "version", "parameters", "gamma", "uses_node_labels", "wl_iterations"),
    *("node_embedding", "node_mass", "node_scale", "points", "masses", "offsets", "labels"),
    *("wl_depths", "uses_edge_labels", "label_weight"),  # if they are not "last", False and 1
    *("n_dimensions", "smoothing"),  # if points are smoothed or composed of blocks
    *("block_centres", "block_scales", "block_widths", "block_labels"),  # if composed
    "block_edge_labels",
    "label_columns",  # if attributes are read as labels
    *("knot_offsets", "knot_values", "knot_scores"),  # if attributes are ranked
    *("source_graphs", "source_nodes"),  # if random graphs were drawn from training graphs
)

#: The arrays that tell where random graphs came from. No vector depends on them.
_SOURCES = ("source_graphs", "source_nodes")

#: How many attributes of nodes, and of edges, are read as labels.
_READ_AS_LABELS = "label_columns"

#: The arrays of ranked attributes, and what kind of numbers they hold.
_KNOTS = {"knot_offsets": "i", "knot_values": "f", "knot_scores": "f"}

#: Where the known labels of a block are.
_LABELS_OF = {"labels": "block_labels", "edges": "block_edge_labels"}


def _all_arrays_of(
    model: FittedModel | FittedViews, text_of_parameters: Callable[[dict[str, Any]], str]
) -> dict[str, NDArray[Any]]:
    if isinstance(model, FittedModel):
        return _arrays_of(model, text_of_parameters(model.parameters))
    views = [(view.name, view.weight, view.model is None) for view in model.views]
    arrays: dict[str, NDArray[Any]] = {
        "format": np.array(MODEL_FORMAT),
        "version": np.array(__version__),
        "parameters": np.array(text_of_parameters(model.parameters)),
        "views": np.array(json.dumps(views)),
        "centres": model.centres,
        "scales": model.scales,
    }
    for number, view in enumerate(model.views):
        if view.model is not None:
            own = _arrays_of(view.model, text_of_parameters(view.model.parameters))
            del own["format"], own["version"]  # the file has them once
            arrays |= {_prefix(number) + name: array for name, array in own.items()}
    return arrays


def _arrays_of(model: FittedModel, parameters: str) -> dict[str, NDArray[Any]]:
    graphs, recipe = model.random_graphs, model.recipe
    arrays: dict[str, NDArray[Any]] = {
        "format": np.array(MODEL_FORMAT),
        "version": np.array(__version__),
        "parameters": np.array(parameters),
        "gamma": np.array(model.gamma),
        "uses_node_labels": np.array(recipe.use_node_labels),
        "wl_iterations": np.array(recipe.wl_iterations),
        "node_embedding": np.array(_text(recipe.node_embedding)),
        "node_mass": np.array(recipe.node_mass),
        "node_scale": np.array(recipe.scale),
        "points": graphs.points,
        "masses": graphs.masses,
        "offsets": graphs.offsets,
    }
    if graphs.labels is not None:
        arrays["labels"] = graphs.labels
    if isinstance(graphs, RandomGraphs) and graphs.source_graphs is not None:
        assert graphs.source_nodes is not None
        arrays |= dict(zip(_SOURCES, (graphs.source_graphs, graphs.source_nodes), strict=True))
    if recipe.wl_depths != "last":
        arrays["wl_depths"] = np.array(recipe.wl_depths)
    if recipe.label_weight != 1:
        arrays["label_weight"] = np.array(recipe.label_weight)
    if any(recipe.read):
        arrays[_READ_AS_LABELS] = np.array(recipe.read)
    if recipe.use_edge_labels:
        arrays["uses_edge_labels"] = np.array(True)
    if recipe.smoothing or recipe.blocks is not None:
        arrays["n_dimensions"] = np.array(recipe.n_dimensions)
        arrays["smoothing"] = np.array(recipe.smoothing)
    if recipe.blocks is not None:
        arrays["block_centres"] = np.concatenate([block.centres for block in recipe.blocks])
        arrays["block_scales"] = np.concatenate([block.scales for block in recipe.blocks])
        arrays["block_widths"] = np.array([block.width for block in recipe.blocks])
        for block in recipe.blocks:
            if block.labels is not None:
                arrays[_LABELS_OF[block.name]] = block.labels
            if block.knots is not None:
                arrays |= dict(zip(_KNOTS, block.knots, strict=True))
    return arrays


def _text(node_embedding: NodeEmbedding) -> str:
    if node_embedding is None or callable(node_embedding):
        return str(node_embedding)
    return text_of(node_embedding)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, bool | int | float | str) else None
