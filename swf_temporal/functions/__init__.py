"""How is a function of a workflow called? Knows services and Python, and no engine."""
