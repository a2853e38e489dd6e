"""The memory that reading a file takes, measured in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

#: Reads each file in a fork of one process, and prints the growth of memory and any error.
CODE = """
import os, resource, sys, traceback, warnings
import graphmover as gm
from graphmover.datasets.tu import load_dataset
warnings.simplefilter("ignore")
gm.GraphBatch.from_arrow({"neighbours": [[[1], [0]]]})
try:
    import networkx, pyarrow.parquet, rdkit.Chem
except ImportError:
    pass
for path in sys.argv[1:]:
    if os.fork() == 0:
        resource.setrlimit(resource.RLIMIT_AS, (12 * 10**9, 12 * 10**9))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            gm.read_graphs(path)
            said = "read"
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        print(grown * 1024, said.replace(chr(10), " ")[:2000], flush=True)
        os._exit(0)
    os.wait()
"""


def memory_of_reading(*paths: Path) -> list[tuple[int, str]]:
    """Return for each file how many bytes reading took, and "read" or the error."""
    command = [sys.executable, "-c", CODE, *map(str, paths)]
    answer = subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=300, env=os.environ
    )
    lines = [line.split(" ", 1) for line in answer.stdout.splitlines()]
    assert len(lines) == len(paths), answer.stdout + answer.stderr
    return [(int(grown), said) for grown, said in lines]
