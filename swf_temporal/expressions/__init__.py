"""What `${ … }` means: deterministic, without input or output of its own."""
