"""What is wrong with a definition that has the right form? One rule per file, each citing what it enforces."""
