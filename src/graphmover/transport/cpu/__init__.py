"""The transport engine for the CPU: flat arrays in, distances out."""
