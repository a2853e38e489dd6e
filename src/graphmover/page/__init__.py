"""One self-contained HTML page about a collection of graphs."""
