"""A program together with what runs it."""

from collections.abc import Mapping
from typing import Any

from swf_temporal.languages.serverless_workflow.execution.execution import Execution
from swf_temporal.languages.serverless_workflow.execution.program import Program
from swf_temporal.runtime.run import Run


class PreparedProgram(Program):
    """A program that runs can be begun with."""

    def begin(self, run: Run, record: Mapping[str, Any]) -> Execution:
        """Return what runs for *run*, going on from what an execution before wrote in *record*."""
        return Execution(self, run, record)
