"""Projects that were made for another runtime: what is in them, and what is written in their place."""
