"""Helpers that know nothing of graphs: checks, files, threads, compilers."""
