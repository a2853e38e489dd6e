"""Networks learn something easy, with early stopping and without touching PyTorch's state."""

import pickle

import numpy as np
import pytest
from graph_zoo import complete, cycle, random_graph, star

import graphmover as gm
from graphmover import rivals
from graphmover.rivals.neural.training import Holdout

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

NAMES = ["DCNNClassifier", "DGCNNClassifier", "GATClassifier", "GINClassifier", "PSCNClassifier"]


def easy(n=20):
    """Stars and cycles of 10 to 15 nodes."""
    sizes = 10 + np.arange(n) % 6
    graphs = [(star if k % 2 else cycle)(int(size)) for k, size in enumerate(sizes)]
    return gm.as_graph_batch(graphs), np.where(np.arange(n) % 2, "star", "cycle")


@pytest.mark.parametrize("name", NAMES)
def test_an_easy_set_is_learnt(name):
    graphs, classes = easy()
    before = torch.get_rng_state()
    model = getattr(rivals, name)(16, epochs=60, batch_size=8, random_state=0)
    model.fit(graphs, classes)
    assert torch.equal(torch.get_rng_state(), before)
    assert model.score(graphs, classes) == 1.0
    assert model.classes_.tolist() == ["cycle", "star"]
    probabilities = model.predict_proba(graphs)
    assert np.allclose(probabilities.sum(axis=1), 1)
    copy = pickle.loads(pickle.dumps(model))
    assert np.allclose(copy.predict_proba(graphs[3:5]), probabilities[3:5], atol=1e-5)


def test_a_seed_gives_the_same_network():
    graphs, classes = easy(12)
    one, other = (
        rivals.GINClassifier(4, epochs=3, random_state=5).fit(graphs, classes) for _ in range(2)
    )
    assert np.array_equal(one.predict_proba(graphs), other.predict_proba(graphs))


def test_edge_labels_reach_the_attention():
    """Cycles that differ in the labels of their edges alone."""
    rings = [[(v, (v + 1) % 6) for v in range(6)]] * 24
    labels = np.repeat(np.arange(24) % 2, 6)
    batch = gm.GraphBatch.from_edges(
        [6] * 24, [6] * 24, np.concatenate(rings), edge_labels=labels.tolist()
    )
    classes = np.arange(24) % 2
    model = rivals.GATClassifier(8, epochs=60, random_state=0).fit(batch, classes)
    assert model.score(batch, classes) == 1.0


@pytest.mark.parametrize("name", NAMES)
def test_degrees_are_labels_where_nodes_carry_nothing(name):
    graphs, classes = easy()
    model = getattr(rivals, name)(4, epochs=1, random_state=0).fit(graphs, classes)
    # The degrees of stars and cycles of 10 to 15 nodes, as far as the holdout leaves them.
    assert {1, 2} <= set(model.inputs_.degrees) <= {1, 2, *range(9, 15)}
    unseen = gm.as_graph_batch([star(8), cycle(12)])
    assert model.inputs_.node_features(unseen).sum(axis=1).tolist() == [0, *[1] * 19]
    assert np.isfinite(model.predict_proba(unseen)).all()


def test_large_degrees_count_as_one():
    graphs = [star(n) for n in (128, 150, 200, 3)] * 2
    model = rivals.GINClassifier(2, epochs=1, random_state=0).fit(graphs, [0, 0, 0, 1] * 2)
    assert model.inputs_.degrees.tolist() == [1, 2, 127]


def test_fields_do_not_depend_on_the_numbering():
    from graph_zoo import renumbered

    from graphmover.rivals.neural.pscn import _canonical_ranks

    rng = np.random.default_rng(0)
    graph = random_graph(rng, 12, labels=3)
    other = renumbered(graph, rng)

    def labels_in_order(one):
        batch = gm.as_graph_batch(one)
        return gm.wl_labels(batch, 3)[np.argsort(_canonical_ranks(batch))].tolist()

    assert labels_in_order(graph) == labels_in_order(other)


def test_training_stops_early():
    graphs, classes = easy(12)
    model = rivals.DCNNClassifier(4, epochs=500, patience=3, learning_rate=0.5, random_state=0)
    assert model.fit(graphs, classes).n_epochs_ < 500


def test_wrong_classes_are_named():
    with pytest.raises(ValueError, match="y has 3 values for 2 graphs"):
        rivals.GINClassifier().fit([complete(3), star(4)], [0, 1, 0])


@pytest.mark.parametrize("name", ["hidden", "batch_size", "epochs", "patience"])
def test_bad_parameters_are_named(name):
    graphs, classes = easy(4)
    with pytest.raises(ValueError, match=f"{name} must be at least"):
        rivals.GINClassifier(random_state=0).set_params(**{name: -1}).fit(graphs, classes)


def test_values_are_no_classes():
    graphs, _ = easy(4)
    with pytest.raises(ValueError, match="continuous"):
        rivals.GINClassifier(random_state=0).fit(graphs, [0.1, 0.2, 0.3, 0.4])


def test_a_network_of_ones_own():
    class Mean(rivals.NeuralClassifier):
        def _network(self, n_classes):
            n_inputs = self.inputs_.n_node_features

            class Network(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.score = torch.nn.Linear(n_inputs, n_classes)

                def forward(self, graphs):
                    scores = self.score(graphs.x)
                    sums = scores.new_zeros(graphs.n_graphs, n_classes)
                    return sums.index_add(0, graphs.batch, scores)

            return Network()

    graphs, classes = easy(12)
    model = Mean(epochs=5, random_state=0).fit(graphs, classes)
    assert model.predict(graphs).shape == (12,)


def test_a_holdout_has_all_classes_even_of_few_graphs():
    target = np.repeat(np.arange(6), 6)
    holdout = Holdout()
    [(train, held_out)] = holdout.split(None, target)
    assert holdout.get_n_splits() == 1
    assert sorted(target[held_out]) == list(range(6))
    assert sorted([*train, *held_out]) == list(range(36))
