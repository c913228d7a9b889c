"""What scenario files say, as pydantic models: what a file may hold, and what is not a form of it."""
