"""Mutated GraphML and GML files."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from fuzz.mutations import finding, mutated_bytes, mutated_text, one_of


@cache
def files():
    """Return a valid file of each format."""
    import networkx as nx

    graph = nx.cycle_graph(4)
    graph.graph["target"] = 3
    nx.set_node_attributes(graph, {n: n % 2 for n in graph}, "label")
    nx.set_node_attributes(graph, {n: n % 2 for n in graph}, "node_label")
    nx.set_node_attributes(graph, 0.5, "attributes")
    nx.set_edge_attributes(graph, 2.0, "weight")
    nx.set_edge_attributes(graph, "bond", "label")
    with TemporaryDirectory() as name:
        path = Path(name, "x")
        nx.write_graphml(graph, path)
        xml = path.read_bytes()
        nx.write_gml(graph, path)
        return {"x.graphml": xml, "x.gml": path.read_bytes()}


def attack(rng, folder):
    """Read one mutated file; return what went wrong, or None."""
    name = one_of(rng, sorted(files()))
    text = files()[name]
    if not rng.integers(40):
        text = one_of(rng, [b"<graphml>", b"graph [ ", b"graph [ node [ id 1 a [ "]) * 5_000
    elif rng.integers(2):
        text = mutated_bytes(rng, text)
    else:
        text = mutated_text(rng, text, b' "<>=/\n')
    (folder / name).write_bytes(text)
    return finding(folder / name)
