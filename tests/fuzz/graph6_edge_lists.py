"""Mutated files of graph6, sparse6, GEXF and edges, and standard input."""

import io
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from fuzz.mutations import finding, mutated_bytes, mutated_text, one_of

EDGES = b"# a comment\n0 1 2.5\n1 2 {'weight': 3, 'label': 'x'}\na b\n"
TABLE = b"graph,source,target,weight,label,length\n1,a,b,1,x,2\n1,b,c,2.5,y,3\n2,a,b,1,x,0\n"


@cache
def files():
    """Return a valid file of each format."""
    import networkx as nx

    graph = nx.cycle_graph(9)
    nx.set_node_attributes(graph, {n: n % 2 for n in graph}, "node_label")
    nx.set_edge_attributes(graph, 2.0, "weight")
    others = [nx.empty_graph(0), nx.path_graph(70), nx.complete_graph(5)]
    with TemporaryDirectory() as name:
        path = Path(name, "x")
        nx.write_gexf(graph, path)
        gexf = path.read_bytes()
    return {
        "x.gexf": gexf,
        "x.g6": b"".join(nx.to_graph6_bytes(one) for one in others),
        "x.s6": b"".join(nx.to_sparse6_bytes(one) for one in others),
        "x.edgelist": EDGES,
        "x.edges": EDGES,
        "x.csv": TABLE,
    }


def attack(rng, folder):
    """Read one mutated file, or standard input; return what went wrong, or None."""
    name = one_of(rng, sorted(files()))
    content = files()[name]
    if rng.integers(2):
        content = mutated_bytes(rng, content)
    else:
        content = mutated_text(rng, content, b" ,<>=\n")
    if not rng.integers(4):
        return _through_standard_input(content, name.removeprefix("x."))
    (folder / name).write_bytes(content)
    return finding(folder / name)


def _through_standard_input(content, ending):
    """Give the content to a command, which may fail with an error of its own, and only so."""
    from graphmover.cli import main

    arguments = ["graphmover", "info", "-", "--format", ending, "-q", "--json"]
    with (
        patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), encoding="utf-8")),
        patch.object(sys, "stdout", io.StringIO()),
        patch.object(sys, "stderr", io.StringIO()) as shown,
        patch.object(sys, "argv", arguments),
        patch("warnings.showwarning"),
    ):
        try:
            main()
        except SystemExit as end:
            if end.code not in (0, 1, None):
                return f"the exit code is {end.code}: {shown.getvalue()[:200]}"
        except Exception as error:
            return f"{type(error).__name__} from the command line: {error} for {content!r:.300}"
    return None
