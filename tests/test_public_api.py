import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import graphmover as gm


def test_all_lists_exactly_what_there_is():
    assert sorted(gm.__all__) == sorted(gm._HOME)
    assert dir(gm) == sorted([*gm.__all__, "__version__"])
    for name in gm.__all__:
        public = getattr(gm, name)
        assert public.__name__ == name
        assert public.__module__.startswith(f"graphmover.{gm._HOME[name]}")


def test_type_checkers_see_the_same_names():
    tree = ast.parse(Path(gm.__file__).read_text())
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {alias.name for node in block.body for alias in node.names}
    assert seen == set(gm.__all__)


def test_everything_public_is_documented_with_an_example():
    for name in gm.__all__:
        assert ">>> " in inspect.getdoc(getattr(gm, name)), name


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="module 'graphmover' has no attribute 'embed'"):
        _ = gm.embed


def seconds_to_run(code):
    """Seconds of the processor: what else it has to do meanwhile is not counted."""
    program = f"import time; t = time.process_time(); {code}; print(time.process_time() - t)"
    return min(float(subprocess.check_output([sys.executable, "-c", program])) for _ in range(3))


@pytest.mark.slow
def test_import_costs_no_more_than_numba_and_scikit_learn():
    everything = "import graphmover as gm; [getattr(gm, name) for name in gm.__all__]"
    assert seconds_to_run(everything) < 1.25 * seconds_to_run("import numba, sklearn.base") + 0.2
    assert seconds_to_run("import graphmover") < 0.1
