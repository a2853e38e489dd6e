"""Pictures of alignments and anchors."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline

import graphmover as gm
from graphmover.drawing.layout import node_positions
from graphmover.drawing.molecules import are_molecules, molecule_of_graph

pytest.importorskip("matplotlib")
pytest.importorskip("igraph")

GREY = (0.72, 0.72, 0.72)


def wedges(axes):
    """The slices of all nodes: place and colour."""
    from matplotlib.patches import Wedge

    return [
        (tuple(np.round(patch.center, 6)), tuple(patch.get_facecolor()[:3]))
        for patch in axes.patches
        if isinstance(patch, Wedge)
    ]


def test_matched_nodes_have_the_same_colours():
    path = gm.Graph(3, [(0, 1), (1, 2)], node_labels=list("abc"))
    longer = gm.Graph(5, [(0, 1), (1, 2), (2, 3), (3, 4)], node_labels=list("xcbax"))
    embedding = gm.RandomGraphEmbedding(
        2, node_embedding=None, wl_depths="all", node_mass="equal", partial=True, random_state=0
    ).fit([path, longer])
    alignment = gm.explain(path, longer, embedding)
    figure = alignment.plot()
    left, right = figure.axes
    colours = {label: colour for label, (_, colour) in zip("abc", wedges(left), strict=True)}
    assert len(set(colours.values())) == 3
    places = node_positions(longer)
    by_place = dict(wedges(right))
    for label, place in zip(longer.node_labels, places, strict=True):
        expected = colours.get(label, GREY)
        assert by_place[tuple(np.round(place, 6))] == pytest.approx(expected)
    assert {text.get_text() for text in right.texts} == set("xcba")


def test_nodes_without_mass_are_empty(tmp_path):
    lonely = gm.Graph(3, [(0, 1)])  # masses by degree
    embedding = gm.RandomGraphEmbedding(2, random_state=0).fit([lonely, gm.Graph(2, [(0, 1)])])
    figure = gm.explain(lonely, lonely, embedding).plot()
    assert len(wedges(figure.axes[0])) == 2
    figure.savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 5_000


def test_labels_and_ids_are_no_mathematics(tmp_path):
    graph = gm.Graph(2, [(0, 1)], node_labels=["$x", r"$\\bad$"], id="$100 $\\frac$")
    embedding = gm.RandomGraphEmbedding(2, random_state=0).fit([graph])
    gm.explain(graph, graph, embedding).plot().savefig(tmp_path / "figure.png")


def test_molecules_are_recognised():
    pytest.importorskip("rdkit")
    smiles = gm.as_graph_batch(["CC(=O)Oc1ccccc1C(=O)O", "c1ccc2[nH]ccc2c1", "C[N+](C)(C)CCO", "C"])
    for graph in smiles:
        assert molecule_of_graph(graph).GetNumAtoms() == graph.n_nodes
        assert molecule_of_graph(graph, False) is None
    symbols = gm.Graph(3, [(0, 1), (1, 2)], node_labels=list("CCO"), edge_labels=[1, 1])
    assert molecule_of_graph(symbols).GetNumAtoms() == 3
    codes = gm.Graph(3, [(0, 1), (1, 2)], node_labels=[0, 1, 2], edge_labels=[0, 1])
    crowded = gm.Graph(6, [(0, i) for i in range(1, 6)], node_labels=[6] * 6, edge_labels=[1] * 5)
    for graph in (codes, crowded, gm.Graph(2, [(0, 1)]), gm.Graph(0, [])):
        assert molecule_of_graph(graph) is None
    with pytest.raises(ValueError, match="the graph is not a molecule"):
        molecule_of_graph(codes, True)


def test_aromatic_carbons_may_have_a_double_bond():
    pytest.importorskip("rdkit")
    for smiles in ("CN1C=NC2=C1C(=O)N(C(=O)N2C)C", "O=c1cc[nH]c(=O)[nH]1", "c1cc2cccc3cccc1c23"):
        (graph,) = gm.as_graph_batch([smiles])
        assert molecule_of_graph(graph) is not None, smiles


def test_molecules_without_carbon_are_drawn_beside_others():
    pytest.importorskip("rdkit")
    graphs = gm.as_graph_batch(["CCO ethanol", "O water", "[Na+].[Cl-] salt", "CC ethane"])
    assert are_molecules(graphs) == [True] * 4
    assert are_molecules([graphs[1]]) == [False]
    assert are_molecules(graphs, False) == [False] * 4
    codes = gm.Graph(3, [(0, 1), (1, 2)], node_labels=[0, 1, 2], edge_labels=[0, 1])
    assert are_molecules([graphs[0], codes]) == [True, False]
    figure = gm.explain(graphs[0], graphs[1], gm.GraphVectorizer(4, random_state=0).fit(graphs))
    assert all(len(axes.images) == 1 for axes in figure.plot().axes)


def test_molecules_are_drawn_by_rdkit(tmp_path):
    pytest.importorskip("rdkit")
    molecules = gm.as_graph_batch(["CC(=O)Oc1ccccc1C(=O)O aspirin", "c1ccc2[nH]ccc2c1 indole"])
    vectorizer = gm.GraphVectorizer(4, random_state=0).fit(molecules)
    for view in ("labels", "counts", "structure"):
        figure = gm.explain(molecules[1], molecules[0], vectorizer, view=view).plot()
        assert all(len(axes.images) == 1 for axes in figure.axes)
        assert [axes.get_title() for axes in figure.axes] == ["indole", "aspirin"]
    pixels = figure.axes[0].images[0].get_array()
    assert len(np.unique(pixels.reshape(-1, pixels.shape[-1]), axis=0)) > 20


def test_anchors_are_drawn(tmp_path):
    graphs, families = gm.make_graph_families(30, random_state=0, return_X_y=True)
    model = make_pipeline(
        gm.RandomGraphEmbedding(32, max_random_nodes=3, random_state=0), RidgeClassifier()
    ).fit(graphs, families)
    found = gm.explain_weights(model, graphs)
    figure = found.plot(found.targets[0], n=4)
    drawn = [axes for axes in figure.axes if axes.get_title()]
    assert len(drawn) == 4
    best = found.to_frame(1).iloc[0]
    assert len(wedges(drawn[0])) == len(set(best["nodes"]))
    assert drawn[0].get_title().startswith(f"graph {best['training_graph']}\n+")


def test_long_names_do_not_run_into_each_other():
    """Names are cut, and keep their ends; the words about an anchor have a line of their own."""
    graphs, families = gm.make_graph_families(30, random_state=0, return_X_y=True)
    graphs = graphs.with_ids(
        [f"a family with a long name and a number that is {i}" * 2 for i in range(30)]
    )
    model = make_pipeline(gm.RandomGraphEmbedding(32, random_state=0), RidgeClassifier())
    found = gm.explain_weights(model.fit(graphs, families), graphs)
    figures = [found.plot(found.targets[0]), gm.explain(graphs[0], graphs[11], model).plot()]
    assert figures[1].axes[1].get_title().endswith("is 11")
    for figure in figures:
        figure.draw_without_rendering()
        every = [axes.title.get_window_extent() for axes in figure.axes if axes.get_title()]
        assert len(every) > 1
        for one, other in pairwise(every):
            assert one.x1 < other.x0 or one.y0 > other.y1
        assert min(one.x0 for one in every) > 0


def test_neighbours_in_a_long_chain_do_not_cover_each_other():
    from matplotlib.patches import Circle

    for n in (2, 5, 30, 80):
        chain = gm.Graph(n, [(i, i + 1) for i in range(n - 1)])
        embedding = gm.RandomGraphEmbedding(2, random_state=0).fit([chain])
        axes = gm.explain(chain, chain, embedding).plot().axes[0]
        circles = [patch for patch in axes.patches if isinstance(patch, Circle)]
        radius = circles[0].radius
        apart = np.linalg.norm(np.diff([circle.center for circle in circles], axis=0), axis=1)
        assert radius > 0.015 and (n > 50 or 2 * radius < apart.min())
