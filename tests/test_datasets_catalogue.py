from collections import Counter

import numpy as np
import pandas as pd
import pytest
from conftest import real_dataset

from graphmover.datasets import catalogue
from graphmover.datasets.catalogue import CATEGORIES, nearest_names

SETS = {info.name: info for info in catalogue()}
MEASURED_HERE = [
    "AIDS",
    "BZR",
    "COLLAB",
    "Cuneiform",
    "DD",
    "ENZYMES",
    "Fingerprint",
    "IMDB-BINARY",
    "IMDB-MULTI",
]
MEASURED_HERE += [
    "Letter-high",
    "MUTAG",
    "NCI1",
    "NCI109",
    "PROTEINS",
    "PROTEINS_full",
    "PTC_MR",
    "REDDIT-BINARY",
]


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
    assert nearest_names("mutag")[0] == "MUTAG"
    assert nearest_names("IMDB_BINARY")[0] == "IMDB-BINARY"
    assert nearest_names("PROTEIN")[0] == "PROTEINS"
    assert nearest_names("???") == []


@pytest.mark.parametrize("name", MEASURED_HERE)
def test_facts_agree_with_the_files(name):
    data, info = real_dataset(name), SETS[name]
    graphs = data.graphs
    attributes = graphs.node_attributes
    assert info.n_graphs == len(graphs)
    assert info.n_classes == len(np.unique(data.target))
    assert info.mean_nodes == round(graphs.n_nodes / len(graphs), 2)
    assert info.mean_edges == round(graphs.n_edges / len(graphs), 2)
    assert info.node_labels == (graphs.node_labels is not None)
    assert info.node_attributes == (0 if attributes is None else attributes.shape[1])
