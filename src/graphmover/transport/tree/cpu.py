"""The closed form on the CPU: a graph's labels, one after another, against all graphs at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphmover._utils.compiling import notify_if_compiling
from graphmover._utils.jit import JIT, njit
from graphmover.transport.tree.histograms import Histograms, LabelIndex


def distances(x: Histograms, index: LabelIndex, partial: bool, out: Any) -> None:
    """Fill ``out[i, j]`` with the distance between graph i of x and graph j of the index.

    A graph without nodes is infinitely far.
    """
    scales = np.ones(index.n_graphs) if partial else index.totals
    arguments = (*x, index.n_depths, index.totals, scales, *index[2:], partial, out)
    if not getattr(_distances, "signatures", False):  # not loaded yet
        with notify_if_compiling(_distances, "the closed form for labels"):
            _distances(*arguments)
    else:
        _distances(*arguments)


@njit(**JIT)
def _distances(  # type: ignore[no-untyped-def]
    x_offsets,
    ids,
    x_masses,
    x_totals,
    n_depths,
    totals,
    scales,
    offsets,
    graphs,
    masses,
    row_of,
    rows,
    partial,
    out,
):
    """Add up what is common, times the product of both totals, or as it is if partial."""
    for i in range(len(x_totals)):
        common = out[i]
        if x_totals[i] == 0:
            common[:] = np.inf
            continue
        common[:] = 0
        scale = 1.0 if partial else x_totals[i]
        for entry in range(x_offsets[i], x_offsets[i + 1]):
            label, mass = ids[entry], x_masses[entry]
            if row_of[label] >= 0:
                _add_row(common, mass, scale, rows[row_of[label]], scales)
            else:
                for place in range(offsets[label], offsets[label + 1]):
                    graph = graphs[place]
                    a, b = mass * scales[graph], masses[place] * scale
                    common[graph] += a if a < b else b
        for j in range(len(totals)):
            whole = n_depths * (totals[j] * scale)
            rest = whole - common[j]
            common[j] = (rest if rest > 0 else 0.0) / whole if whole > 0 else np.inf


@njit(**JIT)
def _add_row(common, mass, scale, row, scales):  # type: ignore[no-untyped-def]
    for j in range(len(common)):
        a, b = mass * scales[j], row[j] * scale
        common[j] += a if a < b else b
