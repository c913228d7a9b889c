"""The program: all that is computed once for a definition, and shared by its runs."""

from collections.abc import Mapping
from typing import Any

from swf_temporal.expressions.json_schema import DataSchemaValidator
from swf_temporal.expressions.structured import StructuredJq
from swf_temporal.languages.direktiv.compat import compat_of
from swf_temporal.languages.direktiv.execution.data import instance_data
from swf_temporal.languages.direktiv.execution.execution import DirektivExecution
from swf_temporal.languages.direktiv.execution.frames import InstanceFrame
from swf_temporal.languages.direktiv.model.states import State
from swf_temporal.languages.direktiv.model.workflow import Function, Workflow
from swf_temporal.languages.direktiv.schemas import validator_of
from swf_temporal.runtime.run import Run
from swf_temporal.text.located import plain


class DirektivProgram:
    def __init__(self, workflow: Workflow, id_: str, semantics: int) -> None:
        self.workflow = workflow
        self.id = id_
        self.semantics = semantics
        self.compat = compat_of(workflow.compat)
        self.jq = StructuredJq(null_fails=self.compat.null_fails, several=self.compat.several)
        self.states: dict[str, State] = {state.id: state for state in workflow.states}
        self.functions: dict[str, Function] = {function.id: function for function in workflow.functions}
        self._schemas: dict[str, DataSchemaValidator] = {}

    def begin(self, run: Run, frame: Mapping[str, Any] | None) -> DirektivExecution:
        begun = InstanceFrame(instance_data(run.input), self.workflow.first)
        return DirektivExecution(self, run, begun if frame is None else InstanceFrame.from_json(frame))

    def schema(self, state: str, schema: Any) -> DataSchemaValidator:
        """Return the JSON Schema of a `validate` state. Raises BadSchema."""
        if state not in self._schemas:
            self._schemas[state] = validator_of(plain(schema))
        return self._schemas[state]
