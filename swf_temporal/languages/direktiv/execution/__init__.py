"""Running a definition from state to state, within its timeouts."""
