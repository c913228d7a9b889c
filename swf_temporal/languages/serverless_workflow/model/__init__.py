"""The vocabulary of a definition: frozen models without behaviour, every node knowing where it was written."""
