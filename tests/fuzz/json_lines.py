"""Mutated JSON lines: other values anywhere in node-link objects, or other bytes."""

import json
from copy import deepcopy

from fuzz.mutations import finding, mutated_bytes, mutated_text, one_of

LINES = [
    {
        "directed": False,
        "multigraph": False,
        "graph": {"target": 1},
        "nodes": [
            {"id": 0, "label": "C", "attributes": [0.5]},
            {"id": 1, "label": "N", "attributes": [1]},
        ],
        "edges": [{"source": 0, "target": 1, "weight": 2, "label": ["a", 1], "attributes": 1.5}],
    },
    {
        "graph": {"target": 0},
        "nodes": [{"id": "a", "label": [1, [2]], "attributes": [3]}],
        "links": [],
    },
]
VALUES = [None, True, -1, 0, 1, 2**31, 2**63, -(2**63) - 1, 10**400, 0.5, 1e308, float("nan")]
VALUES += [
    float("inf"),
    "",
    "x",
    "0",
    "\0",
    "\ud800",
    "x" * 10_000,
    [],
    [[]],
    [0, 1],
    {},
    {"id": 0},
]
VALUES += [[1] * 300, {"source": 0, "target": 1}, "é", [None], [["a"]], -0.0]


def places(value, found):
    """List all containers with the keys of what they hold."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            found.append((value, key))
            places(value[key], found)
    return found


def other_values(rng, lines):
    for _ in range(int(one_of(rng, [1, 1, 2, 4]))):
        known = places(lines, []) or [({"": 0}, "")]
        container, key = one_of(rng, known)
        kind = rng.integers(6)
        if kind == 0 and container:
            del container[key]
        elif kind == 1 and isinstance(container, list):
            container.append(deepcopy(container[key]))
        elif kind == 2 and isinstance(container, dict):
            container[one_of(rng, ["links", "edges", "key", "id", "label", "graph", "target"])] = (
                deepcopy(one_of(rng, VALUES))
            )
        elif kind == 3:
            other, place = one_of(rng, known)
            container[key] = deepcopy(other[place])
        else:
            container[key] = deepcopy(one_of(rng, VALUES))
    return lines


def deep(rng):
    depth = int(one_of(rng, [18, 30, 450, 3_000, 100_000]))
    label = "[" * depth + "]" * depth
    graph = f'{{"nodes": [{{"id": 0, "label": {label}}}], "edges": []}}'
    return one_of(
        rng, [graph, label, graph.replace("label", "id"), graph.replace("label", "attributes")]
    )


def attack(rng, folder):
    """Read one mutated file; return what went wrong, or None."""
    source = folder / "x.jsonl"
    lines = deepcopy(LINES)
    text = b"\n".join(json.dumps(line).encode() for line in lines)
    kind = rng.integers(10)
    if kind == 0:
        text += b"\n" + deep(rng).encode()
    elif kind <= 2:
        text = mutated_bytes(rng, text)
    elif kind <= 4:
        text = mutated_text(rng, text, b',:"\n[]')
    else:
        text = b"\n".join(json.dumps(line).encode() for line in other_values(rng, lines))
    source.write_bytes(text)
    return finding(source)
