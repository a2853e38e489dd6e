"""Where Algorithm 1 runs: threads of the CPU, or a GPU, behind one protocol (`protocol.py`).

Whatever computes a row takes the same two steps,

    nodes = backend.nodes(batch, recipe)             lines 1-2; they may stay on the device
    backend.distances(nodes, prepared, finish, out)  equation (1)

with the random graphs prepared once, by ``backend.prepare``; `rows.py` does so chunk by chunk.
"""

from __future__ import annotations

from typing import cast

from graphmover._utils.cuda import gpu_available, require_gpu
from graphmover.backends.cuda import CudaBackend
from graphmover.backends.protocol import Backend
from graphmover.backends.threads import ThreadBackend
from graphmover.nodes.embeddings import Nodes
from graphmover.parameters import require_allowed

#: A back end of which nothing more is known. It only ever gets back what it made itself.
AnyBackend = Backend[Nodes, object]

#: Every back end by the name that ``device`` takes.
BACKENDS: dict[str, AnyBackend] = {
    backend.name: cast(AnyBackend, backend) for backend in (ThreadBackend(), CudaBackend())
}

#: With fewer problems all cores may be faster than a GPU (docs/gpu.md).
_WORTH_A_GPU = 10_000


def backend_for(device: str, n_problems: int) -> AnyBackend:
    """Return the back end; "auto" is a GPU if there is one and enough work for it."""
    require_allowed("device", device)
    if device == "auto":
        device = "cuda" if n_problems >= _WORTH_A_GPU and gpu_available() else "cpu"
    elif device == "cuda":
        require_gpu()
    return BACKENDS[device]
