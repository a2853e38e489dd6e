"""Compiled code: made once on a machine, before its workers start.

Of several processes that need the same kernel, one compiles it, under a lock, and the others wait
and load it (`_utils/kernel_cache.py`). So workers elsewhere compile once per machine, or once per
cluster if NUMBA_CACHE_DIR is shared. On the driver's machine the driver does it before there are
any.
"""

from __future__ import annotations

from graphmover._utils.cuda import gpu_available
from graphmover.distributed.running import opened
from graphmover.distributed.unit import Job, SourceFile, Unit
from graphmover.io.reading import BadGraphs

#: Graphs that the driver embeds: enough to meet the usual sizes.
_GRAPHS = 256


def warm(job: Job, unit: Unit, source: SourceFile) -> None:
    """Embed the first graphs of a unit, and discard them."""
    embedder, batches = opened(job, unit, source, _GRAPHS, BadGraphs("skip", []))
    if embedder.model.device == "cuda" and not gpu_available():
        return  # its workers may have one
    for rows in batches:
        embedder(rows)
        break
