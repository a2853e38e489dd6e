"""Tables of edges and nodes with values of every kind."""

import datetime
import warnings

from fuzz.mutations import one_of

import graphmover as gm

NAMES = ["a", "b", "", "\ud800", 0, 1, -1, 2**63, 10**30, 1.5, float("nan"), float("inf"), None]
NAMES += [True, (1, 2), [1], {}, b"x", datetime.date(2020, 1, 1), object()]
NUMBERS = [0, 1, 2.5, -1, float("nan"), float("inf"), 10**400, None, "1", "x", True]
COLUMNS = ["graph", "source", "target", "weight", "label", "node", "x"]


def attack(rng, folder):
    """Make graphs of one table; return what went wrong, or None."""
    n_rows = int(rng.integers(5))
    edges = {"graph": ["a", "b"], "source": [0, 1], "target": [1, 2], "weight": [1.0, 2.0]}
    nodes = {"graph": ["a", "a", "b", "b"], "node": [0, 1, 1, 2], "label": list("xyxy")}
    for table in (edges, nodes):
        for _ in range(int(one_of(rng, [0, 1, 1, 2]))):
            name = one_of(rng, COLUMNS)
            values = NUMBERS if name == "weight" else NAMES
            if table.get(name) and rng.integers(2):
                column = list(table[name])
                column[int(rng.integers(len(column)))] = one_of(rng, values)
                table[name] = column
            elif rng.integers(4):
                table[name] = [one_of(rng, values) for _ in range(n_rows)]
            else:
                table.pop(name, None)
    given = one_of(rng, [None, nodes])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            batch = gm.from_edge_list(edges, given)
    except (TypeError, ValueError):
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error} for {edges!r} and {given!r}"
    return None if len(batch) == len(batch.ids) else f"{batch!r} of {edges!r}"
