"""A program together with what runs it."""

from collections.abc import Mapping
from typing import Any

from swf_temporal.languages.serverless_workflow.execution.execution import Execution
from swf_temporal.languages.serverless_workflow.execution.frames import InstanceFrame
from swf_temporal.languages.serverless_workflow.execution.program import Program
from swf_temporal.runtime.run import Run


class PreparedProgram(Program):
    """A program that runs can be begun with."""

    def begin(self, run: Run, frame: Mapping[str, Any] | None) -> Execution:
        """Return what runs for *run*, going on from the *frame* of an execution before."""
        return Execution(self, run, InstanceFrame() if frame is None else InstanceFrame.from_json(frame))
