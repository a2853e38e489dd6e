"""A few mutated files of every format; ``make fuzz`` runs many more."""

import pytest
from fuzz.run import CLASSES, cases

LIBRARIES = {"parquet_files": "pyarrow", "csv_tables": "pyarrow", "smiles_files": "rdkit"}
LIBRARIES |= dict.fromkeys(["json_lines", "graphml_gml", "graph6_edge_lists"], "networkx")
READERS = [name for name in CLASSES if name not in ("model_files", "checkpoints")]


@pytest.mark.parametrize("name", READERS)
def test_mutated_files_are_read_or_rejected(name):
    pytest.importorskip(LIBRARIES.get(name, "numpy"))
    assert [(case, found) for case, found in cases(name, 0, 0, 100) if found] == []
