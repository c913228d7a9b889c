"""The settings of everything: each is one field of a section, from the configuration and the environment."""
