"""Progress bars on standard error.

They are shown on a terminal or in a notebook, as long as the logger ``graphmover`` shows messages,
and move at least once a second, so that slow steps can be told from a hanging program.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from typing import Any, TypeVar

from graphmover._utils.bars import ThreadBar
from graphmover._utils.messages import logger

T = TypeVar("T")

_SECONDS_BETWEEN_MOVES = 1.0


class Bar:
    """A progress bar, or nothing where none is shown."""

    def __init__(self, bar: Any = None) -> None:
        self._bar = bar

    def advance(self, n: int = 1) -> None:
        """Count further items as done."""
        if self._bar is not None:  # even a disabled bar takes tqdm's lock
            self._bar.update(n)

    def note(self, text: str) -> None:
        """Show what is being done behind the bar."""
        if self._bar is not None:
            self._bar.set_postfix_str(text)


#: The title of a new bar, a bar that is shown already, or None: no bar.
Progress = str | Bar | None


@contextmanager
def progress_bar(
    progress: Progress, total: int | None = None, *, unit: str = "graph", done: int = 0
) -> Iterator[Bar]:
    """Show a progress bar while the block runs; the block advances it.

    Parameters
    ----------
    progress : str, Bar or None
        The title; or a bar that is shown already and counts the same items: then none is added.
    total : int, optional
        How many items there are, if that is known.
    done : int
        How many of them an earlier run has done: they do not count for the speed.
    """
    if isinstance(progress, Bar):
        yield progress
    elif progress is None or not is_shown():
        yield Bar()
    else:
        options = {"unit": unit, "initial": done, "dynamic_ncols": True}
        with ThreadBar(total=total, desc=progress, **options) as bar, _refreshing(bar):
            yield Bar(bar)


def each(items: Iterable[T], progress: Progress, *, unit: str = "it") -> Iterator[T]:
    """Yield the items, with a progress bar if it has a title."""
    total = len(items) if isinstance(items, Sized) else None
    with progress_bar(progress, total, unit=unit) as bar:
        for item in items:
            yield item
            bar.advance()


def is_shown() -> bool:
    """Tell whether there is someone to watch."""
    return _has_screen() and logger.isEnabledFor(logging.INFO)


def _has_screen() -> bool:
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    return is_terminal or "ipykernel" in sys.modules


@contextmanager
def _refreshing(bar: Any) -> Iterator[None]:
    """Redraw a bar every second, whether or not it advances: its clock does."""
    ended = threading.Event()

    def redraw() -> None:
        while not ended.wait(_SECONDS_BETWEEN_MOVES):
            bar.refresh()

    thread = threading.Thread(target=redraw, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
