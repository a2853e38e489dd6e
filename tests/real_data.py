"""Real data sets, from the folder that GRAPHMOVER_DATA names."""

import os
from functools import cache
from pathlib import Path

import pytest

import graphmover as gm


@cache
def _load(name):
    return gm.load_dataset(name)


def real_dataset(name):
    """A TU set from the folder that GRAPHMOVER_DATA names; the test is skipped without it."""
    folder = os.environ.get("GRAPHMOVER_DATA")
    if not folder or not (Path(folder) / f"{name}.zip").exists():
        pytest.skip(f"needs {name}.zip in the folder named by GRAPHMOVER_DATA")
    return _load(name)
