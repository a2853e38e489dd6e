"""Fitted models as ``.npz`` files: plain arrays, no pickle."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmover import __version__
from graphmover._utils.files import replacing
from graphmover.nodes.embed import NodeRecipe
from graphmover.nodes.embeddings import NodeEmbeddings
from graphmover.nodes.registry import NODE_EMBEDDINGS
from graphmover.parameters import require_allowed

#: Version of the file layout; raised by a change that older code cannot read.
MODEL_FORMAT = 1

#: Parameters that do not affect the vectors.
_WITHOUT_EFFECT = ("n_jobs", "random_state", "verbose")


class FittedModel(NamedTuple):
    """The state of a fitted estimator."""

    parameters: dict[str, Any]
    gamma: float
    recipe: NodeRecipe
    random_graphs: NodeEmbeddings


def require_model_name(path: str | os.PathLike[str]) -> None:
    """Raise ValueError unless a file name ends in ``.npz``."""
    if not os.fspath(path).endswith(".npz"):
        raise ValueError(
            f"cannot save a model as {os.fspath(path)}: expected a name that ends in .npz"
        )


def write_model(path: str | os.PathLike[str], model: FittedModel) -> None:
    """Write a model atomically.

    Parameters other than numbers, strings and booleans, such as a generator, are saved as None.
    """
    if callable(model.recipe.node_embedding) or callable(model.parameters["node_embedding"]):
        raise ValueError(
            "a model whose node_embedding is a callable cannot be saved: pickle it, or use one "
            f"of {', '.join(NODE_EMBEDDINGS)}"
        )
    require_model_name(path)
    parameters = {name: _plain(value) for name, value in model.parameters.items()}
    with replacing(path) as file:
        np.savez(file, **_arrays_of(model, json.dumps(parameters)))  # type: ignore[arg-type]


def fingerprint(model: FittedModel) -> str:
    """Return a hash that two models share only if they compute the same vectors bit for bit."""
    parameters = {k: v for k, v in model.parameters.items() if k not in _WITHOUT_EFFECT}
    arrays = _arrays_of(model, json.dumps(parameters, default=str))
    content = hashlib.blake2b(digest_size=16)
    for name, array in sorted(arrays.items()):
        content.update(f"{name} {array.dtype} {array.shape} ".encode() + array.tobytes())
    return content.hexdigest()


@contextmanager
def opened_model(path: str | os.PathLike[str]) -> Iterator[FittedModel]:
    """Read a model; errors raised in the block are reported as a damaged file."""
    arrays = _read_arrays(path)
    if arrays["format"].shape or arrays["format"] != MODEL_FORMAT:
        raise ValueError(
            f"{os.fspath(path)} has model format {arrays['format']} (graphmover "
            f"{arrays['version']}), but graphmover {__version__} reads format {MODEL_FORMAT}: "
            f"use that version, or fit and save the model again"
        )
    try:
        random_graphs = NodeEmbeddings(
            arrays["points"], arrays["masses"], arrays["offsets"], arrays.get("labels")
        )
        recipe = NodeRecipe(
            random_graphs.n_dimensions,
            str(arrays["node_embedding"]),
            str(arrays["node_mass"]),
            bool(arrays["uses_node_labels"]),
            int(arrays["wl_iterations"]),
            float(arrays["node_scale"]),
        )
        parameters = json.loads(str(arrays["parameters"]))
        model = FittedModel(parameters, float(arrays["gamma"]), recipe, random_graphs)
        _check_fitted_values(model)
        yield model
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{os.fspath(path)} is a damaged graphmover model: {error}") from error


def _check_fitted_values(model: FittedModel) -> None:
    recipe = model.recipe
    if not (math.isfinite(model.gamma) and model.gamma > 0):
        raise ValueError(f"gamma is {model.gamma}, expected a positive number")
    if recipe.wl_iterations < 0:
        raise ValueError(f"wl_iterations is {recipe.wl_iterations}, expected at least 0")
    require_allowed("node_embedding", recipe.node_embedding)
    require_allowed("node_mass", recipe.node_mass)
    if not (math.isfinite(recipe.scale) and recipe.scale > 0):
        raise ValueError(f"node_scale is {recipe.scale}, expected a positive number")
    if model.random_graphs.has_labels != (recipe.use_node_labels or recipe.wl_iterations > 0):
        raise ValueError(
            "the random graphs have labels although the model uses none, or the reverse"
        )
    if not len(model.random_graphs) or (model.random_graphs.node_counts == 0).any():
        raise ValueError("a random graph has no nodes")


def _arrays_of(model: FittedModel, parameters: str) -> dict[str, NDArray[Any]]:
    graphs, recipe = model.random_graphs, model.recipe
    arrays: dict[str, NDArray[Any]] = {
        "format": np.array(MODEL_FORMAT),
        "version": np.array(__version__),
        "parameters": np.array(parameters),
        "gamma": np.array(model.gamma),
        "uses_node_labels": np.array(recipe.use_node_labels),
        "wl_iterations": np.array(recipe.wl_iterations),
        "node_embedding": np.array(str(recipe.node_embedding)),
        "node_mass": np.array(recipe.node_mass),
        "node_scale": np.array(recipe.scale),
        "points": graphs.points,
        "masses": graphs.masses,
        "offsets": graphs.offsets,
    }
    if graphs.labels is not None:
        arrays["labels"] = graphs.labels
    return arrays


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, bool | int | float | str) else None


def _read_arrays(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    try:
        # Opened here: np.load leaves a file open when it cannot read it.
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        _ = arrays["format"], arrays["version"]
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {os.fspath(path)}") from None
    except Exception as error:  # zip, zlib, NumPy and decoding errors: all mean the same here
        raise ValueError(
            f"{os.fspath(path)} is not a graphmover model, or it is damaged: expected a file that "
            f"save wrote"
        ) from error
    return arrays
