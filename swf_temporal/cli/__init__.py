"""The command line, `swf`. The only package that may import from its neighbouring packages."""
