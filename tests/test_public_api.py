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
    tree = ast.parse(Path(gm.__file__).read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {alias.name for node in block.body for alias in node.names}
    assert seen == set(gm.__all__)


def test_everything_public_is_documented_with_an_example():
    for name in gm.__all__:
        assert ">>> " in inspect.getdoc(getattr(gm, name)), name


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="module 'graphmover' has no attribute 'embed'"):
        _ = gm.embed


def modules_after(code):
    program = f"{code}; import sys; print(*sys.modules)"
    return set(subprocess.check_output([sys.executable, "-c", program], text=True).split())


def packages(modules):
    return {name.partition(".")[0] for name in modules} - set(sys.stdlib_module_names)


def test_import_loads_no_more_than_numba_and_scikit_learn():
    """Counted, not timed: what is loaded decides how long an import takes."""
    everything = "import graphmover as gm; [getattr(gm, name) for name in gm.__all__]"
    more = modules_after(everything) - modules_after("import numba, sklearn.base")
    assert packages(more) == {"graphmover", "tqdm"}


def test_import_alone_loads_nothing_but_names():
    own = modules_after("import graphmover") - modules_after("pass")
    assert packages(own) == {"graphmover"}
