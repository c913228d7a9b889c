"""The drafts before 0.5: each has a model of its own, and is lowered to the common one."""
