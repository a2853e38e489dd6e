import threading
import time
from types import SimpleNamespace

import pytest

from graphmover._utils.compiling import notify_if_compiling


@pytest.mark.parametrize(
    ("cache_path", "how"), [("folder", "once; it is cached"), (None, "it is not cached")]
)
def test_threads_that_wait_for_one_kernel_show_one_message(capsys, cache_path, how):
    stats = SimpleNamespace(cache_misses={"signature": 1}, cache_path=cache_path)
    kernel = SimpleNamespace(stats=stats, py_func=None)
    what = f"a kernel of this test, cached in {cache_path}"

    def wait():
        with notify_if_compiling(kernel, what):
            time.sleep(1.5)

    threads = [threading.Thread(target=wait) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert capsys.readouterr().err == f"graphmover: compiling {what} ({how}) ...\n"


def test_a_kernel_that_is_not_compiled_is_an_error():
    no_compiler = pytest.raises(RuntimeError, match="NUMBA_DISABLE_JIT: unset it")
    with no_compiler, notify_if_compiling(lambda: None, "nothing"):
        pass
