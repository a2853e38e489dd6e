"""Molecules and SMILES in memory against the same molecules in a file."""

import subprocess
import sys

import numpy as np
import pytest

import graphmover as gm

Chem = pytest.importorskip("rdkit.Chem")

SMILES = ["CCO", "c1ccccc1", "CC(=O)O", "C#N", "[Na+].[Cl-]", "[H][H]", "C"]


@pytest.fixture
def from_file(tmp_path):
    path = tmp_path / "molecules.smi"
    path.write_text("\n".join(SMILES))
    return gm.read_graphs(path).graphs


def test_smiles_are_the_graphs_of_a_file(from_file):
    pd = pytest.importorskip("pandas")
    for smiles in (SMILES, tuple(SMILES), iter(SMILES), np.array(SMILES), pd.Series(SMILES)):
        assert gm.as_graph_batch(smiles) == from_file
    assert gm.as_graph_batch(np.array(SMILES, object)) == from_file
    assert gm.read_graphs(SMILES).graphs == from_file


def test_molecules_are_the_graphs_of_their_smiles(from_file):
    molecules = list(map(Chem.MolFromSmiles, SMILES))
    assert gm.as_graph_batch(molecules) == from_file
    assert gm.as_graph_batch(molecules[0]) == from_file[:1]
    assert gm.as_graph_batch([molecules[0], *SMILES[1:]]) == from_file
    with_hydrogens = gm.as_graph_batch(Chem.AddHs(molecules[0]))
    assert with_hydrogens.node_counts.tolist() == [9]


def test_what_does_not_become_part_of_the_graph():
    for one, other in (
        ("CC(=O)[O-]", "CC(=O)O"),
        ("[13CH4]", "C"),
        ("[Fe+2]", "[Fe+3]"),
        ("C[C@H](N)C(=O)O", "C[C@@H](N)C(=O)O"),
    ):
        assert gm.as_graph_batch([one]) == gm.as_graph_batch([other])
    assert gm.as_graph_batch(["[2H]O[2H]", "[H]O[H]"]).node_counts.tolist() == [3, 1]


def test_labels_are_taken_only_if_wanted():
    bare = gm.as_graph_batch(SMILES, node_label=None, edge_label=None)
    assert bare.node_labels is None
    assert bare.edge_labels is None
    with pytest.raises(ValueError, match="node_label='charge' is found in no graph"):
        gm.as_graph_batch(SMILES, node_label="charge")


def test_ids():
    named = Chem.MolFromSmiles("CCO")
    named.SetProp("_Name", "007")
    numbered = Chem.MolFromSmiles("CCO")
    numbered.SetIntProp("id", 7)
    numbered.SetProp("code", "x")
    assert gm.as_graph_batch(named).ids.tolist() == ["007"]
    assert gm.as_graph_batch(numbered).ids.tolist() == [7]
    assert gm.as_graph_batch(numbered, graph_id="code").ids.tolist() == ["x"]
    assert gm.as_graph_batch(["CCO ethanol", "C methane gas"]).ids.tolist() == [
        "ethanol",
        "methane gas",
    ]
    assert gm.as_graph_batch({"ethanol": "CCO"}).ids.tolist() == ["ethanol"]
    assert gm.as_graph_batch(SMILES).ids is None


@pytest.mark.parametrize("bad", ["C1CC", "x.parquet", "", "  ", "graph"])
def test_a_string_that_is_no_smiles_is_named(bad):
    with pytest.raises(ValueError, match=rf"graph 1: .*SMILES '{bad}'"):
        gm.as_graph_batch(["CCO", bad])


def test_bad_smiles_can_be_skipped():
    skipped = []
    data = gm.read_graphs(["CCO", "C1CC", "C"], errors="skip", skipped=skipped)
    assert data.graphs.node_counts.tolist() == [3, 1]
    assert skipped[0].position == 1
    assert "C1CC" in skipped[0].reason


def test_what_rdkit_could_not_read_is_named():
    with pytest.raises(TypeError, match=r"graph 1: .*got None, expected a graph: RDKit returns"):
        gm.as_graph_batch([Chem.MolFromSmiles("C"), None])


def test_estimators_take_smiles():
    model = gm.GraphVectorizer(n_components=4, random_state=0)
    vectors = model.fit_transform(SMILES)
    assert (model.transform(list(map(Chem.MolFromSmiles, SMILES))) == vectors).all()


def test_rdkit_is_not_imported_for_other_graphs():
    code = (
        "import sys, graphmover as gm; gm.as_graph_batch([[(0, 1)]]); print('rdkit' in sys.modules)"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False\n"
