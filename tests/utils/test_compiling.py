"""Messages about compiling: one per kernel, through logging, and none if they are not wanted."""

import logging
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from graphmover._utils.compiling import notify_if_compiling


def busy_kernel(cache_path="folder"):
    stats = SimpleNamespace(cache_misses={"signature": 1}, cache_path=cache_path)
    return SimpleNamespace(stats=stats, py_func=None)


@pytest.mark.parametrize(
    ("cache_path", "how"), [("folder", "once; it is cached"), (None, "it is not cached")]
)
def test_threads_that_wait_for_one_kernel_show_one_message(caplog, cache_path, how):
    what = f"a kernel of this test, cached in {cache_path}"

    def wait():
        with notify_if_compiling(busy_kernel(cache_path), what):
            time.sleep(1.5)

    threads = [threading.Thread(target=wait) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("graphmover", "INFO")
    assert record.getMessage() == f"compiling {what} ({how}) ..."


def test_messages_can_be_silenced(caplog, capsys):
    caplog.set_level(logging.WARNING, logger="graphmover")
    with notify_if_compiling(busy_kernel(), "a kernel that nobody wants to hear of"):
        time.sleep(1.2)
    assert not caplog.records and capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("setup", "shown"),
    [
        ("", "graphmover: a message\n"),
        ("logging.basicConfig(format='mine: %(message)s')", "mine: a message\n"),
        ("logging.getLogger('graphmover').setLevel('WARNING')", ""),
    ],
)
def test_messages_go_where_the_application_sends_them(setup, shown):
    code = f"import logging; {setup}\nfrom graphmover._utils.messages import logger\n"
    command = [sys.executable, "-c", code + "logger.info('a %s', 'message')"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stderr == shown


def test_a_kernel_that_is_not_compiled_is_an_error():
    no_compiler = pytest.raises(RuntimeError, match="NUMBA_DISABLE_JIT: unset it")
    with no_compiler, notify_if_compiling(lambda: None, "nothing"):
        pass
