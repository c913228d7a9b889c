"""The pydantic models of scenario files."""
