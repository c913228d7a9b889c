"""Evaluation of expressions in a workflow's own parameters, for one run.

Its name and version, its timeouts and its retries may contain expressions, which see only the workflow's input (section
"Workflow Expressions"). They are evaluated when a run begins; a run that is resumed evaluates them again, to the same
values. Constants and metadata are static: `${` in them is kept as it is.

The functions and credentials that a definition names are converted to those of the port with the same parameters.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

from pydantic.alias_generators import to_camel

from swf_temporal.base import calls
from swf_temporal.base.calls import PRIORITIES
from swf_temporal.base.data import JSON
from swf_temporal.base.durations import parse_duration
from swf_temporal.base.errors import WorkflowFault, WrongData
from swf_temporal.expressions.compiled import Several
from swf_temporal.expressions.evaluation import NOTHING
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.model.workflow import (
    Auth,
    AuthRef,
    Function,
    Retry,
    Workflow,
    WorkflowExecTimeout,
    WorkflowTimeouts,
)

if TYPE_CHECKING:
    from swf_temporal.languages.serverless_workflow.execution.program import Program


def describe_value(value: Any, limit: int = 80) -> str:
    """Return a short description of *value*, for messages."""
    kinds = {dict: "an object", list: "an array", str: "a text", bool: "a boolean", type(None): "null"}
    kind = kinds.get(type(value), "a number")
    text = repr(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
    return f"{kind} {text[:limit]}".rstrip()


def functions_of(workflow: Workflow) -> list[calls.Function]:
    """Return the functions that *workflow* defines, in the order written."""
    return [function_of(one) for one in workflow.functions]


def function_of(function: Function) -> calls.Function:
    return calls.Function(
        function.name, function.type, function.operation, _reference(function.auth_ref), function.metadata
    )


def priority_of(function: calls.Function) -> int | None:
    """Return the priority that the metadata of *function* set for its calls; None if they set none."""
    value = function.metadata.get("priority")
    return value if is_priority(value) else None


def is_priority(value: JSON) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value in PRIORITIES


def is_long_running(function: calls.Function) -> bool:
    """Return True if the metadata of *function* say that a call of it may outlast an execution of the run."""
    return truth_of(function.metadata.get("longRunning")) is True


def locality_of(function: calls.Function) -> bool | None:
    """Return whether the metadata of *function* request local calls; None if they do not say."""
    return truth_of(function.metadata.get("local"))


def takes_any_status(function: calls.Function) -> bool:
    """Return True if the metadata of *function* say that it succeeds with any response status."""
    return truth_of(function.metadata.get("failOnStatusCode")) is False


def returns_variables(function: calls.Function) -> bool:
    """Return True if the metadata of *function*, a script, say that its result is an object of all its variables."""
    return function.metadata.get("returnsVariables") is True


def truth_of(value: JSON) -> bool | None:
    """Return the value of a switch in metadata, which may be a text; None if it is neither true nor false."""
    if isinstance(value, str):
        # In the specification, metadata values are texts (section "Workflow Metadata").
        value = {"true": True, "false": False}.get(value.strip().lower())
    return value if isinstance(value, bool) else None


def auth_of(auth: Auth) -> calls.Auth:
    return calls.Auth(auth.name, auth.scheme, auth.properties)


def _reference(reference: AuthRef | None) -> calls.AuthRef | None:
    return None if reference is None else calls.AuthRef(reference.resource, reference.invocation)


def with_shared_auth(functions: Iterable[calls.Function]) -> dict[str, calls.Function]:
    """Return *functions* by name; functions without credentials for fetching their document share those of the first.

    One function names the credentials for all functions of the same document (section "AuthRef Definition").
    """
    known = {function.name: function for function in functions}
    resources: dict[str, str] = {}
    for function in known.values():
        document, reference = _document(function), function.auth_ref
        if document is not None and reference is not None and reference.resource is not None:
            resources.setdefault(document, reference.resource)
    return {name: _authorised(function, resources) for name, function in known.items()}


def _authorised(function: calls.Function, resources: dict[str, str]) -> calls.Function:
    own = function.auth_ref or calls.AuthRef()
    shared = resources.get(_document(function) or "")
    if shared is None or own.resource is not None:
        return function
    return replace(function, auth_ref=replace(own, resource=shared))


def _document(function: calls.Function) -> str | None:
    """Return the part of the function's operation before the first number sign."""
    if function.type == "expression" or not isinstance(function.operation, str):
        return None
    document, sign, _ = function.operation.partition("#")
    return document.strip() if sign else None


_N = TypeVar("_N", bound=Node)
_Reading = Callable[[JSON], str | int | float]


def has_open_parameters(workflow: Workflow) -> bool:
    return any(
        isinstance(value, str) and "${" in value
        for node in _nodes(workflow)
        for value in (getattr(node, name) for name in _PARAMETERS[type(node)])
    )


def for_run(program: "Program", data: JSON, variables: Mapping[str, JSON]) -> "Program":
    """Return *program* with its parameters evaluated for a run whose input is *data*.

    Raises WrongData if a parameter evaluates to an invalid value, and ExpressionFailed.
    """

    def filled(node: _N, what: str) -> _N:
        changes = {}
        for name, reading in _PARAMETERS[type(node)].items():
            text = getattr(node, name)
            if isinstance(text, str) and "${" in text:
                changes[name] = _value(
                    f"{what}{to_camel(name)}", reading, program.expressions.template(text), data, variables
                )
        return node.model_copy(update=changes)

    workflow = filled(program.workflow, "the workflow's ")
    timeouts = filled(workflow.timeouts, "timeouts: ")
    limit = timeouts.workflow_exec_timeout
    if limit is not None:
        timeouts = timeouts.model_copy(update={"workflow_exec_timeout": filled(limit, "workflowExecTimeout: ")})
    retries = tuple(filled(retry, f"retry {retry.name!r}: ") for retry in workflow.retries)
    return program.with_workflow(workflow.model_copy(update={"timeouts": timeouts, "retries": retries}))


def _nodes(workflow: Workflow) -> Iterator[Node]:
    yield workflow
    yield workflow.timeouts
    if workflow.timeouts.workflow_exec_timeout is not None:
        yield workflow.timeouts.workflow_exec_timeout
    yield from workflow.retries


def _value(what: str, reading: _Reading, compiled: Any, data: JSON, variables: Mapping[str, JSON]) -> str | int | float:
    try:
        yielded = compiled(data, variables)
    except WorkflowFault as fault:
        raise WorkflowFault.from_json({**fault.to_json(), "message": f"{what}: {fault.message}"}) from None
    value: JSON = None if yielded is NOTHING else list(yielded) if isinstance(yielded, Several) else yielded
    try:
        return reading(value)
    except (ValueError, OverflowError):
        raise WrongData(f"{what} yields {describe_value(value)}, which is not valid there") from None


def _text(value: JSON) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError  # noqa: TRY004 - handled like a value of the right type that cannot be read
    return str(value)


def _duration(value: JSON) -> str:
    """Read a duration in ISO 8601, or a number of seconds."""
    text = f"PT{value}S" if isinstance(value, int | float) and not isinstance(value, bool) else value
    if not isinstance(text, str) or parse_duration(text).total_seconds() < 0:
        raise ValueError
    return text


def _number(value: JSON) -> float:
    if isinstance(value, bool) or not isinstance(value, str | int | float) or not 0 <= float(value) < float("inf"):
        raise ValueError
    return float(value)


def _count(value: JSON) -> int:
    if not _number(value).is_integer():
        raise ValueError
    return int(_number(value))


def _jitter(value: JSON) -> str | float:
    """Read a fraction from 0 to 1, or a duration."""
    if isinstance(value, str) and value.startswith(("P", "+P")):
        return _duration(value)
    if _number(value) > 1:
        raise ValueError
    return _number(value)


def _multiplier(value: JSON) -> str | float:
    """Read a factor, or a duration, which is read as an increment."""
    return _duration(value) if isinstance(value, str) and value.startswith(("P", "+P")) else _number(value)


_TIMEOUTS = (
    "state_exec_timeout",
    "single_state_exec_timeout",
    "action_exec_timeout",
    "branch_exec_timeout",
    "event_timeout",
)
_PARAMETERS: Mapping[type[Node], Mapping[str, _Reading]] = {
    Workflow: {"name": _text, "version": _text},
    WorkflowTimeouts: dict.fromkeys(_TIMEOUTS, _duration),
    WorkflowExecTimeout: {"duration": _duration},
    Retry: {
        "delay": _duration,
        "max_attempts": _count,
        "max_delay": _duration,
        "increment": _duration,
        "multiplier": _multiplier,
        "jitter": _jitter,
    },
}
"""The settings that may be expressions, each with the reader of its value."""
