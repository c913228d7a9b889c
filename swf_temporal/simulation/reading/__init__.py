"""What does a file of scenarios say? From its text to scenarios, strictly."""
