"""The models of definitions, for tests of what reads them."""

from typing import Any

from swf_temporal.languages.loading import check, load
from swf_temporal.languages.port import Checked, Definition
from swf_temporal.languages.serverless_workflow.definition import ServerlessWorkflowDefinition
from swf_temporal.languages.serverless_workflow.execution.program import Program
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow


def model_of(definition: Definition | None) -> Workflow:
    assert isinstance(definition, ServerlessWorkflowDefinition)
    return definition.workflow


def load_model(*args: Any, **options: Any) -> Workflow:
    return model_of(load(*args, **options))


def load_program(*args: Any, **options: Any) -> Program:
    definition = load(*args, **options)
    assert isinstance(definition, ServerlessWorkflowDefinition)
    return definition.program


def checked_model(checked: Checked) -> Workflow:
    return model_of(checked.definition)


def found(code: str, text: str) -> list[str]:
    """Return the problems of one code in a definition, as `line:column severity message | hint`."""
    return [
        f"{one.position.line}:{one.position.column} {one.severity} {one.message}"
        + (f" | {one.hint}" if one.hint else "")
        for one in check(text).problems
        if one.code == code
    ]
