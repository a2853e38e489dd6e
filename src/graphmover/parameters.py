"""The parameters of `RandomGraphEmbedding`: one table for checks and for the command line.

Nothing slow is imported here, so that ``graphmover --help`` is quick.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import NamedTuple, Protocol

from graphmover.nodes.registry import NODE_EMBEDDINGS, named_blocks


class Rule(Protocol):
    """What a parameter may be."""

    def accepts(self, value: object) -> bool:
        """Tell whether a value is allowed."""

    def __str__(self) -> str:
        """Say what is expected."""


@dataclass(frozen=True)
class Integer:
    """An integer of at least ``least``, and perhaps of at most ``most``.

    ``none`` is what the command line calls None, where that is allowed too.
    """

    least: int
    most: int | None = None
    none: str | None = None

    def accepts(self, value: object) -> bool:
        """Tell whether a value is allowed."""
        from graphmover._utils.checks import is_integer

        if value is None:
            return self.none is not None
        if not (is_integer(value) and isinstance(value, Integral)):
            return False
        return int(value) >= self.least and (self.most is None or int(value) <= self.most)

    def __str__(self) -> str:
        if self.most is not None:
            return f"an integer from {self.least} to {self.most}"
        return f"an integer of at least {self.least}" + (" or None" if self.none else "")


@dataclass(frozen=True)
class OneOf:
    """One of several names."""

    names: tuple[str, ...]

    def accepts(self, value: object) -> bool:
        """Tell whether a value is allowed."""
        return isinstance(value, str) and value in self.names

    def __str__(self) -> str:
        return f"one of {', '.join(self.names)}"


@dataclass(frozen=True)
class Blocks:
    """One of several names, several of them side by side, a function, or None."""

    names: tuple[str, ...]

    def accepts(self, value: object) -> bool:
        """Tell whether a value is allowed."""
        if value is None or callable(value):
            return True
        try:
            named_blocks(value)
        except ValueError:
            return False
        return True

    def __str__(self) -> str:
        return (
            f"one of {', '.join(self.names)}, a list of these and of pairs (name, weight) with "
            f"positive weights and no name twice, a callable, or None"
        )


class YesNoAuto:
    """True, False, or left to the data."""

    def accepts(self, value: object) -> bool:
        """Tell whether a value is allowed."""
        return _is_bool(value) or (isinstance(value, str) and value == "auto")

    def __str__(self) -> str:
        return 'True, False or "auto"'


class Positive:
    """A positive number."""

    def accepts(self, value: object) -> bool:
        """Tell whether a value is allowed."""
        import math

        try:
            return isinstance(value, Real) and not _is_bool(value) and 0 < float(value) < math.inf
        except OverflowError:
            return False

    def __str__(self) -> str:
        return "a positive number"


class Bandwidth(Positive):
    """A positive number, or left to the data."""

    def accepts(self, value: object) -> bool:
        """Tell whether a value is allowed."""
        if isinstance(value, str):
            return multiple_of_scale(value) is not None
        return super().accepts(value)

    def __str__(self) -> str:
        return 'a positive number, "scale", or a multiple such as "2*scale"'


def multiple_of_scale(gamma: object) -> float | None:
    """Return 1 for "scale", 2 for "2*scale", and None for anything else."""
    if not isinstance(gamma, str):
        return None
    factor, times, scale = gamma.rpartition("*")
    if scale.strip() != "scale":
        return None
    try:
        number = float(factor) if times else 1.0
    except ValueError:
        return None
    return number if Positive().accepts(number) else None


class Threads:
    """None or an integer other than 0, as in scikit-learn."""

    def accepts(self, value: object) -> bool:
        """Tell whether a value is allowed."""
        from graphmover._utils.checks import is_integer

        return value is None or (is_integer(value) and value != 0)

    def __str__(self) -> str:
        return "None or an integer other than 0"


class Flag:
    """True or False."""

    def accepts(self, value: object) -> bool:
        """Tell whether a value is allowed."""
        return _is_bool(value)

    def __str__(self) -> str:
        return "True or False"


class Verbosity(Flag):
    """True or False, or a level as elsewhere in scikit-learn."""

    def accepts(self, value: object) -> bool:
        """Tell whether a value is allowed."""
        return isinstance(value, int) or _is_bool(value)


class Seed:
    """Anything `random_generator` takes; it checks for itself."""

    def accepts(self, value: object) -> bool:
        """Tell whether a value is allowed."""
        return True

    def __str__(self) -> str:
        return "an integer, None, a numpy Generator or a RandomState"


def _is_bool(value: object) -> bool:
    return isinstance(value, bool) or type(value).__name__ in ("bool", "bool_")


#: Whose attributes are read as labels.
ATTRIBUTES_AS_LABELS = ("none", "nodes", "edges", "both")


class Parameter(NamedTuple):
    """One parameter of the estimator."""

    rule: Rule
    default: object
    option: str  # its name on the command line
    help: str
    short: str | None = None  # its one-letter name on the command line
    #: Whether it is a choice of this embedding: given on the command line, it is used in place of
    #: `GraphVectorizer`.
    describes_embedding: bool = True
    #: Whether vectors depend on it; if not, a fitted model may be used with another value.
    affects_vectors: bool = True


#: In the order of the estimator's signature.
PARAMETERS: Mapping[str, Parameter] = {
    "n_components": Parameter(
        Integer(1),
        256,
        "--components",
        "Number of random graphs, R: one per feature. GraphVectorizer has as many in each view.",
        short="-r",
        describes_embedding=False,
    ),
    "gamma": Parameter(
        Bandwidth(),
        "scale",
        "--gamma",
        'Bandwidth: a number, "scale" or, for example, "2*scale".',
    ),
    "max_random_nodes": Parameter(
        Integer(1, none="whole"),
        20,
        "--max-random-nodes",
        'Largest size of a random graph, D_max, or "whole" for whole training graphs.',
    ),
    "n_dimensions": Parameter(
        Integer(1), 4, "--dimensions", "Number of eigenvectors, or of random-walk steps, d."
    ),
    "node_embedding": Parameter(
        Blocks(tuple(NODE_EMBEDDINGS)),
        "laplacian",
        "--node-embedding",
        f"Node embedding method: {', '.join(NODE_EMBEDDINGS)}; several side by side, with "
        f"optional weights, such as attributes,labels:4; or none, to compare labels alone.",
    ),
    "smoothing": Parameter(
        Integer(0, 100),
        0,
        "--smoothing",
        "How many times the point of each node is averaged with those of its neighbours.",
    ),
    "node_mass": Parameter(
        OneOf(("degree", "equal")), "degree", "--node-mass", "Mass of a node in the transport."
    ),
    "sampling": Parameter(
        OneOf(("anchor", "uniform")), "anchor", "--sampling", "How random graphs are drawn."
    ),
    "use_node_labels": Parameter(
        YesNoAuto(), "auto", "--node-labels", "Whether node labels are used."
    ),
    "wl_iterations": Parameter(
        Integer(0, 1000), 0, "--wl-iterations", "Weisfeiler-Lehman iterations."
    ),
    "wl_depths": Parameter(
        OneOf(("last", "all")),
        "last",
        "--wl-depths",
        "Which labels are compared: those after all iterations, or after each of them.",
    ),
    "label_weight": Parameter(
        Positive(),
        1.0,
        "--label-weight",
        "With --wl-depths all: the distance between nodes whose labels differ at all depths.",
    ),
    "use_edge_labels": Parameter(
        YesNoAuto(), False, "--edge-labels", "Whether the iterations use edge labels."
    ),
    "attributes_as_labels": Parameter(
        OneOf(ATTRIBUTES_AS_LABELS),
        "none",
        "--attributes-as-labels",
        "Whose attributes are read as labels: equal vectors become equal labels.",
    ),
    "spread_anchors": Parameter(
        Flag(), False, "--spread-anchors", "Choose whole training graphs that are far apart."
    ),
    "partial": Parameter(
        Flag(), False, "--partial", "Compare counts of nodes, not shares, so that size matters."
    ),
    "device": Parameter(
        OneOf(("auto", "cpu", "cuda")),
        "cpu",
        "--device",
        "Where distances are computed.",
        describes_embedding=False,
    ),
    "n_jobs": Parameter(
        Threads(),
        None,
        "--jobs",
        "Number of threads; -1 uses all cores.",
        short="-j",
        describes_embedding=False,
        affects_vectors=False,
    ),
    "random_state": Parameter(
        Seed(), None, "--seed", "Seed of the random graphs.", describes_embedding=False
    ),
    "verbose": Parameter(
        Verbosity(),
        False,
        "--quiet",
        "No progress bars, no messages.",
        short="-q",
        describes_embedding=False,
        affects_vectors=False,
    ),
}


def require_allowed(name: str, value: object) -> None:
    """Raise an error that names a parameter whose value is not allowed."""
    rule = PARAMETERS[name].rule
    if not rule.accepts(value):
        raise ValueError(f"{name} must be {rule}, got {value!r}")


def check_parameters(parameters: Mapping[str, object]) -> None:
    """Check all parameters of the estimator, each alone and those that depend on another."""
    for name in PARAMETERS:
        require_allowed(name, parameters[name])
    _check_labels_alone(parameters)
    if parameters["use_edge_labels"] not in ("auto", False) and not parameters["wl_iterations"]:
        raise ValueError(
            "use_edge_labels=True needs wl_iterations of at least 1: edge labels enter the "
            "refinement of node labels"
        )
    if parameters["spread_anchors"] and parameters["max_random_nodes"] is not None:
        raise ValueError(
            "spread_anchors=True needs max_random_nodes=None: whole training graphs are chosen"
        )
    if parameters["sampling"] != "uniform":
        return
    if parameters["max_random_nodes"] is None:
        raise ValueError(
            'max_random_nodes=None needs sampling="anchor": uniform random graphs come from no '
            "training graph"
        )
    if parameters["wl_depths"] == "all":
        raise ValueError(
            'wl_depths="all" needs sampling="anchor": uniform random graphs have no labels'
        )
    if parameters["use_node_labels"] not in ("auto", False):
        raise ValueError(
            'use_node_labels=True needs sampling="anchor": uniform random graphs have no labels'
        )
    if parameters["wl_iterations"]:
        raise ValueError(
            f'wl_iterations={parameters["wl_iterations"]} needs sampling="anchor": uniform random '
            f"graphs have no labels"
        )


def _check_labels_alone(parameters: Mapping[str, object]) -> None:
    """Check what depends on whether nodes have coordinates."""
    if parameters["node_embedding"] is not None:
        return
    if parameters["sampling"] == "uniform":
        raise ValueError(
            'node_embedding=None needs sampling="anchor": uniform random graphs are coordinates'
        )
    if not parameters["use_node_labels"] and not parameters["wl_iterations"]:
        raise ValueError(
            "node_embedding=None compares labels alone, but use_node_labels=False and "
            "wl_iterations=0 leave none: change one of them"
        )
