from collections import Counter

import pandas as pd
import pytest
from test_tu import REAL

from graphmover.datasets import catalogue
from graphmover.datasets.catalogue import CATEGORIES, did_you_mean

SETS = {info.name: info for info in catalogue()}


def test_the_whole_collection():
    counts = Counter(info.category for info in SETS.values())
    assert counts == {
        "molecules": 81, "bioinformatics": 7, "vision": 11, "social": 24, "synthetic": 5,
    }  # fmt: skip
    assert set(counts) == set(CATEGORIES)
    assert list(SETS) == sorted(SETS, key=str.lower)
    for info in SETS.values():
        assert info.n_graphs > 0 and info.mean_nodes > 0 and info.mean_edges > 0
        assert (info.n_classes >= 2) != (info.n_targets >= 1)


def test_filters():
    assert [info.name for info in catalogue(contains="mutag")] == ["MUTAG", "Mutagenicity"]
    assert {info.category for info in catalogue(category="vision")} == {"vision"}
    assert max(info.n_graphs for info in catalogue(max_graphs=600)) == 600
    assert not any(info.node_labels for info in catalogue(node_labels=False))
    labelled = catalogue(node_labels=True, category="bioinformatics", max_graphs=85, contains="k")
    assert [info.name for info in labelled] == ["KKI", "Peking_1"]
    with pytest.raises(ValueError, match=r"category must be one of .*, got 'sociable'"):
        catalogue(category="sociable")


def test_pandas_takes_it():
    table = pd.DataFrame(catalogue()).set_index("name")
    assert table.loc["QM9", "n_targets"] == 19


def test_likely_names():
    assert did_you_mean("mutag").startswith(" Did you mean MUTAG")
    assert did_you_mean("IMDB_BINARY").startswith(" Did you mean IMDB-BINARY")
    assert did_you_mean("PROTEIN").startswith(" Did you mean PROTEINS")
    assert did_you_mean("???") == ""


@pytest.mark.parametrize("name", sorted(set(REAL) & set(SETS)))
def test_facts_agree_with_the_files(name):
    graphs, nodes, edges, node_labels, classes, attributes, edge_labels, edge_attributes = REAL[
        name
    ]
    info = SETS[name]
    assert (info.n_graphs, info.n_classes, info.n_targets) == (graphs, classes, 0)
    assert (info.mean_nodes, info.mean_edges) == (nodes, edges)
    assert (info.node_labels, info.edge_labels) == (node_labels > 0, edge_labels > 0)
    assert (info.node_attributes, info.edge_attributes) == (attributes, edge_attributes)


def test_facts_were_checked_where_files_were_at_hand():
    assert set(REAL) - set(SETS) == {"PTC"}  # of the paper, not of the collection
