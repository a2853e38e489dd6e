import numpy as np
import pytest

import graphmover as gm


@pytest.fixture(scope="module")
def data():
    return gm.make_graph_families(60, random_state=0)


@pytest.fixture(scope="module")
def labelled(data):
    graphs = data.graphs
    labels = (np.diff(graphs.indptr) % 3).astype(np.int64)
    return gm.GraphBatch(graphs.offsets, graphs.indptr, graphs.indices, node_labels=labels)
