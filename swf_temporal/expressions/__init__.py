"""The expressions in `${ … }`: deterministic, without input or output of their own."""
