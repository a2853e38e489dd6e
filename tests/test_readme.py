"""The README is true: its blocks run as written, from an empty folder, and twice."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```(python|sh)\n(.*?)```", README, re.DOTALL)
INSTALLS = ("pip ", "make ")
[INSTALL] = [block for _, block in BLOCKS if block.startswith(INSTALLS)]
EXTRAS = re.search(r"\.\[(.+)\]", INSTALL)[1].split(",")

#: What extras bring that no other extra of the README needs.
BROUGHT_BY = {
    "networkx": ["networkx"],
    "parquet": ["pyarrow"],
    "smiles": ["rdkit"],
    "figures": ["matplotlib"],
    "pandas": ["pandas"],
    "report": ["bokeh"],
    "rustworkx": ["rustworkx"],
    "rivals": ["grakel", "gensim", "netlsd", "ot"],
    "dask": ["distributed"],
    "ray": ["ray"],
    "torch-geometric": ["torch_geometric"],
}


@pytest.mark.slow
def test_the_blocks_run_as_written_and_twice(tmp_path, monkeypatch, capsys):
    pytest.importorskip("rdkit")
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    for extra in BROUGHT_BY.keys() - EXTRAS:
        for name in BROUGHT_BY[extra]:
            monkeypatch.setitem(sys.modules, name, None)  # cannot be imported
    names = {}
    for _ in range(2):
        for language, block in BLOCKS:
            if language == "python":
                exec(block, names)
            elif not block.startswith(INSTALLS):
                run_in_shell(block, tmp_path)
    shown = capsys.readouterr().out
    claimed = float(re.search(r"# (0\.\d+) or so", README)[1])
    assert abs(float(shown.split()[0]) - claimed) < 0.02
    assert np.allclose(names["Z"] @ names["Z"].T, names["K"])
    rows = (tmp_path / "vectors.csv").read_text().splitlines()
    assert len(rows) == 181


def run_in_shell(block, folder):
    """Run a block by bash, with this interpreter's `graphmover` as the command."""
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    command = programs / "graphmover"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m graphmover "$@"\n')
    command.chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_what_it_installs_exists():
    pyproject = (ROOT / "pyproject.toml").read_text()
    for extra in EXTRAS:
        assert f"\n{extra} = [" in pyproject
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", INSTALL, re.MULTILINE):
        assert f"\n{target}:" in makefile


def test_it_is_one_page():
    assert len(README.splitlines()) <= 120


def test_folds_are_shuffled():
    assert "shuffle=True" in README
    assert not re.search(r"\bcv=\d", README)
