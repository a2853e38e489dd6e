"""Algorithm 1, lines 1-2: graphs as weighted sets of points."""
