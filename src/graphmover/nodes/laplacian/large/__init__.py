"""The sparse solver, for large graphs."""
