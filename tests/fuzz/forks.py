"""Forks while threads compute: every child computes, too, with the same result."""

import os
import signal
import subprocess
import sys
import threading

import numpy as np

#: A child that takes longer hangs.
SECONDS = 60


def attack(rng, folder, n_forks=100):
    """Fork many times, in a process of its own."""
    command = [sys.executable, __file__, str(rng.integers(2**31)), str(n_forks)]
    outcome = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


def fork_amid_threads(seed, n_forks):
    import graphmover as gm

    rng = np.random.default_rng(seed)
    graphs = []
    for n in rng.integers(3, 9, size=6):
        edges = [(i, i + 1) for i in range(n - 1)] + [(0, int(n) - 1)]
        graphs.append(gm.Graph(int(n), edges, edge_weights=rng.random(len(edges)) + 0.1))
    model = gm.RandomGraphEmbedding(4, random_state=0, n_jobs=2).fit(graphs)
    expected = model.transform(graphs)
    stopped = threading.Event()

    def compute():
        while not stopped.is_set():
            model.transform(graphs)

    threads = [threading.Thread(target=compute) for _ in range(2)]
    for thread in threads:
        thread.start()
    failures = 0
    for _ in range(n_forks):
        child = os.fork()
        if not child:
            signal.alarm(SECONDS)
            os._exit(0 if np.array_equal(model.transform(graphs), expected) else 1)
        failures += os.waitpid(child, 0)[1] != 0
    stopped.set()
    for thread in threads:
        thread.join()
    assert not failures, f"{failures} of {n_forks} children hung or failed (seed {seed})"


if __name__ == "__main__":
    fork_amid_threads(int(sys.argv[1]), int(sys.argv[2]))
