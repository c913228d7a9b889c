"""Language server: diagnostics, completion and other editor features for definitions."""
