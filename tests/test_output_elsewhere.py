"""What users set for the output of all transformers changes nothing inside the library."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import graphmover as gm
from graphmover.evaluation import evaluate

pytestmark = pytest.mark.slow


@pytest.fixture(params=["pandas", "polars"])
def output(request):
    pytest.importorskip(request.param)
    with config_context(transform_output=request.param):
        yield request.param


@pytest.fixture(scope="module")
def data():
    return gm.make_graph_families(36, random_state=0)


def test_kernels_are_arrays(output, data):
    embedding = gm.RandomGraphEmbedding(8, random_state=0).fit(data.graphs)
    rows = embedding.transform(data.graphs)
    assert type(rows).__module__.startswith(output)
    kernel = embedding.kernel(data.graphs, data.graphs[:3])
    assert type(kernel) is np.ndarray
    assert np.allclose(kernel, rows.to_numpy() @ rows.to_numpy()[:3].T)


def test_evaluations(output, data):
    rows = evaluate(data, n_components=8, n_folds=2).summary()
    assert [row["method"] for row in rows][1:] == [
        "bag of nodes",
        "GraphVectorizer + LogisticRegression",
    ]


def test_weights(output, data):
    model = make_pipeline(gm.GraphVectorizer(8, random_state=0), LogisticRegression(max_iter=1000))
    model.fit(data.graphs, data.target)
    weights = gm.explain_weights(model, data.graphs)
    assert np.isfinite(weights.importance).all()


def test_neighbours(output, data):
    near = gm.NearestGraphs(3, exact=False, random_state=0).fit(data.graphs)
    assert type(near.kneighbors()[0]) is np.ndarray


def test_reports(output, data, tmp_path):
    pytest.importorskip("bokeh")
    made = gm.report(data, tmp_path / "page.html", n_components=8, n_folds=2)
    assert made.n_graphs == 36
