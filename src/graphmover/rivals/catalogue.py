"""Which rivals there are, what they need, and how each is evaluated: one entry each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, Literal

from graphmover.evaluation.methods import as_method
from graphmover.evaluation.methods.emd_kernel import EMDKernel
from graphmover.evaluation.methods.estimator import SklearnEstimator
from graphmover.evaluation.methods.kernel_grid import KernelGrid
from graphmover.evaluation.protocol import EvaluationMethod
from graphmover.graphs.batch import GraphBatch
from graphmover.rivals import assignment, fingerprints, shortest_path, wasserstein_wl
from graphmover.rivals.deep_graph_kernel import DeepGraphKernel
from graphmover.rivals.feather import Feather
from graphmover.rivals.grakel_kernel import GrakelKernel
from graphmover.rivals.graph2vec import Graph2Vec
from graphmover.rivals.graphlets import Graphlets
from graphmover.rivals.heat_trace import NetLSD
from graphmover.rivals.local_profile import LocalTopologicalProfile
from graphmover.rivals.pyramid_match import PyramidMatch
from graphmover.rivals.random_walks import RandomWalks
from graphmover.rivals.templates import TemplateDistances
from graphmover.rivals.weisfeiler_lehman import (
    BagOfWLLabels,
    VertexHistogram,
    WLOptimalAssignment,
)
from graphmover.vectorizer import GraphVectorizer

Carried = Literal["node labels", "node attributes", "SMILES"]

#: What all must beat; of values it is the mean.
_NO_METHOD = "majority class"

#: Weisfeiler-Lehman refinements, as in the paper's WL methods and most others.
_DEPTHS = {"iterations": (0, 1, 2, 3, 4, 5)}
_DIMENSIONS = {"n_dimensions": (4, 6, 8)}
_PYRAMIDS = {"levels": (2, 4, 6), **_DIMENSIONS}
_DECAYS = {"decay": (1e-4, 1e-3, 1e-2)}

#: Of networks, whose widths are their defaults.
_RATES = {"learning_rate": (0.01, 0.001)}


@dataclass(frozen=True)
class Rival:
    """A method, and what must be known about it before it runs.

    Attributes
    ----------
    name : str
        Its name in tables: the paper's, if it is in the paper.
    build : callable
        Returns the estimator with its defaults. Given ``regression=True``, one that predicts
        values, if it predicts by itself.
    kind : {"kernel", "features", "model", "method"}
        A kernel goes into a kernel machine, features into a linear one; a model predicts by
        itself; "method" is a name or object that `evaluate` takes.
    grid : mapping
        What is chosen on inner folds, beside the strength of the machine.
    needs : tuple of str
        What graphs must carry.
    library : tuple of str
        Modules that must be installed.
    cost : {"linear", "quadratic", "training"}
        In the number of graphs, or that of training a network.
    visits_node_pairs : bool
        Whether it looks at all pairs of nodes of a graph.
    """

    name: str
    build: Callable[..., Any]
    kind: Literal["kernel", "features", "model", "method"]
    source: str
    implementation: str = "graphmover"
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    needs: tuple[Carried, ...] = ()
    library: tuple[str, ...] = ()
    cost: Literal["linear", "quadratic", "training"] = "linear"
    normalise: bool = True
    visits_node_pairs: bool = False

    def method(self, graphs: GraphBatch, *, regression: bool = False) -> EvaluationMethod:
        """Return what `evaluate` scores."""
        if self.kind == "method":
            built = "mean value" if regression and self.name == _NO_METHOD else self.build()
            return as_method(built, graphs, regression=regression)
        if self.kind == "kernel":
            return KernelGrid(self.name, self.build(), self.grid, normalise=self.normalise)
        estimator = self.measurable(regression=regression)
        grid = self.grid if self.kind == "features" else None
        return SklearnEstimator(self.name, estimator, regression=regression, grid=grid)

    def measurable(self, *, regression: bool = False) -> Any:
        """Return the estimator whose fit and transform are timed; None if there is none."""
        if self.kind == "method":
            return VertexHistogram() if self.name == "bag of nodes" else None
        return self.build(regression=True) if self.kind == "model" and regression else self.build()

    def misfit(self, graphs: GraphBatch, *, regression: bool = False) -> str | None:
        """Return why the method cannot run on these graphs, or None if it can."""
        for needed in self.needs:
            if not _CARRIED[needed](graphs):
                return f"needs {needed}"
        if regression and self.cost == "training":
            return "predicts classes, not values"
        for module in self.library:
            if find_spec(module) is None:
                return f"needs {module}, which is not installed"
        return None


_CARRIED: dict[str, Callable[[GraphBatch], bool]] = {
    "node labels": lambda graphs: graphs.node_labels is not None,
    "node attributes": lambda graphs: graphs.node_attributes is not None,
    "SMILES": fingerprints.are_molecules,
}


def _with_kernel_machine(features: Any, *, regression: bool) -> Any:
    """Return features, standardised, with an SVM of radial basis functions whose C is chosen."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC, SVR

    machine = SVR() if regression else SVC()
    name = type(machine).__name__.lower()
    grid = {f"{name}__C": [0.1, 1.0, 10.0, 100.0, 1000.0]}
    # The features need no training: they are computed once, before the inner folds.
    head = GridSearchCV(make_pipeline(StandardScaler(), machine), grid, cv=5)
    return make_pipeline(features, head)


def _with_forest(features: Any, *, regression: bool) -> Any:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.pipeline import make_pipeline

    forest = RandomForestRegressor if regression else RandomForestClassifier
    return make_pipeline(features, forest(500))


def _vectorizer(*, regression: bool = False) -> Any:
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline

    head = Ridge() if regression else LogisticRegression(max_iter=1000)
    return make_pipeline(GraphVectorizer(1024), head)


def _network(name: str) -> Callable[..., Any]:
    """Return a function that builds a network whose learning rate is chosen on a holdout."""

    def build() -> Any:
        from sklearn.model_selection import GridSearchCV

        from graphmover import rivals
        from graphmover.rivals.neural.training import Holdout

        network = getattr(rivals, f"{name}Classifier")()
        return GridSearchCV(network, _RATES, cv=Holdout())

    return build


def _grakel(name: str, **parameters: Any) -> Callable[..., Any]:
    return lambda: GrakelKernel(name, **parameters)


#: The method that the others are compared with.
REFERENCE = "GraphVectorizer"

_TORCH = ("torch", "torch_geometric")
_GRAKEL = "GraKeL"
_OURS: list[Rival] = [
    Rival(REFERENCE, _vectorizer, "model", "Wu et al. 2019, and docs/vectorizer.md"),
    Rival(_NO_METHOD, lambda: _NO_METHOD, "method", "no method at all"),
    Rival("bag of nodes", lambda: "bag of nodes", "method", "Sugiyama and Borgwardt 2015"),
    Rival("WL-ST", BagOfWLLabels, "kernel", "Shervashidze et al. 2011", grid=_DEPTHS),
    Rival("WL-OA", WLOptimalAssignment, "kernel", "Kriege et al. 2016", grid=_DEPTHS),
    Rival(
        "V-OA",
        lambda: WLOptimalAssignment(0),
        "kernel",
        "Kriege et al. 2016",
        needs=("node labels",),
    ),
    Rival(
        "SP",
        lambda: shortest_path.ShortestPaths(use_node_labels=False),
        "kernel",
        "Borgwardt and Kriegel 2005",
        visits_node_pairs=True,
    ),
    Rival(
        "SP+labels",
        shortest_path.ShortestPaths,
        "kernel",
        "Borgwardt and Kriegel 2005",
        needs=("node labels",),
        visits_node_pairs=True,
    ),
    Rival(
        "WL-SP",
        shortest_path.ShortestPaths,
        "kernel",
        "Shervashidze et al. 2011",
        grid={"iterations": (1, 2, 3)},
        visits_node_pairs=True,
    ),
    Rival(
        "GL+labels",
        Graphlets,
        "kernel",
        "Shervashidze et al. 2011",
        needs=("node labels",),
    ),
    Rival(
        "PM",
        lambda: PyramidMatch(use_node_labels=False),
        "kernel",
        "Nikolentzos et al. 2017",
        grid=_PYRAMIDS,
    ),
    Rival(
        "PM+labels",
        PyramidMatch,
        "kernel",
        "Nikolentzos et al. 2017",
        grid=_PYRAMIDS,
        needs=("node labels",),
    ),
    Rival(
        "RW",
        lambda: RandomWalks(use_node_labels=False),
        "kernel",
        "Gärtner et al. 2003",
        grid=_DECAYS,
    ),
    Rival(
        "RW+labels",
        RandomWalks,
        "kernel",
        "Gärtner et al. 2003",
        grid=_DECAYS,
        needs=("node labels",),
        cost="quadratic",
    ),
    Rival(
        "LTP",
        lambda regression=False: _with_forest(LocalTopologicalProfile(), regression=regression),
        "model",
        "Adamczyk and Czech 2023",
    ),
    Rival(
        "FEATHER",
        lambda regression=False: _with_kernel_machine(Feather(), regression=regression),
        "model",
        "Rozemberczki and Sarkar 2020",
    ),
    Rival(
        "OA-E(A)",
        assignment.NodeAssignment,
        "kernel",
        "Johansson and Dubhashi 2015",
        grid=_DIMENSIONS,
        cost="quadratic",
    ),
    Rival(
        "OA-E(A)+labels",
        lambda: assignment.NodeAssignment(iterations=0),
        "kernel",
        "Johansson and Dubhashi 2015",
        grid=_DIMENSIONS,
        needs=("node labels",),
        cost="quadratic",
    ),
    Rival(
        "WL-OA-E(A)",
        lambda: assignment.NodeAssignment(6),
        "kernel",
        "Johansson and Dubhashi 2015",
        grid={"iterations": (1, 2, 3)},
        needs=("node labels",),
        cost="quadratic",
    ),
    Rival(
        "WWL",
        lambda: wasserstein_wl.WassersteinWL(use_attributes=False),
        "kernel",
        "Togninalli et al. 2019",
        grid={"iterations": (1, 2, 3, 4, 5), "strength": (0.1, 1.0, 10.0)},
        cost="quadratic",
        normalise=False,
    ),
    Rival(
        "WWL+attributes",
        lambda: wasserstein_wl.WassersteinWL(use_attributes=True),
        "kernel",
        "Togninalli et al. 2019",
        grid={"iterations": (0, 1, 2), "strength": (0.1, 1.0, 10.0)},
        needs=("node attributes",),
        cost="quadratic",
        normalise=False,
    ),
    Rival("EMD", lambda: "EMD", "method", "Nikolentzos et al. 2017", cost="quadratic"),
    Rival(
        "EMD+labels",
        lambda: "EMD+labels",
        "method",
        "Nikolentzos et al. 2017",
        needs=("node labels",),
        cost="quadratic",
    ),
    Rival(
        "EMD, positive part",
        lambda: EMDKernel("EMD, positive part", positive_part=True),
        "method",
        "Nikolentzos et al. 2017; spectrum clip: Wu, Chang and Zhang 2005",
        cost="quadratic",
    ),
]
_OF_LIBRARIES: list[Rival] = [
    Rival(
        "NetLSD",
        lambda regression=False: _with_kernel_machine(NetLSD(), regression=regression),
        "model",
        "Tsitsulin et al. 2018",
        "netlsd",
        library=("netlsd",),
    ),
    Rival(
        "graph2vec",
        Graph2Vec,
        "features",
        "Narayanan et al. 2017",
        "gensim",
        grid={"sample": (0.0, 1e-3)},
        library=("gensim",),
    ),
    Rival(
        "DGK",
        DeepGraphKernel,
        "features",
        "Yanardag and Vishwanathan 2015",
        "gensim",
        library=("gensim",),
    ),
    Rival(
        "ECFP",
        fingerprints.MorganFingerprint,
        "features",
        "Rogers and Hahn 2010",
        "RDKit",
        needs=("SMILES",),
        library=("rdkit",),
    ),
    Rival(
        "TFGW templates",
        TemplateDistances,
        "features",
        "Vincent-Cuaz et al. 2022",
        "POT",
        library=("ot",),
    ),
    Rival(
        "GL",
        _grakel("GL", use_node_labels=False, n_samples=500, graphlet_nodes=5),
        "kernel",
        "Shervashidze et al. 2009",
        _GRAKEL,
        library=("grakel",),
        cost="quadratic",
    ),
    Rival(
        "Lo-theta",
        _grakel("Lo-theta", use_node_labels=False),
        "kernel",
        "Johansson et al. 2014",
        _GRAKEL,
        library=("grakel", "cvxopt"),
        cost="quadratic",
    ),
    *(
        Rival(
            name,
            _network(name),
            "model",
            source,
            "PyTorch",
            grid=_RATES,
            library=_TORCH,
            cost="training",
        )
        for name, source in {
            "DGCNN": "Zhang et al. 2018",
            "PSCN": "Niepert et al. 2016",
            "DCNN": "Atwood and Towsley 2016",
            "GIN": "Xu et al. 2019",
            "GAT": "Brody et al. 2022",
        }.items()
    ),
]

#: All methods by name.
RIVALS: dict[str, Rival] = {rival.name: rival for rival in (*_OURS, *_OF_LIBRARIES)}


def quoted_names() -> str:
    """Return the names of all methods; some have commas."""
    return ", ".join(map(repr, RIVALS))


def known_rivals(names: Iterable[str]) -> list[Rival]:
    """Return the rivals of these names."""
    found = []
    for name in names:
        if name not in RIVALS:
            raise ValueError(f"a method must be one of {quoted_names()}, got {name!r}")
        found.append(RIVALS[name])
    return found
