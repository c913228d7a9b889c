"""The Serverless Workflow specification: 0.8 and the text after it."""
