"""The transport engine for the processor: flat arrays in, distances out."""
