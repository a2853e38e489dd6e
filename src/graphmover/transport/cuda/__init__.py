"""The transport engine for NVIDIA GPUs: flat arrays in, distances out."""
