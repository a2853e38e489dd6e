"""Pictures of graphs: positions, molecules, figures."""
