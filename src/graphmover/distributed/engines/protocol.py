"""What an engine does: run units on workers, and say which are done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from graphmover.distributed.running import Done
from graphmover.distributed.unit import SourceFile, Unit

#: A unit and the file that it is a part of.
Work = tuple[Unit, SourceFile]

#: A unit that has lost its worker this many times counts as the cause.
MOST_LOSSES = 5


class Runs(Protocol):
    """Computes and commits one unit, in whichever process."""

    def __call__(self, unit: Unit, file: SourceFile, /) -> Done:
        """Return what there is to tell about it."""


class Engine(Protocol):
    """Runs units on workers."""

    def run(self, task: Runs, work: Sequence[Work]) -> Iterator[Done]:
        """Yield units as they are committed, in any order.

        A unit whose worker is lost is given to another. An error that a unit raises is raised;
        then, and when the iterator is closed, no further unit is started.
        """


def lost_too_often(unit: Unit, file: SourceFile, n_losses: int) -> RuntimeError:
    """Return the error about a unit that ends its workers."""
    return RuntimeError(
        f"unit {unit.number} ({file.path}, {unit.rows} graphs) lost its worker "
        f"{n_losses} times. "
        f"If it was killed for lack of memory, pass a smaller batch_size or unit_rows"
    )
