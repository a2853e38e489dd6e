import signal
from fnmatch import fnmatch
from importlib.util import find_spec

import pytest

from graphmover.transport.cpu import engine

#: Docstrings whose examples need a library that may be missing.
EXAMPLES_WITH = {
    "torch_geometric": ["*/rivals/neural/*.py"],
    "grakel": ["*/rivals/grakel_kernel.py"],
    "gensim": ["*/rivals/graph2vec.py", "*/rivals/deep_graph_kernel.py"],
    "netlsd": ["*/rivals/heat_trace.py"],
    "ot": ["*/rivals/templates.py"],
}


# A test run in the background of a script ignores Ctrl-C, and so would the commands it starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


class ExamplesOfMissingLibraries:
    def pytest_ignore_collect(self, collection_path):
        missing = [name for name in EXAMPLES_WITH if find_spec(name) is None]
        files = [pattern for name in missing for pattern in EXAMPLES_WITH[name]]
        return any(fnmatch(collection_path.as_posix(), pattern) for pattern in files) or None


def pytest_configure(config):
    """Not as a hook of this file, which would not see the files in src."""
    config.pluginmanager.register(ExamplesOfMissingLibraries())


@pytest.fixture(autouse=True, scope="session")
def all_copies_of_the_engine():
    """Test each compiled copy, not the one that a first run makes do with."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "_WORTH_A_COPY", 0.0)
        yield


@pytest.fixture(autouse=True, scope="session")
def cache_of_its_own(tmp_path_factory):
    """Parsed sets are kept between tests, not between test runs."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pooch.os_cache", lambda project: folder / project)
        yield


@pytest.fixture
def terminal(monkeypatch):
    """Let standard error pass for a terminal."""
    monkeypatch.setattr("graphmover._utils.progress._has_screen", lambda: True)
