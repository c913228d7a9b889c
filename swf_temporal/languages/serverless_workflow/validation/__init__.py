"""What is wrong with a definition that has the right form: one rule a file."""
