"""The drafts before 0.5: each has its own model, and is lowered to the common one."""
