"""Collections of graphs, vectors and models as files."""
