"""Twin reduction: nodes with the same neighbours share all but a few closed-form eigenvectors.

Open twins are not adjacent and have the same neighbours with the same weights; closed twins are
adjacent and have the same neighbours apart from each other. Twins form classes, and the classes
an equitable partition (Godsil and Royle 2001, chapter 9). On vectors that are supported on one
class of t nodes and sum to zero, the matrix D^-1/2 A D^-1/2 is 0 for open twins and -w/degree
for closed ones: these are t - 1 eigenvectors of the Laplacian with the eigenvalue 1, or
1 + w/degree, whose projector has (t - 1)/t on its diagonal. All other eigenvectors are constant
on classes, and are those of the quotient matrix

    Q[c, c'] = w sqrt(t t') / sqrt(degree degree'),    Q[c, c] = (t - 1) w / degree (closed).

Stars, complete and complete bipartite graphs, whose eigenvalues have multiplicities of almost n,
thus reduce to one or two classes. Closed twins are detected in graphs without weights only.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from graphmover._utils.hashing import GOLDEN, mix64
from graphmover._utils.jit import JIT, njit

#: `mix64`, compiled.
_mixed = njit(**JIT)(mix64)


@njit(**JIT)
def _same_neighbours(u, v, rows, indices, weights):
    """Whether the rows of u and v are equal, each without u and v themselves."""
    i, j = rows[u], rows[v]
    last_i, last_j = rows[u + 1], rows[v + 1]
    if last_i - i != last_j - j:
        return False
    while True:
        # Rows are sorted: skip the one entry by which the rows of closed twins differ.
        if i < last_i and indices[i] == v:
            i += 1
        if j < last_j and indices[j] == u:
            j += 1
        if i == last_i or j == last_j:
            return i == last_i and j == last_j
        if indices[i] != indices[j] or (len(weights) and weights[i] != weights[j]):
            return False
        i += 1
        j += 1


@njit(**JIT)
def _is_weighted(rows, weights):
    """Whether a graph has another weight than 1: in a batch with weights, not all graphs have."""
    return len(weights) > 0 and (weights[rows[0] : rows[-1]] != 1.0).any()


@njit(**JIT)
def twin_classes(rows, indices, weights, class_of, members):
    """Number the classes of twins in the order of their first nodes.

    ``rows`` are the n + 1 row boundaries of one graph in ``indices`` and ``weights``, which
    is empty when all weights are 1. ``class_of[v]`` becomes the class of v, ``members[c]`` its
    size, negative for closed twins, and the first node of each class is returned.
    """
    n = len(rows) - 1
    weighted = _is_weighted(rows, weights)
    codes = np.empty(n, np.uint64)  # hash of a node's row
    leader = np.arange(n)  # first node of a node's class
    size = np.ones(n, np.int64)  # of the class, at its leader; negative: closed twins
    # A hash table of leaders with linear probing, at most half full.
    mask = 1
    while mask < 2 * n:
        mask *= 2
    table = np.full(mask, -1, np.int64)
    mask -= 1
    # The sum of mixed keys is a hash of the set of neighbours.
    for u in range(n):
        code = np.uint64(rows[u + 1] - rows[u])
        for i in range(rows[u], rows[u + 1]):
            key = np.uint64(indices[i] + 1) * GOLDEN
            if weighted:
                key ^= np.uint64(hash(weights[i]))
            code += _mixed(key)
        codes[u] = code
    # Open twins first. In the second pass, each node counts as its own neighbour, so that
    # closed twins have equal hashes; a node cannot have twins of both kinds.
    for closed in range(1 if weighted else 2):
        if closed:
            table[:] = -1
            for u in range(n):
                codes[u] += _mixed(np.uint64(u + 1) * GOLDEN)
        for u in range(n):
            if closed and (leader[u] != u or size[u] > 1):
                continue
            slot = np.int64(codes[u] >> np.uint64(7)) & mask
            while table[slot] >= 0:
                v = table[slot]
                if codes[v] == codes[u] and _same_neighbours(u, v, rows, indices, weights):
                    leader[u] = v
                    # The first closed twin turns the size 1 into -2.
                    size[v] += -1 if closed and size[v] < 0 else (-3 if closed else 1)
                    break
                slot = (slot + 1) & mask
            if table[slot] < 0:
                table[slot] = u
    n_classes = 0
    firsts = np.empty(n, np.int64)
    for u in range(n):
        if leader[u] == u:
            class_of[u] = n_classes
            members[n_classes] = size[u]
            firsts[n_classes] = u
            n_classes += 1
        else:
            class_of[u] = class_of[leader[u]]
    return firsts[:n_classes]


@njit(**JIT)
def twin_eigenvalues(firsts, members, degrees, out):
    """The eigenvalue of each class's own eigenvectors; infinite for a class of one node."""
    for c in range(len(firsts)):
        if abs(members[c]) == 1:
            out[c] = np.inf
        elif members[c] > 0:
            out[c] = 1.0
        else:
            out[c] = 1.0 + 1.0 / degrees[firsts[c]]


@njit(**JIT)
def _entry(weight, degree, other_degree, pairs):
    """Q between two classes, joined by this many pairs of nodes."""
    return weight / (sqrt(degree) * sqrt(other_degree)) * sqrt(pairs)


@njit(**JIT)
def _diagonal_entry(members, degree):
    """Q on its diagonal."""
    return (abs(members) - 1) / degree if members < 0 else 0.0


@njit(**JIT)
def quotient_laplacian(rows, indices, weights, degrees, class_of, members, firsts, out):
    """Fill the dense matrix I - Q."""
    out[:] = 0.0
    for c in range(len(firsts)):
        u, t = firsts[c], abs(members[c])
        out[c, c] = 1.0 - _diagonal_entry(members[c], degrees[u])
        for i in range(rows[u], rows[u + 1]):
            v = indices[i]
            other = class_of[v]
            # The first node represents its class: each pair of classes counts once.
            if firsts[other] == v and other != c:
                weight = weights[i] if len(weights) else 1.0
                pairs = t * abs(members[other])
                out[c, other] = -_entry(weight, degrees[u], degrees[v], pairs)


@njit(**JIT)
def quotient_rows(rows, indices, weights, degrees, class_of, members, firsts):
    """The matrix Q as compressed rows."""
    q, most = len(firsts), 0
    for u in firsts:
        most += rows[u + 1] - rows[u] + 1
    indptr = np.zeros(q + 1, np.int64)
    others, data = np.empty(most, np.int32), np.empty(most)
    k = 0
    for c in range(q):
        u, t = firsts[c], abs(members[c])
        if members[c] < 0:
            others[k], data[k] = c, _diagonal_entry(members[c], degrees[u])
            k += 1
        for i in range(rows[u], rows[u + 1]):
            v = indices[i]
            other = class_of[v]
            if firsts[other] == v and other != c:
                weight = weights[i] if len(weights) else 1.0
                others[k] = other
                data[k] = _entry(weight, degrees[u], degrees[v], t * abs(members[other]))
                k += 1
        indptr[c + 1] = k
    return indptr, others[:k], data[:k]


@njit(**JIT)
def quotient_graph(rows, indices, weights, class_of, members, firsts):
    """The graph of classes as compressed rows, with the weights between two classes summed."""
    q = len(firsts)
    indptr = np.zeros(q + 1, np.int64)
    for c in range(q):
        indptr[c + 1] = indptr[c]
        for i in range(rows[firsts[c]], rows[firsts[c] + 1]):
            other = class_of[indices[i]]
            indptr[c + 1] += other != c and firsts[other] == indices[i]
    neighbours = np.empty(indptr[q], np.int32)
    sums = np.empty(indptr[q])
    for c in range(q):
        k = indptr[c]
        for i in range(rows[firsts[c]], rows[firsts[c] + 1]):
            other = class_of[indices[i]]
            if other != c and firsts[other] == indices[i]:
                neighbours[k] = other
                weight = weights[i] if len(weights) else 1.0
                sums[k] = weight * (abs(members[c]) * abs(members[other]))
                k += 1
    return indptr, neighbours, sums
