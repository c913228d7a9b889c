"""From a text to the model."""
