"""All settings: each is one field of a section, read from the configuration and the environment."""
