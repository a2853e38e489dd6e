"""Short texts that identify methods in checkpoints: the same in every process."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import partial
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from graphmover.embedding import RandomGraphEmbedding
from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.labels import label_codes
from graphmover.parameters import PARAMETERS

#: The parameters that `RandomGraphEmbedding` had when the first checkpoints were written.
FIRST_PARAMETERS = (
    *("n_components", "gamma", "max_random_nodes", "n_dimensions", "node_embedding", "node_mass"),
    *("sampling", "use_node_labels", "wl_iterations", "device", "n_jobs", "random_state"),
    "verbose",
)

#: Parameters of estimators that do not change results, or that `evaluate` sets.
_NOT_FINGERPRINTED = ("n_jobs", "random_state", "verbose")


class Verbatim(str):
    """Text that is its own ``repr``.

    Keys hash the ``repr`` of objects whose classes were once called otherwise: it stands in for
    them, so that finished folds are still found.
    """

    __slots__ = ()
    __repr__ = str.__str__


def digest(content: object, size: int) -> str:
    """Return a hash of ``repr(content)``, of ``size`` bytes."""
    return hashlib.blake2b(repr(content).encode(), digest_size=size).hexdigest()


def edge_data_digest(graphs: GraphBatch) -> str:
    """Return a hash of the labels and attributes of edges; "" if there are none."""
    if graphs.edge_labels is None and graphs.edge_attributes is None:
        return ""
    content = hashlib.blake2b(digest_size=8)
    labels = None if graphs.edge_labels is None else label_codes(graphs.edge_labels)
    for values in (labels, graphs.edge_attributes):
        content.update(b"" if values is None else values.tobytes())
    return content.hexdigest()


def plain(value: Any) -> Any:
    """Return a NumPy scalar as a Python number: both have the same fingerprint."""
    return value.item() if isinstance(value, np.generic) else value


def code_of(function: Any) -> tuple[Any, ...]:
    """Return a function's name and code: not the functions it calls, nor what it reads."""
    code = getattr(function, "__code__", None)
    content = _content(code) if code else ()
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return function.__module__, name, *content


def _content(code: CodeType) -> tuple[Any, ...]:
    constants = tuple(_constant(constant) for constant in code.co_consts)
    return code.co_code, code.co_names, repr(constants)


def _constant(constant: object) -> object:
    """Return a constant whose ``repr`` has no addresses and no arbitrary order."""
    if isinstance(constant, CodeType):
        return _content(constant)
    return sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant


def description(value: Any) -> object:
    """Return nested tuples that are equal for equal parameters of estimators.

    Estimators are described by their class and parameters, functions by their code, defaults and
    closure, and what is neither by joblib's hash of its pickle.

    Raises
    ------
    TypeError
        If the value cannot be pickled.
    """
    import joblib

    value = plain(value)
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return repr(value)
    if isinstance(value, type):
        return value.__module__, value.__qualname__
    if isinstance(value, tuple | list):
        return type(value).__name__, *map(description, value)
    if isinstance(value, set | frozenset):
        return "set", *sorted(repr(description(item)) for item in value)
    if isinstance(value, Mapping):
        pairs = [(description(key), description(item)) for key, item in value.items()]
        return "mapping", *sorted(pairs, key=repr)
    if isinstance(value, FunctionType):
        return _function(value)
    if isinstance(value, partial):
        return "partial", *map(description, (value.func, value.args, value.keywords))
    if hasattr(value, "get_params"):
        parameters = value.get_params(deep=False)
        kept = {name: parameters[name] for name in parameters if name not in _NOT_FINGERPRINTED}
        if isinstance(value, RandomGraphEmbedding):
            kept = {name: kept[name] for name in kept if not _is_default_of_later(name, kept[name])}
        return description(type(value)), description(kept)
    if all(hasattr(value, name) for name in ("dist", "args", "kwds")):
        # A frozen distribution of SciPy: its pickle holds the state of NumPy's global generator.
        return description((type(value), type(value.dist), value.args, value.kwds))
    try:
        return description(type(value)), str(joblib.hash(value))
    except Exception as error:
        raise TypeError(f"{value!r} cannot be pickled: {error}") from error


def _is_default_of_later(name: str, value: Any) -> bool:
    """Tell whether a parameter came after the first checkpoints and has its default.

    It is then left out, so that their fingerprints stay.
    """
    is_later = name not in FIRST_PARAMETERS
    return is_later and bool(description(value) == description(PARAMETERS[name].default))


def _function(function: FunctionType) -> tuple[object, ...]:
    closure = [cell.cell_contents for cell in function.__closure__ or ()]
    # Of functions in a closure the code alone: one may be the function itself.
    enclosed = [code_of(v) if isinstance(v, FunctionType) else description(v) for v in closure]
    defaults = description((function.__defaults__, function.__kwdefaults__))
    return code_of(function), defaults, enclosed
