"""What programs import: workers, plugins, and what serves them."""
