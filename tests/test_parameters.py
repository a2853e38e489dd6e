"""One table of parameters serves the estimator, its checks and the command line."""

import inspect
import subprocess
import sys

import numpy as np
import pytest

import graphmover as gm
from graphmover.backends import BACKENDS
from graphmover.nodes.registry import NODE_EMBEDDINGS
from graphmover.parameters import PARAMETERS, check_parameters, require_allowed

DEFAULTS = {name: parameter.default for name, parameter in PARAMETERS.items()}


def test_the_table_is_the_signature():
    signature = inspect.signature(gm.RandomGraphEmbedding).parameters
    assert {name: p.default for name, p in signature.items()} == DEFAULTS
    assert list(signature) == list(PARAMETERS)
    documented = inspect.getdoc(gm.RandomGraphEmbedding)
    for name in PARAMETERS:
        assert f"\n{name} : " in documented


def test_defaults_are_allowed():
    check_parameters(DEFAULTS)


def test_names_come_from_the_registries():
    assert PARAMETERS["node_embedding"].rule.names == tuple(NODE_EMBEDDINGS)
    assert set(PARAMETERS["device"].rule.names) == {"auto", *BACKENDS}


@pytest.mark.parametrize(
    "name, allowed, rejected",
    [
        ("n_components", [1, np.int32(7)], [0, -1, 1.0, True, "1", None, np.nan]),
        ("wl_iterations", [0, np.int64(3)], [-1, 0.5, False]),
        (
            "gamma",
            ["scale", "2*scale", "0.5 * scale", 1, 0.5, np.float32(2)],
            [
                "auto",
                "x*scale",
                "0*scale",
                "inf*scale",
                "*scale",
                0,
                -1,
                np.inf,
                np.nan,
                True,
                10**400,
            ],
        ),
        ("use_node_labels", [True, False, np.True_, "auto"], [0, 1, None, "yes"]),
        (
            "node_embedding",
            ["degree", None, lambda batch: [], ["degree"], ["labels", ("structure", np.int32(2))]],
            ["spectral", 3, ["laplacian", "spectral"], [], "", "labels,labels"],
        ),
        (
            "node_embedding",
            ["labels:4, structure", "labels:1e-3", [["labels", 0.5]]],
            ["labels:", "labels:x", "labels:0", "labels:nan", "labels:1:2", ["labels", 4]]
            + [[("labels", weight)] for weight in (0, -1, np.inf, "2", True, None, 10**400, [1])],
        ),
        ("smoothing", [0, np.int64(3), 100], [-1, 0.5, True, None, 101]),
        ("max_random_nodes", [1, None, np.int64(3)], [0, "whole", 1.5]),
        ("wl_depths", ["last", "all"], [None, "first", 2]),
        ("label_weight", [1, 0.5, np.float32(2)], [0, -1, np.inf, "scale", True, None]),
        ("use_edge_labels", [True, False, "auto"], [None, "yes"]),
        ("partial", [True, np.False_], [None, "yes", 0, 7]),
        ("spread_anchors", [False, np.True_], [None, 2]),
        ("node_mass", ["equal"], ["weight", None, lambda batch: []]),
        ("n_jobs", [None, 1, -1, np.int64(2)], [0, 1.5, "2", True]),
        ("verbose", [True, False, 2, np.False_], ["yes", None, 0.5]),
    ],
)
def test_rules(name, allowed, rejected):
    for value in allowed:
        require_allowed(name, value)
    for value in rejected:
        with pytest.raises(ValueError, match=f"^{name} must be .*, got "):
            require_allowed(name, value)


def test_the_table_imports_nothing_slow():
    program = "import sys, graphmover.parameters; print('numpy' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "False\n"
