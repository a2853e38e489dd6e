import pytest


@pytest.fixture(autouse=True, scope="session")
def cache_of_its_own(tmp_path_factory):
    """Parsed sets are kept between tests, not between test runs."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pooch.os_cache", lambda project: folder / project)
        yield
