"""From a document to the model, or the problems of its form."""
