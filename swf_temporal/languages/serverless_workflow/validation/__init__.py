"""What is wrong with a definition that has the right form? There is one rule per file."""
