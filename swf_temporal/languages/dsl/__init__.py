"""The language DSL 1.0 of the Serverless Workflow specification, now called Open Workflow Specification."""
