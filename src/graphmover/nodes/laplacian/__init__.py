"""Absolute values of the normalised Laplacian's smallest eigenvectors, for many graphs.

L = I - D^-1/2 A D^-1/2, read literally: an isolated node has a 1 on the diagonal. Where an
eigenvalue is multiple, its eigenvectors are determined up to rotation only, and their absolute
values would depend on how the nodes are numbered. For an eigenspace of dimension m with
projector P each of its columns is therefore sqrt(diag(P) / m). This is |u| when m = 1, and every
column has length 1.
"""

from __future__ import annotations

from graphmover.nodes.laplacian.solve import DENSE_NODES, smallest_eigenvectors

__all__ = ["DENSE_NODES", "smallest_eigenvectors"]
