"""Where Algorithm 1 runs: threads of the processor, or a GPU."""
