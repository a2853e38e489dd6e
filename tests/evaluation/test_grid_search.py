import numpy as np
import pytest
from evaluation_cases import GRID, with_graph_replaced
from sklearn.model_selection import RepeatedStratifiedKFold

import graphmover as gm
from graphmover.evaluation import (
    EMDKernel,
    Method,
    evaluate,
)
from graphmover.evaluation.candidates import Candidate
from graphmover.evaluation.columns import FoldDistances, Hyperparameters
from graphmover.evaluation.folds import Fold, repeated_folds
from graphmover.evaluation.halving import _best
from graphmover.evaluation.selection import Choice, leave_one_out_ridge


@pytest.mark.slow
@pytest.mark.parametrize("sampling", ["anchor", "uniform"])
def test_no_test_graph_influences_a_random_graph_or_a_choice(labelled, data, sampling):
    """Replacing a test graph changes neither random graphs nor choices in its folds."""
    other = gm.Graph(3, [(0, 1), (1, 2)], node_labels=[0, 1, 7])
    changed = with_graph_replaced(labelled, 17, other)
    embedding = gm.RandomGraphEmbedding(sampling=sampling)
    tried = [Method("m", embedding, GRID), EMDKernel("k", n_dimensions=(2, 4))]
    results = [
        evaluate(graphs, data.target, tried, n_components=24, n_folds=4)
        for graphs in (labelled, changed)
    ]
    folds = RepeatedStratifiedKFold(n_splits=4, n_repeats=1, random_state=0)
    splits = list(folds.split(data.target, data.target))
    [fold] = [number for number, (_, test) in enumerate(splits) if 17 in test]
    for place in (fold, 4 + fold):  # of either method
        rows = [result.folds[place] for result in results]
        for row in rows:
            del row["seconds"], row["accuracy"]
        assert rows[0] == rows[1]
    training_sets = [train for train, _ in splits]
    hyperparameters = Hyperparameters(9, 4, 0)
    distances = []
    for graphs in (labelled, changed):
        columns = FoldDistances(graphs, embedding, training_sets, 24, seed=0)
        columns.compute(hyperparameters, 24, None, range(4))
        distances.append(columns.of_fold(fold, hyperparameters, 24))
    others = np.arange(60) != 17
    assert (distances[0][others] == distances[1][others]).all()
    assert (distances[0][17] != distances[1][17]).any()


def test_random_graphs_of_a_fold_are_drawn_from_its_training_set(data):
    """Each anchor's distances are those to a set of nodes of one training graph."""
    train = np.arange(0, 60, 2)
    columns = FoldDistances(data.graphs, gm.RandomGraphEmbedding(), [train], 20, seed=0)
    hyperparameters = Hyperparameters(5, 4, 0)
    columns.compute(hyperparameters, 20, None, [0])
    assert len({graph for _, graph in columns._sources}) > 5
    used = [columns._sources[column][1] for column in columns._columns_of_fold[0]]
    assert set(used) <= set(train)
    nodes = gm.embed_nodes(data.graphs, 4)
    number, graph = columns._sources[columns._columns_of_fold[0][7]]
    rng = np.random.default_rng([0, 1, number])
    anchor = gm.sample_random_graphs(nodes[graph], 1, max_random_nodes=5, random_state=rng)
    expected = gm.earth_movers_distance(nodes, anchor)[:, 0]
    assert (columns.of_fold(0, hyperparameters, 20)[:, 7] == expected).all()


def test_the_exhaustive_search_tries_every_c(data):
    method = Method("m", gm.RandomGraphEmbedding(), GRID)
    options = {"n_components": 16, "n_folds": 3}
    full = evaluate(data.graphs, data.target, [method], selection="svm", **options)
    short = evaluate(data.graphs, data.target, [method], **options)
    for searched, chosen in zip(full.folds, short.folds, strict=True):
        assert searched["inner_accuracy"] >= chosen["inner_accuracy"]
        assert searched["ridge_strength"] is None


def test_the_best_finalist_with_all_random_graphs_is_chosen(data):
    """Even where the first random graphs say less: no rung decides between finalists."""
    grid = {"max_random_nodes": [2, 30], "gamma": [0.1, 1.0, 10.0]}
    method = Method("m", gm.RandomGraphEmbedding(use_node_labels=False), grid)
    chosen = evaluate(data.graphs, data.target, [method], n_components=300, n_folds=3).folds
    training_sets = [fold.train for fold in repeated_folds(data.target, 3, 1, 0)]
    columns = FoldDistances(data.graphs, method.embedding, training_sets, 300, seed=0)
    for row, (number, train) in zip(chosen, enumerate(training_sets), strict=True):
        compared = {}
        for hyperparameters in method.search_space.hyperparameters():
            columns.compute(hyperparameters, 300, None, [number])
            distances = columns.of_fold(number, hyperparameters, 300)[train]
            for gamma in (0.1, 1.0, 10.0):
                features = np.exp(-gamma / np.median(distances[:, :128]) * distances)
                choice = leave_one_out_ridge(features, data.target[train])
                compared[hyperparameters.max_random_nodes, gamma] = choice[:2]
        best = max(compared.values())
        assert row["selection_accuracy"] == best[0]
        assert compared[row["max_random_nodes"], row["gamma"]] == pytest.approx(best)


def test_a_rung_keeps_candidates_of_every_number_of_blocks():
    def candidate(size, depths):
        return Candidate(tuple(Hyperparameters(size, 4, depth) for depth in range(depths)), 1.0, ())

    candidates = [candidate(size, depths) for depths in (1, 2) for size in (3, 6, 9)]
    choices = [Choice(accuracy, 0.0, None) for accuracy in (0.7, 0.9, 0.8, 0.5, 0.5, 0.6)]
    assert _best(candidates, choices, 4) == [candidates[i] for i in (1, 2, 3, 5)]


def test_distances_are_kept_while_the_cache_has_room(data):
    embedding = gm.RandomGraphEmbedding(use_node_labels=False)
    columns = FoldDistances(data.graphs, embedding, [np.arange(40)], 16, seed=3)
    grid = [Hyperparameters(size, 4, 0) for size in (3, 6, 9)]
    for hyperparameters in grid:
        columns.compute(hyperparameters, 16, None, [0])
    before = [columns.of_fold(0, hyperparameters, 16) for hyperparameters in grid]
    one = max(table.nbytes for table in columns._tables.values())
    columns.release(grid[:2], cache_bytes=2 * one)
    assert [key[0] for key in columns._tables] == grid[1:]
    columns.compute(grid[1], 16, None, [0])  # needed again
    columns.release([])
    assert [key[0] for key in columns._tables] == grid[1:]
    columns.compute(grid[0], 16, None, [0])
    for hyperparameters, table in zip(grid, before, strict=True):
        assert np.array_equal(columns.of_fold(0, hyperparameters, 16), table)


def test_depths_side_by_side_are_blocks_of_features(labelled, data):
    """WL-RGE's features of depths 0 and 1 are those of two embeddings beside each other."""
    embedding = gm.RandomGraphEmbedding(use_node_labels=True)
    method = Method("m", embedding, {"wl_iterations": [1]}, stack_depths=True)
    train = np.arange(40)
    columns = FoldDistances(labelled, embedding, [train], 16, seed=3)
    for hyperparameters in method.search_space.hyperparameters():
        columns.compute(hyperparameters, 16, None, [0])
    [candidate] = method.search_space.candidates(columns, 16, Fold(0, train, np.arange(40, 60)))
    assert candidate.row()["wl_iterations"] == 1
    tables = [columns.of_fold(0, Hyperparameters(20, 4, depth), 16) for depth in (0, 1)]
    for distances, block in zip(tables, candidate.blocks(tables), strict=True):
        gamma = 1 / np.median(distances[train])
        assert block == pytest.approx(np.exp(-gamma * distances) / 4, rel=1e-12)


def test_depths_that_share_distances_have_them_wide_enough(labelled, data):
    """A small R may choose one depth and a large one another: both need depth 0."""
    grid = {"wl_iterations": [1, 2], "gamma": [0.3, 3.0]}
    method = Method("m", gm.RandomGraphEmbedding(use_node_labels=True), grid, stack_depths=True)
    found = evaluate(labelled, data.target, [method], n_components=[2, 4, 8, 64], n_folds=5)
    depths = {(row["n_components"], row["wl_iterations"]) for row in found.folds}
    assert {depth for _, depth in depths} == {1, 2}
    alone = evaluate(labelled, data.target, [method], n_components=64, n_folds=5)
    wide = [row for row in found.folds if row["n_components"] == 64]
    assert [row["accuracy"] for row in wide] == [row["accuracy"] for row in alone.folds]


def test_graphs_without_nodes_are_scored_but_not_drawn_from(data):
    graphs = with_graph_replaced(data.graphs, 3, gm.Graph(0, []))
    method = Method("m", gm.RandomGraphEmbedding(), {})
    found = evaluate(graphs, data.target, [method], n_components=16, n_folds=3)
    assert len(found.folds) == 3
