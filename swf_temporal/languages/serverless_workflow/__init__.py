"""The Serverless Workflow specification: 0.8 and the text that follows it."""
