"""What editors show and do in definitions while they are written: a language server."""
