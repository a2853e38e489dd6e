"""Beyond one machine: a source cut into units of work, and a folder of parts.

`transform_to` runs the units on processes, on a Dask cluster or on Ray. docs/distributed.md
explains how, and what is guaranteed.
"""

from graphmover.distributed.arrow_map import ArrowMap
from graphmover.distributed.driver import Written, transform_to
from graphmover.distributed.sampling import fit

__all__ = ["ArrowMap", "Written", "fit", "transform_to"]
