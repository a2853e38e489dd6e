import pytest

from graphmover.transport.cpu import engine


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
