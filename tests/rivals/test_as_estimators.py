"""What scikit-learn and users expect of every rival."""

import pickle
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest
from graph_zoo import path
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import graphmover as gm
from graphmover import rivals
from graphmover.rivals import optional

TRANSFORMERS = {
    "BagOfWLLabels": {},
    "DeepGraphKernel": {"n_components": 4, "epochs": 1},
    "Feather": {"n_points": 3},
    "GrakelKernel": {"name": "WL-ST"},
    "Graph2Vec": {"n_components": 4, "epochs": 1},
    "Graphlets": {},
    "LocalTopologicalProfile": {"n_bins": 4},
    "MorganFingerprint": {"n_bits": 32},
    "NetLSD": {"n_times": 4},
    "NodeAssignment": {"n_dimensions": 2},
    "PyramidMatch": {"levels": 2, "n_dimensions": 2},
    "RandomWalks": {},
    "ShortestPaths": {},
    "TemplateDistances": {"n_templates": 2, "random_state": 0},
    "VertexHistogram": {},
    "WLOptimalAssignment": {},
    "WassersteinWL": {},
}
#: Those that need a library which may be missing.
LIBRARIES = {
    "DeepGraphKernel": "gensim",
    "GrakelKernel": "grakel",
    "Graph2Vec": "gensim",
    "NetLSD": "netlsd",
    "TemplateDistances": "ot",
}
NETWORKS = ["DCNNClassifier", "DGCNNClassifier", "GATClassifier", "GINClassifier", "PSCNClassifier"]


def dense(rows):
    return rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)


@pytest.fixture(scope="module")
def molecules():
    smiles = ["CCO", "CCN", "c1ccccc1", "CC(C)C", "C#N", "CCCC", "OCC=O", "C1CC1"]
    return gm.as_graph_batch(smiles)


def test_every_rival_is_listed():
    assert sorted([*TRANSFORMERS, *NETWORKS, "NeuralClassifier"]) == rivals.__all__ == dir(rivals)
    with pytest.raises(AttributeError, match=r"module 'graphmover.rivals' has no attribute 'X'"):
        _ = rivals.X


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_rows_depend_on_their_graphs_alone(name, molecules):
    if name in LIBRARIES:
        pytest.importorskip(LIBRARIES[name])
    estimator = getattr(rivals, name)(**TRANSFORMERS[name])
    with pytest.raises(NotFittedError):
        estimator.transform(molecules)
    target = np.arange(8) % 2
    fitted = clone(estimator).fit(molecules, target)
    rows = dense(fitted.transform(molecules))
    assert len(rows) == 8
    assert np.isfinite(rows).all()
    assert np.allclose(dense(fitted.transform(molecules[[5, 2]])), rows[[5, 2]])
    assert dense(fitted.transform([])).shape == (0, rows.shape[1])
    assert np.allclose(dense(pickle.loads(pickle.dumps(fitted)).transform(molecules)), rows)
    together = dense(clone(estimator).fit_transform(molecules, target))
    assert np.allclose(together, rows)


#: Those whose rows do not depend on node labels.
BLIND = ["Feather", "LocalTopologicalProfile", "NetLSD", "NodeAssignment"]


@pytest.mark.parametrize("name", sorted(TRANSFORMERS.keys() - {"MorganFingerprint"}))
def test_labels_are_as_in_fit(name):
    """They are ignored if `fit` had none, and needed if it had some."""
    if name in LIBRARIES:
        pytest.importorskip(LIBRARIES[name])
    plain = gm.as_graph_batch([path(3), path(5), path(4)])
    labels = np.arange(plain.n_nodes) % 2
    labelled = gm.GraphBatch(plain.offsets, plain.indptr, plain.indices, node_labels=labels)
    estimator = getattr(rivals, name)(**TRANSFORMERS[name])
    fitted = clone(estimator).fit(plain)
    assert np.allclose(dense(fitted.transform(labelled)), dense(fitted.transform(plain)))
    fitted = clone(estimator).fit(labelled)
    if name in BLIND:
        assert np.allclose(dense(fitted.transform(labelled)), dense(fitted.transform(plain)))
    else:
        with pytest.raises(ValueError, match=r"not all (of these )?graphs have (node labels|them)"):
            fitted.transform(plain)


def test_kernels_are_arrays_whatever_transform_returns():
    graphs = gm.as_graph_batch({"a": path(3), "b": path(4)})
    with config_context(transform_output="pandas"):
        for name in ("BagOfWLLabels", "RandomWalks", "WassersteinWL"):
            kernel = getattr(rivals, name)().kernel(graphs)
            assert type(kernel) is np.ndarray
        if find_spec("gensim"):  # it uses a bag of labels, which is sparse
            assert len(rivals.DeepGraphKernel(2, epochs=1).fit_transform(graphs)) == 2
        frame = rivals.RandomWalks().fit_transform(graphs)
        assert frame.index.tolist() == ["a", "b"]


@pytest.mark.parametrize("name", ["BagOfWLLabels", "Feather"])
def test_in_pipelines_and_searches(name):
    graphs, families = gm.make_graph_families(36, random_state=0, return_X_y=True)
    estimator = getattr(rivals, name)(**TRANSFORMERS[name])
    pipeline = make_pipeline(estimator, SVC())
    search = GridSearchCV(pipeline, {"svc__C": [1, 10]}, cv=2).fit(list(graphs), families)
    assert search.score(graphs, families) > 0.5
    names = pipeline.fit(graphs, families)[0].get_feature_names_out()
    assert len(set(names)) == len(names) == pipeline[0].transform(graphs).shape[1]


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_bad_input_names_the_graph(name):
    if name == "GrakelKernel":
        pytest.importorskip("grakel")
    with pytest.raises(TypeError, match="graph 1"):
        getattr(rivals, name)().fit([path(3), 7])


@pytest.mark.parametrize(
    ("library", "name", "extra"),
    [
        ("grakel", "GrakelKernel", "rivals"),
        ("gensim", "Graph2Vec", "rivals"),
        ("gensim", "DeepGraphKernel", "rivals"),
        ("netlsd", "NetLSD", "rivals"),
        ("ot", "TemplateDistances", "rivals"),
        ("rdkit", "MorganFingerprint", "smiles"),
        ("torch", "GINClassifier", "torch-geometric"),
    ],
)
def test_a_missing_library_comes_with_its_command(library, name, extra, molecules, monkeypatch):
    def find(module):
        if module.partition(".")[0] == library:
            raise ModuleNotFoundError(f"No module named {library!r}")
        return import_module(module)

    monkeypatch.setattr(optional, "import_module", find)
    with pytest.raises(ImportError, match=rf"{library}: pip install \"graphmover\[{extra}\]\""):
        model = getattr(rivals, name)().fit(molecules, np.arange(8) % 2)
        model.transform(molecules)
