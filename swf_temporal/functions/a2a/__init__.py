"""A2A: agents of the Agent2Agent protocol."""
