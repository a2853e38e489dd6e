"""The dense solver, for small graphs."""
