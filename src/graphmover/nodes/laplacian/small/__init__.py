"""Eigenvectors of graphs that are solved as dense matrices."""
