"""Definition languages: each is a package that reads, checks and interprets definitions of its own."""
