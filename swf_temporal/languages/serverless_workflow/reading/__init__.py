"""From the text of a definition to the model: positions, other spellings, included documents."""
