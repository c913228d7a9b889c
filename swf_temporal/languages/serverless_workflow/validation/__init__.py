"""The rules for definitions that have the right form: one per file."""
