"""What may not end, or may take all memory, runs in helper processes with limits."""
