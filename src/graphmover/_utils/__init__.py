"""Helpers that do not depend on graphs: checks, files, threads, compilers."""
