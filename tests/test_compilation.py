"""compile_all and its command: afterwards nothing is left to compile."""

import subprocess
import sys
from pathlib import Path

import pytest

import graphmover as gm
from graphmover.cli import main

USED = """
import numpy as np
from numba.core import event

class Complain(event.Listener):
    def on_start(self, event):
        print("compiled", event.data["dispatcher"].py_func.__qualname__)
    def on_end(self, event):
        pass

event.register("numba:compile", Complain())
import graphmover as gm

rng = np.random.default_rng(0)
data = gm.make_graph_families(20, random_state=0)
gm.RandomGraphEmbedding(16, max_random_nodes=30, random_state=0).fit_transform(data.graphs)
gm.RandomGraphEmbedding(16, partial=True, random_state=0).fit_transform(data.graphs)
gm.GraphVectorizer(16, random_state=0).fit_transform(data.graphs)
edges = [(i, i + 1) for i in range(499)]
gm.embed_nodes(gm.Graph(500, edges, edge_weights=rng.random(499) + 1))
nodes = [gm.NodeEmbeddings(rng.random((n, 2)), [1] * n, [0, n]) for n in (5, 12, 30, 60, 200)]
for a in nodes:
    for b in nodes:
        gm.earth_movers_distance(a, b)
gm.transport_plan(nodes[2], nodes[3])
labels = gm.RandomGraphEmbedding(8, node_embedding=None, wl_iterations=1, wl_depths="all")
for embedding in (None, labels):
    gm.NearestGraphs(2, embedding=embedding, random_state=0).fit(data.graphs).kneighbors()
"""


@pytest.mark.slow
def test_after_it_nothing_is_compiled():
    """In the cache of all other tests, which need most of the kernels anyway."""

    def run(*arguments):
        command = [sys.executable, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True)

    outcome = run("-m", "graphmover", "compile")
    folder = outcome.stdout.removesuffix("\n")
    assert any(Path(folder).rglob("*.nbc"))
    assert f"compiled code is in {folder}" in outcome.stderr
    assert run("-c", USED).stdout == ""
    again = run("-c", "import graphmover as gm; print(gm.compile_all(progress=False))")
    assert again.stdout == outcome.stdout


@pytest.mark.parametrize("folder", ["somewhere", None])
def test_the_command_prints_the_folder(monkeypatch, capsys, folder):
    monkeypatch.setattr("graphmover.compilation.compile_all", lambda: folder)
    monkeypatch.setattr(sys, "argv", ["graphmover", "compile"])
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code
    assert capsys.readouterr().out == f"{folder or 'compiled code is not stored'}\n"


def test_it_is_public():
    assert "compile_all" in gm.__all__
