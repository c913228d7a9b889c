"""From a document to the model, or to what is wrong with its form."""
