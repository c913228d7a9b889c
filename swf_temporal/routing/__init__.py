"""Where an event goes: which instances it starts, and which may take it."""
