"""Reading the documents that definitions name, from where the operator allows it."""
