"""Running a definition."""
