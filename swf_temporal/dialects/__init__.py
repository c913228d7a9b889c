"""From text to model: reading YAML and JSON, telling dialects apart, spelling them out as one vocabulary."""
