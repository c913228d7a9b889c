"""What may take for ever, or all memory, runs in helper processes with limits."""
