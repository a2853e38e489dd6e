"""The batch function under Spark's ``mapInArrow``, where Spark and Java are installed."""

import shutil
import sys

import numpy as np
import pytest

import graphmover as gm

pytest.importorskip("pyspark")
if shutil.which("java") is None:
    pytest.skip("needs Java", allow_module_level=True)

pytestmark = pytest.mark.filterwarnings("default")  # Spark's own


def test_map_in_arrow_and_the_folder_as_one_table(model, data, source, tmp_path, monkeypatch):
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)  # not the first of the path
    from pyspark.sql import SparkSession
    from pyspark.sql.pandas.types import from_arrow_schema

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", "50").getOrCreate()
    embed = gm.distributed.ArrowMap(
        model, id_column="id", id_type="int64", target_column="target", target_type="int64"
    )
    graphs = spark.read.parquet(str(source))
    rows = graphs.mapInArrow(embed, from_arrow_schema(embed.schema)).orderBy("id").collect()
    assert [row.id for row in rows] == data.ids.tolist()
    assert [row.target for row in rows] == data.target.tolist()
    expected = model.transform(data.graphs)
    assert (np.array([row.vector for row in rows]) == expected).all()
    gm.distributed.transform_to(model, source, tmp_path / "z", engine="serial", unit_rows=60)
    rows = spark.read.parquet(str(tmp_path / "z")).orderBy("id").collect()
    assert (np.array([row.vector for row in rows]) == expected).all()
    spark.stop()
