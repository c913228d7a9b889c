"""Helper processes with limits, for work that might not end or might take all memory."""
