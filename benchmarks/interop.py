"""Time to convert many small networkx graphs, relative to iterating over them in networkx.

The ratio is the time of `as_graph_batch` over that of networkx's own iteration.

python benchmarks/interop.py --graphs 100000
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import networkx as nx

import graphmover as gm


def molecule_like(seed: int, *, labelled: bool, weighted: bool, bonds: bool = False) -> nx.Graph:
    """Draw a random tree with a few rings: 10 to 30 nodes, about as many edges."""
    rng = random.Random(seed)
    n = rng.randint(10, 30)
    graph = nx.Graph()
    for node in range(n):
        graph.add_node(node, **({"label": rng.choice("CNOFS")} if labelled else {}))
    pairs = [(node, rng.randrange(node)) for node in range(1, n)]
    pairs += [tuple(rng.sample(range(n), 2)) for _ in range(3)]
    for u, v in pairs:
        graph.add_edge(u, v, **({"weight": rng.random()} if weighted else {}))
        if bonds:
            graph[u][v]["label"] = rng.choice("123")
    return graph


def iterate(graphs: list[nx.Graph]) -> None:
    for graph in graphs:
        list(graph.nodes(data=True))
        list(graph.edges(data=True))


def seconds(work: Callable[[list[nx.Graph]], Any], graphs: list[nx.Graph]) -> float:
    start = time.perf_counter()
    work(graphs)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    print(f"{arguments.graphs} networkx graphs, median of {arguments.repeats} runs")
    print(f"{'graphs':<20}{'networkx':>12}{'graphmover':>12}{'ratio':>8}")
    for name, labelled, weighted, bonds in (
        ("plain", False, False, False),
        ("labelled", True, False, False),
        ("weighted", False, True, False),
        ("labelled, weighted", True, True, False),
        ("edge labels too", True, True, True),
    ):
        graphs = [
            molecule_like(seed, labelled=labelled, weighted=weighted, bonds=bonds)
            for seed in range(arguments.graphs)
        ]
        iterate(graphs)  # networkx builds its views on first use, which is not timed
        pairs = [
            (seconds(iterate, graphs), seconds(gm.as_graph_batch, graphs))
            for _ in range(arguments.repeats)
        ]
        theirs, ours = (median(column) for column in zip(*pairs, strict=True))
        ratio = median(own / their for their, own in pairs)
        print(f"{name:<20}{theirs:>10.2f} s{ours:>10.2f} s{ratio:>8.2f}")


if __name__ == "__main__":
    main()
