"""The expressions in `${ … }`: deterministic, without side effects or I/O."""
