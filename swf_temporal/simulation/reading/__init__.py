"""From the text of a file to scenarios, strictly."""
