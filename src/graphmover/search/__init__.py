"""Nearest graphs, exactly: lower bounds order and exclude candidates, the engine solves the rest.

With shares as masses the earth mover's distance is a metric, so that the distances to R random
graphs, which a model computes anyway, bound every other distance from below. `bounds.py` has this
bound and others that cost nanoseconds a pair; `cascade.py` solves pairs in the order of their
bounds until none that is left can be among the nearest; `library.py` keeps what a search needs of
the graphs. Where the distance has a closed form (labels alone), `labels.py` searches an index of
labels.
"""
