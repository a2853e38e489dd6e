"""Messages for users: the logger ``graphmover``.

They go where the application's logging sends them; where that is not set up, to standard error.
``logging.getLogger("graphmover").setLevel("WARNING")`` leaves out those about compiling.
"""

from __future__ import annotations

import logging
import sys

logger = logging.getLogger("graphmover")


class _StandardError(logging.Handler):
    """Prints messages, unless the application has handlers of its own."""

    def emit(self, record: logging.LogRecord) -> None:
        if not logging.getLogger().handlers:
            print(f"graphmover: {record.getMessage()}", file=sys.stderr, flush=True)


logger.addHandler(_StandardError())
if logger.level == logging.NOTSET:
    logger.setLevel(logging.INFO)
