import threading
import time
from types import SimpleNamespace

from graphmover._utils.compiling import telling_if_compiling


def test_threads_that_wait_for_one_kernel_show_one_message(capsys):
    kernel = SimpleNamespace(stats=SimpleNamespace(cache_misses={"signature": 1}))

    def wait():
        with telling_if_compiling(kernel, "a kernel of this test"):
            time.sleep(1.5)

    threads = [threading.Thread(target=wait) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    message = "graphmover: compiling a kernel of this test (once; it is cached) ...\n"
    assert capsys.readouterr().err == message
