"""Commands and scripts in processes of their own, as a user runs them, but with imports done once.

A process that has imported the library, and loaded its compiled code, forks one for each command or
script, which ends as any other does.
"""

import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

COMMAND = [sys.executable, "-c", "from graphmover.cli import main; main()"]

#: Reads a request per line, and prints the exit code of the process that it forks for it.
FORKING = """
import importlib, json, os, runpy, sys, warnings
for name in ("neighbors", "rivals.compare", "cli.embed", "cli.evaluate", "cli.info", "cli.search"):
    importlib.import_module(f"graphmover.{name}")
for name in ("networkx", "pandas", "pyarrow.parquet", "rdkit.Chem", "typer._adapters"):
    try:
        importlib.import_module(name)
    except ImportError:
        pass
import graphmover as gm
graphs = gm.make_graph_families(12, random_state=0, min_nodes=10, max_nodes=12).graphs
gm.GraphVectorizer(4, random_state=0).fit(graphs)  # loads the compiled code
for line in sys.stdin:
    child = os.fork()
    if not child:
        break
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
else:
    sys.exit()
request = json.loads(line)
os.chdir(request["cwd"])
os.environ.clear()
os.environ.update(request["env"])
for number, path in enumerate(request["files"]):
    os.dup2(os.open(path, os.O_RDWR), number)
sys.stdin, sys.stdout, sys.stderr = (open(n, "rww"[n], closefd=False) for n in range(3))
if "script" in request:
    sys.argv = [request["script"], *request["arguments"]]
    sys.path.insert(0, os.path.dirname(request["script"]))
    warnings.simplefilter("error")
    runpy.run_path(request["script"], run_name="__main__")
else:
    sys.argv[1:] = request["arguments"]
    from graphmover.cli import main
    main()
"""


@cache
def _forking():
    """Start the process that forks, once for each process of tests."""
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", FORKING], stdin=pipe, stdout=pipe, text=True)


def run(*arguments, given=b"", text=True, cwd=".", env=None, script=None):
    """Run a command with ``given`` as standard input; return its exit code and what it printed.

    In place of a command, a script may be run, in which warnings are errors.
    """
    words, environment = [str(argument) for argument in arguments], env or dict(os.environ)
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("in", "out", "err")]
        for file in files:
            file.write_bytes(given if file.name == "in" else b"")
        if not hasattr(os, "fork") or _differs(environment):
            python = COMMAND if script is None else [sys.executable, "-W", "error", str(script)]
            command = [*python, *words]
            with files[0].open("rb") as stdin, files[1].open("wb") as out, files[2].open("wb") as e:
                streams = {"stdin": stdin, "stdout": out, "stderr": e}
                code = subprocess.call(command, cwd=cwd, env=environment, **streams)
        else:
            request = {"cwd": os.path.abspath(cwd), "env": environment, "arguments": words}
            request["files"] = list(map(str, files))
            if script is not None:
                request["script"] = os.path.abspath(script)
            server = _forking()
            server.stdin.write(json.dumps(request) + "\n")
            server.stdin.flush()
            code = int(server.stdout.readline())
        _, out, error = (file.read_text() if text else file.read_bytes() for file in files)
    return subprocess.CompletedProcess(words, code, out, error)


def _differs(environment):
    """Whether libraries may read other settings while they are imported."""
    changed = {key for key, _ in set(environment.items()) ^ set(os.environ.items())}
    return not changed <= {"COLUMNS", "GRAPHMOVER_DATA", "MPLBACKEND"}
