"""Random graph embeddings with a hyperparameter grid."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from graphmover._utils.checks import require_integer
from graphmover.embedding import RandomGraphEmbedding
from graphmover.evaluation.candidates import SearchSpace
from graphmover.evaluation.columns import Hyperparameters
from graphmover.evaluation.fingerprints import (
    Verbatim,
    code_of,
    description,
    digest,
    edge_data_digest,
    plain,
)
from graphmover.evaluation.folds import INNER_FOLDS
from graphmover.evaluation.grid_search import FINAL_GRAPHS, GridSearch
from graphmover.evaluation.halving import RUNGS
from graphmover.evaluation.methods.emd_kernel import require_node_labels
from graphmover.evaluation.protocol import FoldsLeft, Problem
from graphmover.evaluation.selection import STRENGTHS
from graphmover.evaluation.svm import SVM_C
from graphmover.graphs.batch import GraphBatch
from graphmover.nodes.attributes_as_labels import ReadAsLabels
from graphmover.nodes.registry import named_blocks, text_of
from graphmover.parameters import multiple_of_scale

#: Parameters of the embedding that always enter the fingerprint.
_FINGERPRINTED = ("gamma", "node_embedding", "node_mass", "sampling", "use_node_labels")

#: Parameters that never do: `evaluate` sets them, or the search space has their values.
_NOT_FINGERPRINTED = (
    *("device", "n_components", "n_jobs", "random_state", "verbose"),
    *Hyperparameters._fields,
)


@dataclass(frozen=True)
class Method:
    """Random graph embeddings, and the hyperparameter grid that cross-validation searches.

    Parameters
    ----------
    name : str
        The method's name in the results.
    embedding : RandomGraphEmbedding
        Parameters that are not in ``grid`` keep their values, except for ``n_components``,
        ``random_state``, ``n_jobs`` and ``device``, which are `evaluate`'s. It is not fitted.
    grid : mapping
        Values of ``max_random_nodes``, ``n_dimensions``, ``wl_iterations`` and ``gamma``. If the
        embedding's gamma is "scale" or a multiple, those of the grid are multiples of
        1 / (median training distance); otherwise they are gamma itself.
    stack_depths : bool
        Use Weisfeiler-Lehman labels of all depths from 0 to ``wl_iterations``, one block of
        features each, rather than those of the last depth alone.
    n_components : int, optional
        A number of random graphs of its own, in place of `evaluate`'s.

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.evaluation import Method
    >>> Method("mine", gm.RandomGraphEmbedding(), {"n_dimensions": [4, 6], "gamma": [0.3, 1, 3]})
    Method('mine', 6 candidates)
    """

    name: str
    embedding: RandomGraphEmbedding
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    stack_depths: bool = False
    n_components: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not isinstance(self.embedding, RandomGraphEmbedding):
            raise TypeError(
                f"expected Method(name, estimator), got {self.name!r} and {self.embedding!r}"
            )
        _require_grid(self.name, self.grid)
        if self.n_components is not None:
            require_integer("n_components", self.n_components, least=1)
        if self.embedding.spread_anchors:
            raise ValueError(
                f"{self.name!r} has spread_anchors=True, but folds share random graphs, which are "
                f"drawn uniformly: evaluate a scikit-learn pipeline that starts with the embedding"
            )
        space = self.search_space
        for (*_, last), gamma in product(space.stacks, space.gammas):
            own = self.embedding.get_params(deep=False)
            RandomGraphEmbedding(**{**own, **last._asdict(), "gamma": gamma}).check_parameters()

    @property
    def search_space(self) -> SearchSpace:
        """All that cross-validation chooses from."""
        own = self.embedding
        sizes = self.grid.get("max_random_nodes", [own.max_random_nodes])
        dimensions = self.grid.get("n_dimensions", [own.n_dimensions])
        iterations = self.grid.get("wl_iterations", [own.wl_iterations])
        stacks = [
            tuple(
                Hyperparameters(plain(size), plain(d), plain(h))
                for h in (range(last + 1) if self.stack_depths else [last])
            )
            for size, d, last in product(sizes, dimensions, iterations)
        ]
        multiple = multiple_of_scale(own.gamma)
        relative = multiple is not None
        gammas = self.grid.get("gamma", [multiple if relative else own.gamma])
        return SearchSpace(stacks, [plain(gamma) for gamma in gammas], relative)

    @property
    def fingerprint(self) -> str:
        """Equal for two methods of one name only if they give the same results."""
        parameters = self.embedding.get_params(deep=False)
        kept = {name: parameters[name] for name in _FINGERPRINTED}
        if callable(kept["node_embedding"]):
            kept["node_embedding"] = code_of(kept["node_embedding"])
        elif kept["node_embedding"] is not None:
            kept["node_embedding"] = text_of(kept["node_embedding"])
        # A parameter that RandomGraphEmbedding has gained since the first checkpoints counts only
        # where it is not the default, so that their fingerprints stay.
        default = RandomGraphEmbedding().get_params(deep=False)
        for name in parameters.keys() - {*_FINGERPRINTED, *_NOT_FINGERPRINTED}:
            if description(parameters[name]) != description(default[name]):
                kept[name] = description(parameters[name])
        space = self.search_space
        # `Hyperparameters` was once called Point: its ``repr`` of then is in the fingerprints.
        stacks = [
            tuple(
                Verbatim(
                    f"Point(max_random_nodes={one.max_random_nodes}, "
                    f"n_dimensions={one.n_dimensions}, wl_iterations={one.wl_iterations})"
                )
                for one in stack
            )
            for stack in space.stacks
        ]
        return digest((sorted(kept.items()), stacks, space.gammas), size=8)

    @property
    def _uses_edge_data(self) -> bool:
        points = self.embedding.node_embedding
        by_edges = points is not None and (
            callable(points) or "edges" in dict(named_blocks(points))
        )
        by_edges |= ReadAsLabels.of_choice(self.embedding.attributes_as_labels).edges != 0
        return by_edges or bool(self.embedding.use_edge_labels)

    def components(self, n_components: Sequence[int]) -> Sequence[int]:
        """Return its own number of random graphs, or those of `evaluate`."""
        return n_components if self.n_components is None else (int(self.n_components),)

    def require_evaluable(self, graphs: GraphBatch) -> None:
        """Raise an error if node labels are needed but missing."""
        read = ReadAsLabels.of_choice(self.embedding.attributes_as_labels)
        wanted = self.embedding.use_node_labels
        if not isinstance(wanted, str) and wanted and not read.nodes:
            require_node_labels(self.name, graphs)

    def checkpoint_keys(self, problem: Problem) -> Sequence[str]:
        """Return a key for each fold."""
        identity = f"{self.name} {self.fingerprint}"
        if self._uses_edge_data and (edges := edge_data_digest(problem.graphs)):
            identity += f" {edges}"
        numbers = list(self.components(problem.n_components))
        tuning = _tuning(problem.selection, regression=problem.regression)
        rule = f"{numbers} {problem.selection} {tuning}"
        return [f"{identity} #{fold.number} {rule}" for fold in problem.folds]

    def score_folds(self, left: FoldsLeft) -> None:
        """Score the folds that are left, and add the rows of each to the checkpoint."""
        numbers = self.components(left.problem.n_components)
        GridSearch(self.embedding, self.search_space, numbers, left).score_folds()

    def __repr__(self) -> str:
        return f"Method({self.name!r}, {self.search_space.n_candidates} candidates)"


def named_after_parameters(
    estimator: RandomGraphEmbedding,
    graphs: GraphBatch,
    grid: Mapping[str, Sequence[Any]] | None = None,
    n_components: int | None = None,
) -> Method:
    """Return a method whose name says what differs from the default, and what it searches.

    ``n_components``: its number of random graphs; by default those of `evaluate`.
    """
    grid = grid or {}

    def shown(parameter: str) -> str:
        values = grid.get(parameter, [getattr(estimator, parameter)])
        return "/".join(map(_name, values))

    kind = {"anchor": "ASG", "uniform": "RF"}.get(estimator.sampling, estimator.sampling)
    labels = estimator.use_node_labels
    if labels == "auto":
        read = ReadAsLabels.of_choice(estimator.attributes_as_labels)
        labels = bool(read.nodes) or graphs.node_labels is not None
    name = f"RGE({kind})"
    if kind == "ASG" and (labels or shown("wl_iterations") != "0"):
        name += "+labels"
        if shown("wl_iterations") != "0":
            name += f" of depth {shown('wl_iterations')}"
    name += f", D_max = {shown('max_random_nodes')}, d = {shown('n_dimensions')}"
    default = RandomGraphEmbedding()
    later = ("smoothing", "wl_depths", "label_weight", "use_edge_labels", "attributes_as_labels")
    for parameter in ("node_embedding", "node_mass", "gamma", *later, "partial"):
        if parameter in grid or getattr(estimator, parameter) != getattr(default, parameter):
            name += f", {parameter} = {shown(parameter)}"
    return Method(name, estimator, grid, n_components=n_components)


def _name(value: Any) -> str:
    return getattr(value, "__name__", type(value).__name__) if callable(value) else str(value)


def _tuning(selection: str, *, regression: bool) -> str:
    """Return a hash of the constants that hyperparameters are chosen by."""
    if selection == "svm":
        return digest((STRENGTHS if regression else SVM_C, INNER_FOLDS), size=4)
    # `Rung` was once called Look: its ``repr`` of then is in the keys.
    rungs = tuple(
        Verbatim(
            f"Look(columns={rung.n_columns}, graphs={rung.n_graphs}, most={rung.n_kept}, "
            f"share={rung.kept_share})"
        )
        for rung in RUNGS
    )
    return digest((rungs, FINAL_GRAPHS, STRENGTHS, SVM_C, INNER_FOLDS), size=4)


def _require_grid(name: str, grid: Any) -> None:
    if not isinstance(grid, Mapping):
        raise TypeError(
            f"the grid of {name!r} is {grid!r}, expected a mapping from parameters to lists of "
            f'values, such as {{"gamma": [0.3, 1, 3]}}'
        )
    known = ("max_random_nodes", "n_dimensions", "wl_iterations", "gamma")
    for parameter, values in grid.items():
        if parameter not in known:
            raise ValueError(
                f"the grid of {name!r} has {parameter!r}, expected one of {', '.join(known)}"
            )
        if isinstance(values, str) or not isinstance(values, Collection):
            raise TypeError(
                f"the grid of {name!r} has {parameter}={values!r}, expected a list of values"
            )
        if not len(values):
            raise ValueError(f"the grid of {name!r} has no values of {parameter!r}")
        if parameter == "gamma" and any(isinstance(value, str) for value in values):
            raise ValueError(
                f"the grid of {name!r} has gamma {values!r}, expected numbers: they are multiples "
                f'of 1 / (median training distance) if the embedding has gamma="scale"'
            )
