"""The table of graphs that could not be read, beside the output of those that could."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from io import StringIO
from pathlib import Path
from types import TracebackType
from typing import Self

from graphmover._utils.files import replacing
from graphmover._utils.messages import warn
from graphmover.io.reading import Skipped, unread


def skipped_path(output: str | os.PathLike[str]) -> Path:
    """Return the path of the table: OUTPUT.skipped.csv."""
    return Path(output).with_name(f"{Path(output).name}.skipped.csv")


@contextmanager
def listing_skipped(
    output: str | os.PathLike[str] | None, errors: str, *, overwrite: bool
) -> Iterator[SkippedFile | None]:
    """List the graphs that are skipped inside the block beside its output, and warn of them.

    None is what the block gets where errors are raised, or no file is written. An earlier list goes
    with the output that is overwritten.
    """
    if output is None or errors not in ("skip", "empty"):
        yield None
        if output is not None and overwrite:
            skipped_path(output).unlink(missing_ok=True)
        return
    with SkippedFile(output) as file:
        yield file
    if file.n_graphs:
        what = unread(file.n_graphs, are_left_out=errors == "skip")
        warn(f"{what}: see {file.path}")


class SkippedFile:
    """A CSV file with the columns ``position``, ``id`` and ``reason``, written as graphs are read.

    It takes the place of an earlier one only when it is finished. A run that is resumed reads its
    source from the beginning, and so writes all of it again.
    """

    def __init__(self, output: str | os.PathLike[str]) -> None:
        self.path = skipped_path(output)
        self.n_graphs = 0
        self._closing = ExitStack()

    def __enter__(self) -> Self:
        self._file = self._closing.enter_context(replacing(self.path))
        self._write(Skipped._fields)
        return self

    def append(self, skipped: Skipped) -> None:
        """Add a line."""
        self._write(skipped)
        self.n_graphs += 1

    def finish(self) -> None:
        """Put the file in its place."""
        self._closing.close()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.__exit__(kind, error, trace)

    def _write(self, fields: tuple[object, ...]) -> None:
        self._file.write(csv_line(fields))


def csv_line(fields: tuple[object, ...]) -> bytes:
    """Return a line of the table."""
    text = StringIO()
    # Before Python 3.13 the writer quotes no "\r" unless it quotes all texts.
    csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n").writerow(fields)
    return text.getvalue().encode("utf-8", "replace")
