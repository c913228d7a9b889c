"""Run Serverless Workflow definitions durably on Temporal.

Nothing heavy is imported here: every worker and every start of a sandboxed workflow pays for this module.
"""

__version__ = "0.1.0"
