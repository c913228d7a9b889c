"""The fields in which expressions may use secrets: inputs of functions and authentication, which are not stored."""

from collections.abc import Iterable

from swf_temporal.languages.serverless_workflow.model.actions import FunctionRef
from swf_temporal.languages.serverless_workflow.model.definitions import Auth, Function
from swf_temporal.languages.serverless_workflow.validation.fields import Field
from swf_temporal.runtime.external_activities import PREFIX


def refusal_of_secrets(field: Field, functions: Iterable[Function]) -> tuple[str, str] | None:
    """Return why $SECRETS cannot be used in *field*, and what to do instead; None if it can."""
    # An expression function, and metadata, are evaluated in the workflow, where the result would be stored.
    in_workflow = isinstance(field.node, Function) and (field.node.type == "expression" or field.key != "operation")
    in_selection = isinstance(field.node, FunctionRef) and field.key == "selectionSet"
    if in_workflow or in_selection or not isinstance(field.node, FunctionRef | Function | Auth):
        hint = "elsewhere they would become data, which is stored and shown: pass the secret to a function"
        return "which only the arguments of a function may", hint
    if not isinstance(field.node, FunctionRef):
        return None
    name = field.node.ref_name
    called = [function for function in functions if function.name == name]
    if any(function.type == "expression" for function in called):
        return "which would become data", f"function {name!r} is an expression: its result is stored and shown"
    if any(_is_activity(function) for function in called):
        # The workflow itself schedules the activity, so secrets would be filled in there.
        hint = f"function {name!r} is an activity of Temporal: its worker must know them itself"
        return "which would store them in the history", hint
    return None


def declaration_of_secrets(names: Iterable[str]) -> str:
    """Return the declaration of the secrets *names*, for a hint."""
    return f"secrets: [{', '.join(names)}]"


def _is_activity(function: Function) -> bool:
    return function.type == "custom" and str(function.operation).strip().startswith(PREFIX)
