"""Models fitted to an even sample, and the batch function for Spark."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import graphmover as gm
from graphmover.distributed import sampling
from graphmover.distributed.sampling import drawn, even_sample
from graphmover.distributed.unit import Options
from graphmover.io.model_file import fingerprint
from graphmover.io.streaming import sample_graphs


def fingerprint_of(model):
    return fingerprint(model._fitted_model())


@pytest.mark.parametrize("n_graphs", [1, 200, 500])
def test_the_sample_is_that_of_one_machine(source, n_graphs, monkeypatch):
    monkeypatch.setattr(sampling, "_KEYS", 37)
    one, n_one = sample_graphs(source, n_graphs, random_state=5)
    for unit_rows, rows in ((1, 3), (50, 10_000)):
        monkeypatch.setattr(sampling, "_UNIT_ROWS", unit_rows)
        monkeypatch.setattr(sampling, "_ROWS", rows)
        many, n_many = even_sample(source, n_graphs, Options(), 5)
        assert n_one == n_many == 240
        assert many.graphs == one.graphs
        assert (many.ids == one.ids).all()
        assert (many.target == one.target).all()


def test_every_row_has_the_same_chance():
    counts = np.zeros(50)
    for seed in range(2000):
        counts[drawn(50, 10, seed)] += 1
    assert abs(counts / 400 - 1).max() < 0.25  # six standard deviations of a binomial


@pytest.mark.parametrize("kind", [gm.RandomGraphEmbedding, gm.GraphVectorizer])
def test_models_are_those_of_one_machine(source, kind):
    one = kind(8, random_state=0).fit(sample_graphs(source, 60, random_state=0)[0].graphs)
    many = gm.distributed.fit(kind(8, random_state=0), source, n_graphs=60)
    assert fingerprint_of(one) == fingerprint_of(many)


def test_only_what_is_drawn_is_read(source, monkeypatch):
    monkeypatch.setattr(sampling, "_UNIT_ROWS", 4)
    opened = []
    real = sampling.opened_unit

    def counting(*arguments):
        opened.append(arguments)
        return real(*arguments)

    monkeypatch.setattr(sampling, "opened_unit", counting)
    even_sample(source, 3, Options(), 0)
    assert len(opened) <= 3


def test_errors_name_the_graph_in_the_file(data, tmp_path):
    table = data.graphs[:40].to_arrow()
    edges = table["neighbours"].to_pylist()
    edges[33][0] = [999]
    columns = {"neighbours": pa.array(edges, table["neighbours"].type)}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet", row_group_size=8)
    seed = next(s for s in range(1000) if 33 in drawn(40, 9, s) and 32 not in drawn(40, 9, s))
    with pytest.raises(ValueError, match=r"a\.parquet: graph 33\b"):
        even_sample(tmp_path / "a.parquet", 9, Options(), seed)


def test_samples_of_smiles_leave_out_bad_lines(tmp_path):
    pytest.importorskip("rdkit")
    (tmp_path / "a.smi").write_text("CCO\nnonsense\nC#N\n" * 5)
    sample, n_graphs = even_sample(tmp_path / "a.smi", 100, Options(errors="skip"), 0)
    assert (len(sample), n_graphs) == (10, 15)
    with pytest.raises(ValueError, match=r"a\.smi, line 2: RDKit"):
        even_sample(tmp_path / "a.smi", 100, Options(), 0)
    (tmp_path / "b.smi").write_text("nonsense\n")
    with pytest.raises(ValueError, match="no graphs that can be read"):
        even_sample(tmp_path / "b.smi", 100, Options(errors="skip"), 0)


def test_record_batches_as_spark_maps_them(model, data):
    table = data.graphs.to_arrow().append_column("y", pa.array(data.target))
    embed = gm.distributed.ArrowMap(
        model, id_column="id", id_type="int64", target_column="y", target_type="int64"
    )
    found = pa.Table.from_batches(embed(table.to_batches(max_chunksize=7)), embed.schema)
    assert found.schema.field("vector").type == pa.list_(pa.float64())
    assert (np.array(found["vector"].to_pylist()) == model.transform(data.graphs)).all()
    assert found["id"].to_pylist() == data.ids.tolist()
    assert found["target"].to_pylist() == data.target.tolist()


def test_smiles_as_spark_maps_them():
    pytest.importorskip("rdkit")
    graphs = gm.as_graph_batch(["CCO", "C#N", "CCCC"])
    model = gm.RandomGraphEmbedding(4, random_state=0).fit(graphs)
    rows = pa.RecordBatch.from_pydict({"smiles": ["CCO", "nonsense", "C#N", None, "CCCC"]})
    (found,) = gm.distributed.ArrowMap(model, errors="skip")([rows])
    assert (np.array(found["vector"].to_pylist()) == model.transform(graphs)).all()
    with pytest.raises(ValueError, match="RDKit cannot read the SMILES 'nonsense'"):
        list(gm.distributed.ArrowMap(model)([rows]))
