import pytest

import graphmover as gm

N_GRAPHS, PER_UNIT = 240, 4


@pytest.fixture(scope="session")
def data():
    data = gm.make_graph_families(N_GRAPHS, random_state=0)
    return gm.Dataset(data.name, data.graphs.with_ids(range(1000, 1000 + N_GRAPHS)), data.target)


@pytest.fixture(scope="session")
def model(data):
    return gm.RandomGraphEmbedding(8, random_state=0).fit(data.graphs)


@pytest.fixture(scope="session")
def source(data, tmp_path_factory):
    """Sixty row groups in two files."""
    folder = tmp_path_factory.mktemp("graphs")
    gm.write_graphs(data[:100], folder / "2.parquet", batch_size=PER_UNIT)
    gm.write_graphs(data[100:], folder / "10.parquet", batch_size=PER_UNIT)
    return folder


@pytest.fixture(scope="session")
def expected(model, source, tmp_path_factory):
    """What one process writes to one file."""
    output = tmp_path_factory.mktemp("expected") / "z.parquet"
    model.transform_to(source, output)
    return output
