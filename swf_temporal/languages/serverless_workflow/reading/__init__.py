"""From the text of a definition to the model: positions, other spellings, documents beside the definition."""
