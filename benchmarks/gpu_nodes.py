"""Node embeddings on a GPU beside the CPU: milliseconds, and the largest difference.

Run with GRAPHMOVER_DATA set: ``python benchmarks/gpu_nodes.py``. Times are wall-clock medians of 5
after a warm-up, points left on the device; "up to 350" are data sets without larger graphs.
"""

import os

import cupy as cp
import numpy as np
from gpu import wall_seconds

import graphmover as gm
from graphmover.nodes.masses import node_degrees
from graphmover.nodes.registry import NODE_EMBEDDINGS, Work

DIMENSIONS = 6
DATASETS = (
    ("PROTEINS", None),
    ("DD", 350),
    ("NCI1", None),
    ("ENZYMES", None),
    ("IMDB-BINARY", None),
)


def main():
    print(
        f"{cp.cuda.runtime.getDeviceProperties(0)['name'].decode()}, {os.cpu_count()} CPU cores\n"
    )
    print("| data | graphs | GPU | CPU, all cores | largest difference | same bits twice |")
    print("|---|---|---|---|---|---|")
    on_gpu = NODE_EMBEDDINGS["laplacian"].points_on_gpu
    for name, most in DATASETS:
        graphs, label = gm.load_dataset(name).graphs, name
        if most is not None:
            label = f"{name}, up to {most}"
            graphs = graphs[np.flatnonzero(graphs.node_counts <= most)]
        work = Work(graphs, node_degrees(graphs, 0), DIMENSIONS)

        def on_cpu(graphs=graphs):
            return gm.embed_nodes(graphs, DIMENSIONS, use_node_labels=False, n_jobs=-1)

        expected, points = on_cpu().points, on_gpu(work).get()
        seconds = wall_seconds(lambda work=work: on_gpu(work))
        print(
            f"| {label} | {len(graphs)} | {1e3 * seconds:.1f} ms | "
            f"{1e3 * wall_seconds(on_cpu, 3):.0f} ms | {abs(points - expected).max():.1e} | "
            f"{(on_gpu(work).get() == points).all()} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
