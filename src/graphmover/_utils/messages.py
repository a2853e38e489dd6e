"""Messages for users: the logger ``graphmover``.

They go where the application's logging sends them; where that is not set up, to standard error.
``logging.getLogger("graphmover").setLevel("WARNING")`` leaves out all but warnings, and
progress bars; ``"DEBUG"`` adds each step, and how long it takes.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

logger = logging.getLogger("graphmover")

#: Warnings point to the line that called the library.
_PACKAGE = os.path.join(Path(__file__).parent.parent, "")

#: How many of the last characters of a text are kept.
_ENDING = 5

#: Control characters, surrogates, ends of lines and paragraphs, and what turns the direction of
#: text. Special spaces and joiners, which real ids have, do no harm.
_HARMFUL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028-\u202e\u2066-\u2069]")


class _StandardError(logging.Handler):
    """Prints messages, unless the application has handlers of its own."""

    def emit(self, record: logging.LogRecord) -> None:
        if logging.getLogger().handlers:
            return
        kind = "warning: " if record.levelno == logging.WARNING else ""
        line = printable(f"graphmover: {kind}{record.getMessage()}")
        if "tqdm" in sys.modules:  # above any progress bar
            from graphmover._utils.bars import ThreadBar

            ThreadBar.write(line, file=sys.stderr)
            sys.stderr.flush()
        else:
            print(line, file=sys.stderr, flush=True)


logger.addHandler(_StandardError())
if logger.level == logging.NOTSET:
    logger.setLevel(logging.INFO)


def counted(number: int, noun: str, nouns: str | None = None) -> str:
    """Return a number with its noun: 1 graph, 2 graphs."""
    return f"{number} {noun}" if number == 1 else f"{number} {nouns or noun + 's'}"


def shortened(text: str, most: int) -> str:
    """Return at most so many characters of a text, its last ones too: names often differ there."""
    return text if len(text) <= most else f"{text[: most - 1 - _ENDING]}…{text[-_ENDING:]}"


def printable(text: str) -> str:
    """Return a text on one line, with what could harm a terminal or a table escaped."""
    return _HARMFUL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def tell(message: str, *values: object, shown: bool) -> None:
    """Log a message that is shown where progress is, and kept for debugging elsewhere."""
    logger.log(logging.INFO if shown else logging.DEBUG, message, *values)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning that points to the first caller outside the package and scikit-learn."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _is_internal(frame):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _is_internal(frame: FrameType) -> bool:
    """Tell code of the package, and of scikit-learn, which wraps methods of estimators."""
    module = str(frame.f_globals.get("__name__", ""))
    return frame.f_code.co_filename.startswith(_PACKAGE) or module.startswith("sklearn.")


@contextmanager
def timed(what: str, *values: object) -> Iterator[None]:
    """Log how long a step took, at the level DEBUG."""
    start = time.perf_counter()
    yield
    logger.debug(f"{what} took %.2f s", *values, time.perf_counter() - start)
