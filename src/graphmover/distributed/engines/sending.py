"""Objects of graphmover on their way to workers that may not have it.

Dask and Ray unpickle what they send before they call it. Where graphmover is missing, or has
another version, that fails within Dask or Ray: a Dask worker ends, and its unit ends the next one;
an actor of Ray counts as lost. So objects travel as bytes, and a function that travels by value
unpickles them and tells what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def unpickler() -> Callable[[bytes], Any]:
    """Return a function that unpickles; local, so that it is sent by value and not by its name."""

    def unpickled(content: bytes) -> Any:
        import pickle
        import socket

        try:
            return pickle.loads(content)
        except (AttributeError, ImportError) as error:
            raise RuntimeError(
                f"a worker on {socket.gethostname()} cannot load graphmover as the driver has it "
                f"({error}): install the driver's version on all workers"
            ) from error

    return unpickled
