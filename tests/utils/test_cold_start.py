"""A first run with an empty cache: how much is compiled, by whom, and how Ctrl-C ends it."""

import os
import signal
import subprocess
import sys
import time

import pytest

COUNTED = """
import time
from numba.core import event

class Count(event.Listener):
    n_functions = 0
    def on_start(self, event):
        Count.n_functions += 1
    def on_end(self, event):
        pass

event.register("numba:compile", Count())
import graphmover as gm

graphs = gm.make_graph_families(30, random_state=0).graphs
vectors = gm.RandomGraphEmbedding(64, random_state=0).fit_transform(graphs)
print(Count.n_functions, time.process_time(), repr(vectors.sum()))
"""

#: A second kernel of a second or so, and who compiled it.
ONE_KERNEL = """
import graphmover as gm
from graphmover.nodes.structure import degrees_and_triangles as kernel

gm.embed_nodes(gm.Graph(3, [(0, 1), (1, 2)]), node_embedding="structure")
print(sum(kernel.stats.cache_misses.values()), sum(kernel.stats.cache_hits.values()))
"""

INTERRUPTED = """
import sys
import graphmover as gm

graphs = gm.make_graph_families(30, random_state=0).graphs
print("ready", flush=True)
gm.RandomGraphEmbedding(64).fit_transform(graphs)
"""


def start(code, cache):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def output(process):
    out, err = process.communicate()
    assert process.returncode == 0, err
    return out.split()


@pytest.mark.slow
def test_a_first_run_compiles_two_kernels_and_later_ones_compute_the_same(tmp_path):
    n_functions, seconds, first = output(start(COUNTED, tmp_path))
    assert int(n_functions) <= 140
    assert float(seconds) < 60  # 12 on an idle machine
    kernels = sorted(path.name.split("-")[0] for path in tmp_path.rglob("*.nbc"))
    assert kernels == ["dense.embed", "few_sinks.distances"]
    *_, second = output(start(COUNTED, tmp_path))  # this one compiles the other copies
    n_functions, _, third = output(start(COUNTED, tmp_path))
    assert int(n_functions) == 0
    assert first == second == third
    assert not list(tmp_path.rglob("*.lock"))


@pytest.mark.slow
def test_of_two_processes_one_compiles(tmp_path):
    both = [start(ONE_KERNEL, tmp_path) for _ in range(2)]
    assert sorted(map(output, both)) == [["0", "1"], ["1", "0"]]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize("delay", [1.0, 3.0, 5.0])
def test_ctrl_c_ends_a_compilation_at_once(tmp_path, delay):
    process = start(INTERRUPTED, tmp_path)
    assert process.stdout.readline() == "ready\n"
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    sent = time.monotonic()
    _, err = process.communicate()
    assert time.monotonic() - sent < 3.0  # well below one second on an idle machine
    assert process.returncode == -signal.SIGINT
    assert "KeyboardInterrupt" in err


#: Ctrl-C comes during a compilation, whose thread then calls `exec` while the process ends.
ENDED_MEANWHILE = """
import os, signal, time
from graphmover._utils.cancelling import interruptibly, uninterruptible

def work():
    with uninterruptible():
        time.sleep(0.5)  # the main thread waits
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.2)
    end = time.monotonic() + 2
    while time.monotonic() < end:
        exec("pass")

try:
    interruptibly(work)
except KeyboardInterrupt:
    time.sleep(0.5)
    raise
"""


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_ctrl_c_is_the_reason_of_the_end_whatever_threads_do_meanwhile(tmp_path):
    process = start(ENDED_MEANWHILE, tmp_path)
    _, err = process.communicate()
    assert process.returncode == -signal.SIGINT
    assert "KeyboardInterrupt" in err
