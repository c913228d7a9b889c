"""Definition languages: each is a package that reads, checks and interprets its definitions."""
