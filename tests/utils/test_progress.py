"""Progress bars: seen by those who watch a terminal, and by nobody else."""

import logging
import subprocess
import sys
import time

import pytest

from graphmover._utils.messages import logger, tell, timed
from graphmover._utils.progress import each, progress_bar


def test_a_bar_on_a_terminal_counts(capsys, terminal):
    with progress_bar("reading", 4, done=1) as bar:
        bar.note("the last part")
        bar.advance(3)
    shown = capsys.readouterr()
    assert "reading:  25%" in shown.err and "4/4" in shown.err and "the last part" in shown.err
    assert list(each([1, 2], "items")) == [1, 2]
    assert "items: 100%" in capsys.readouterr().err
    assert shown.out == ""


@pytest.mark.slow
def test_a_slow_step_moves_every_second(capsys, terminal):
    with progress_bar("solving", 2):
        time.sleep(2.3)
    assert {"[00:00<", "[00:01<", "[00:02<"} <= {
        part for part in capsys.readouterr().err.replace("?", " ").split() if "<" in part
    }


@pytest.mark.parametrize("why", ["no terminal", "no title", "not wanted"])
def test_no_bar_without_anyone_to_see_it(capsys, monkeypatch, request, why):
    if why != "no terminal":
        request.getfixturevalue("terminal")
    if why == "not wanted":
        monkeypatch.setattr(logger, "level", logging.WARNING)
        logger.manager._clear_cache()
    title = None if why == "no title" else "reading"
    with progress_bar(title, 2) as bar:
        bar.advance(2)
        bar.note("x")
    assert capsys.readouterr() == ("", "")
    logger.manager._clear_cache()


def test_one_bar_for_a_step_within_another(capsys, terminal):
    with progress_bar("outer", 2) as outer, progress_bar(outer, 2) as inner:
        inner.advance(2)
    shown = capsys.readouterr().err
    assert "outer: 100%" in shown


def test_what_is_told_to_those_who_watch_is_kept_for_debugging(caplog):
    caplog.set_level(logging.DEBUG, logger="graphmover")
    tell("%d rows", 3, shown=True)
    tell("%d graphs", 4, shown=False)
    with timed("reading %s", "x.smi"):
        pass
    levels = [(record.levelname, record.getMessage()) for record in caplog.records]
    assert levels[:2] == [("INFO", "3 rows"), ("DEBUG", "4 graphs")]
    assert levels[2] == ("DEBUG", "reading x.smi took 0.00 s")


#: A bar and a message, in a process that leaves at once, as after Ctrl-C.
LEAVING = """
import multiprocessing, os
from graphmover._utils import progress
from graphmover._utils.messages import logger

multiprocessing.set_start_method("spawn")  # as on macOS; Python 3.14 does not fork either
progress._has_screen = lambda: True
with progress.progress_bar("working", 2) as bar:
    bar.advance()
    logger.info("half of it")
    os._exit(0)
"""


def test_nothing_is_left_for_python_to_complain_about():
    command = [sys.executable, "-c", LEAVING]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    assert "graphmover: half of it" in shown and "working" in shown
    assert "leaked" not in shown
