"""Eigenvectors of graphs that are solved as sparse matrices."""
