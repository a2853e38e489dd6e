"""Units one after the other, in the calling process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from graphmover.distributed.engines.protocol import Runs, Work
from graphmover.distributed.running import Done


class Serial:
    """Runs units in the calling process."""

    def run(self, task: Runs, work: Sequence[Work]) -> Iterator[Done]:
        """Yield units as they are committed."""
        for unit, file in work:
            yield task(unit, file)
