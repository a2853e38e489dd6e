"""What can be evaluated: the paper's methods by name, and baselines that see no structure."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphmover._utils.checks import require_whole
from graphmover.embedding import RandomGraphEmbedding
from graphmover.evaluation.columns import Point

#: Methods that are no embedding.
MAJORITY, BAG_OF_NODES = "majority class", "bag of nodes"
BASELINES = (MAJORITY, BAG_OF_NODES)

#: gamma is relative to 1 / (median training distance): as many values as in the paper.
GAMMAS = (0.1, 0.3, 1.0, 3.0, 10.0)

#: The paper's grid; its d is one of these on each data set.
PAPER_GRID: Mapping[str, Sequence[Any]] = MappingProxyType(
    {"max_random_nodes": range(3, 31, 3), "n_dimensions": (4, 6, 8), "gamma": GAMMAS}
)
WL_ITERATIONS = (1, 2, 3, 4)


@dataclass(frozen=True)
class Method:
    """An embedding and the values among which cross-validation chooses.

    Parameters
    ----------
    name : str
        What the results call it.
    embedding : RandomGraphEmbedding
        Its parameters hold where the grid has no others, but for ``n_components``,
        ``random_state``, ``n_jobs`` and ``device``, which are `evaluate`'s. It is not fitted.
    grid : mapping
        Values of ``max_random_nodes``, ``n_dimensions``, ``wl_iterations`` and ``gamma``. Where
        the embedding's gamma is "scale", those of the grid are multiples of
        1 / (median training distance); otherwise they are gamma itself.
    stack_depths : bool
        Weisfeiler-Lehman labels of all depths from 0 to ``wl_iterations``, a block of features
        each, rather than those of the last depth alone.

    Examples
    --------
    >>> import graphmover as gm
    >>> from graphmover.evaluation import Method
    >>> Method("mine", gm.RandomGraphEmbedding(), {"n_dimensions": [4, 6], "gamma": [0.3, 1, 3]})
    Method('mine', 6 settings)
    """

    name: str
    embedding: RandomGraphEmbedding
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    stack_depths: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not isinstance(self.embedding, RandomGraphEmbedding):
            raise TypeError(
                f"expected Method(name, estimator), got {self.name!r} and {self.embedding!r}"
            )
        if not isinstance(self.grid, Mapping):
            raise TypeError(
                f"the grid of {self.name!r} is {self.grid!r}, expected a mapping from parameters "
                f'to lists of values, such as {{"gamma": [0.3, 1, 3]}}'
            )
        known = ("max_random_nodes", "n_dimensions", "wl_iterations", "gamma")
        for name, values in self.grid.items():
            if name not in known:
                raise ValueError(f"the grid of {self.name!r} has {name!r}, not one of {known}")
            if isinstance(values, str) or not isinstance(values, Collection):
                raise TypeError(
                    f"the grid of {self.name!r} has {name}={values!r}, expected a list of values"
                )
            if not len(values):
                raise ValueError(f"the grid of {self.name!r} has no values of {name!r}")
            if name == "gamma" and "scale" in values:
                raise ValueError(
                    f'the grid of {self.name!r} has gamma "scale", expected numbers: where the '
                    f'embedding has gamma="scale", they are multiples of it'
                )
        for (*_, point), gamma in product(self.blocks(), self.gammas):
            own = self.embedding.get_params(deep=False)
            RandomGraphEmbedding(**{**own, **point._asdict(), "gamma": gamma}).check_parameters()

    @property
    def relative_gamma(self) -> bool:
        """Whether gamma is a multiple of 1 / (median training distance)."""
        return bool(self.embedding.gamma == "scale")

    @property
    def gammas(self) -> list[float]:
        """The values of gamma, relative or not."""
        own = 1.0 if self.relative_gamma else self.embedding.gamma
        return [_plain(gamma) for gamma in self.grid.get("gamma", [own])]

    def blocks(self) -> list[tuple[Point, ...]]:
        """Return all other settings: the features of several points stand side by side."""
        own = self.embedding
        sizes = self.grid.get("max_random_nodes", [own.max_random_nodes])
        dimensions = self.grid.get("n_dimensions", [own.n_dimensions])
        iterations = self.grid.get("wl_iterations", [own.wl_iterations])
        return [
            tuple(
                Point(_plain(size), _plain(d), _plain(h))
                for h in (range(last + 1) if self.stack_depths else [last])
            )
            for size, d, last in product(sizes, dimensions, iterations)
        ]

    def points(self) -> list[Point]:
        """Return all that distances are needed for, each once."""
        return list(dict.fromkeys(point for block in self.blocks() for point in block))

    @property
    def fingerprint(self) -> str:
        """What is equal for two methods only if they are evaluated alike."""
        parameters = self.embedding.get_params(deep=False)
        elsewhere = ("device", "n_components", "n_jobs", "random_state", "verbose")
        for name in (*elsewhere, *Point._fields):  # points are part of the blocks
            del parameters[name]
        if callable(parameters["node_embedding"]):
            parameters["node_embedding"] = _code_of(parameters["node_embedding"])
        content = repr((sorted(parameters.items()), self.blocks(), self.gammas))
        return hashlib.blake2b(content.encode(), digest_size=8).hexdigest()

    def __repr__(self) -> str:
        return f"Method({self.name!r}, {len(self.blocks()) * len(self.gammas)} settings)"


def _plain(value: Any) -> Any:
    """Return NumPy's numbers as Python's: journals and fingerprints are to be the same for both."""
    return value.item() if isinstance(value, np.generic) else value


def _code_of(function: Any) -> tuple[Any, ...]:
    """Return what two functions share if they compute alike, in every process."""
    code = getattr(function, "__code__", None)
    content = (code.co_code, code.co_names, repr(code.co_consts)) if code else ()
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return function.__module__, name, *content


@dataclass(frozen=True)
class EMDKernel:
    """The exact kernel ``-1/2 J D J`` of all earth mover's distances D: indefinite, quadratic.

    Parameters
    ----------
    name : str
    use_node_labels : bool
    n_dimensions : sequence of int
        Among which cross-validation chooses.
    """

    name: str
    use_node_labels: bool = False
    n_dimensions: Sequence[int] = (4, 6, 8)

    #: Among which the SVM's C is chosen: none above 100 ever was.
    range_of_c: ClassVar[Sequence[float]] = tuple(10.0**power for power in range(-3, 4))

    def __post_init__(self) -> None:
        if not isinstance(self.n_dimensions, Collection) or not len(self.n_dimensions):
            raise ValueError(
                f"the n_dimensions of {self.name!r} are {self.n_dimensions!r}, expected a list of "
                f"whole numbers"
            )
        for number in self.n_dimensions:
            require_whole(f"each of the n_dimensions of {self.name!r}", number, least=1)

    @property
    def fingerprint(self) -> str:
        """What is equal for two methods only if they are evaluated alike."""
        return f"{self.use_node_labels} {tuple(self.n_dimensions)}"


class KernelMatrices:
    """Kernel matrices of your own between all graphs, among which cross-validation chooses.

    Parameters
    ----------
    name : str
        What the results call it.
    matrices : mapping
        From what the results are to call each, such as a parameter's value, to a symmetric
        array of shape (n_graphs, n_graphs). It need not be positive semi-definite.

    Examples
    --------
    >>> import numpy as np
    >>> from graphmover.evaluation import KernelMatrices
    >>> KernelMatrices("identity", {1: np.eye(3), 2: 2 * np.eye(3)})
    KernelMatrices('identity', 2 of 3 graphs)
    """

    #: Among which the SVM's C is chosen.
    range_of_c: ClassVar[Sequence[float]] = tuple(10.0**power for power in range(-3, 6))

    def __init__(self, name: str, matrices: Mapping[Any, ArrayLike]) -> None:
        self.name = name
        if not isinstance(matrices, Mapping):
            raise TypeError(
                f"the matrices of {name!r} are a {type(matrices).__name__}, expected a mapping "
                f'from names to matrices, such as {{"mine": K}}'
            )
        self.matrices = {key: _real(key, matrix, name) for key, matrix in matrices.items()}
        if not self.matrices:
            raise ValueError(f"{name!r} has no kernel matrix")
        self.n_graphs = len(next(iter(self.matrices.values())))
        for key, matrix in self.matrices.items():
            if not isinstance(key, str | int | float):
                raise TypeError(
                    f"a kernel matrix of {name!r} is called {key!r}, expected a string or a number"
                )
            if matrix.shape != (self.n_graphs, self.n_graphs):
                raise ValueError(
                    f"kernel matrix {key!r} of {name!r} has the shape {matrix.shape}, expected "
                    f"{(self.n_graphs, self.n_graphs)}"
                )
            if not np.isfinite(matrix).all():
                i, j = np.argwhere(~np.isfinite(matrix))[0]
                raise ValueError(
                    f"kernel matrix {key!r} of {name!r} has {matrix[i, j]} at [{i}, {j}]"
                )
            tolerance = 1e-8 * np.abs(matrix).max(initial=0.0)
            if (np.abs(matrix - matrix.T) > tolerance).any():
                i, j = np.argwhere(np.abs(matrix - matrix.T) > tolerance)[0]
                raise ValueError(
                    f"kernel matrix {key!r} of {name!r} is not symmetric: {matrix[i, j]} at "
                    f"[{i}, {j}], {matrix[j, i]} at [{j}, {i}]"
                )

    @property
    def fingerprint(self) -> str:
        """What is equal for two methods only if they are evaluated alike."""
        digest = hashlib.blake2b(digest_size=8)
        for key, matrix in self.matrices.items():
            digest.update(repr(key).encode())
            digest.update(np.ascontiguousarray(matrix).tobytes())
        return digest.hexdigest()

    def __repr__(self) -> str:
        return f"KernelMatrices({self.name!r}, {len(self.matrices)} of {self.n_graphs} graphs)"


def _real(key: Any, matrix: ArrayLike, name: str) -> NDArray[np.float64]:
    try:
        if not np.iscomplexobj(matrix):
            return np.asarray(matrix, np.float64)
    except (TypeError, ValueError):
        pass  # a sparse matrix, for example
    raise TypeError(
        f"kernel matrix {key!r} of {name!r} is a {type(matrix).__name__}, expected a dense "
        f"array of real numbers"
    )


AnyMethod = str | Method | EMDKernel | KernelMatrices


def paper_methods() -> dict[str, Method | EMDKernel]:
    """Return the paper's methods by name, with the paper's grids.

    Examples
    --------
    >>> from graphmover.evaluation import paper_methods
    >>> list(paper_methods())
    ['RGE(RF)', 'RGE(ASG)', 'RGE(ASG)+labels', 'WL-RGE(ASG)', 'EMD', 'EMD+labels']
    """
    plain = RandomGraphEmbedding(use_node_labels=False)
    labels = RandomGraphEmbedding(use_node_labels=True)
    uniform = RandomGraphEmbedding(sampling="uniform")
    wl_grid = {**PAPER_GRID, "wl_iterations": WL_ITERATIONS}
    methods: list[Method | EMDKernel] = [
        Method("RGE(RF)", uniform, PAPER_GRID),
        Method("RGE(ASG)", plain, PAPER_GRID),
        Method("RGE(ASG)+labels", labels, PAPER_GRID),
        Method("WL-RGE(ASG)", labels, wl_grid, stack_depths=True),
        EMDKernel("EMD"),
        EMDKernel("EMD+labels", use_node_labels=True),
    ]
    return {method.name: method for method in methods}
