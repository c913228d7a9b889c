"""The modules that programs import: workers, plugins, and servers."""
