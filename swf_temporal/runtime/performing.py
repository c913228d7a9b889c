"""Helpers that hosts share for performing a call and running a sub-workflow."""

from collections.abc import Iterator, Mapping

from swf_temporal.data import JSON
from swf_temporal.errors import (
    CallFailed,
    PayloadTooLarge,
    SchemaMismatch,
    SubflowFailed,
    TooManySubflows,
    WorkflowFault,
)
from swf_temporal.expressions.evaluation import NOTHING, Expressions
from swf_temporal.expressions.structured import StructuredJq
from swf_temporal.runtime.host import FunctionCall, SecretTemplate
from swf_temporal.runtime.limits import MAX_PAYLOAD_BYTES
from swf_temporal.strict_json import json_length

ONE_STEP, ONE_RUN = "one step can carry", "a run can give on"


def check_size(size: int, what: str, most: int = MAX_PAYLOAD_BYTES, advice: str | None = None) -> None:
    """Raise PayloadTooLarge where *size* is more than *what*, such as one step, can carry; *advice* says what to do."""
    if size > most:
        ending = f": {advice}" if advice else ""
        raise PayloadTooLarge(f"{size:,} bytes of data are more than the {most:,} that {what}{ending}")


def check_result(size: int, function: str, most: int = MAX_PAYLOAD_BYTES) -> None:
    """Raise CallFailed, which a definition can handle, where a *function* returned more than one step can carry."""
    if size > most:
        message = f"function {function!r} returned {size:,} bytes of JSON, and {most:,} are the most"
        raise CallFailed(message, code="AnswerTooLarge", retryable=False)


def size_of(value: JSON) -> int:
    """Return how many bytes *value* takes as the plain JSON in which it travels: at least, if these are very many."""
    return json_length(value)


def filled(call: FunctionCall, secrets: Mapping[str, JSON]) -> JSON:
    """Return the arguments of *call*, those that mention secrets filled: where it is performed, never in a workflow.

    What such an argument fails on is not told: that would be a secret, or what was made of one.
    """
    if call.secret_template is None:
        return call.arguments
    given = call.secret_template
    if (jq := StructuredJq.named(given.language)) is not None:
        return _structured(jq, call, given, secrets)
    declared = [name for name in given.variables if not name.startswith("__")]
    template = Expressions(variables=declared, language=given.language).template(given.template)
    try:
        value = template(given.data, {**given.variables, "SECRETS": dict(secrets)})
    except WorkflowFault as fault:
        raise _without_reason(fault, call) from None
    return None if value is NOTHING else value


def _structured(jq: StructuredJq, call: FunctionCall, given: SecretTemplate, secrets: Mapping[str, JSON]) -> JSON:
    """Return the same in structured jq, in which secrets stand under `secrets` of the data."""
    own = given.data if isinstance(given.data, dict) else {}
    data = {**own, "secrets": dict(secrets)}
    try:
        return jq.evaluate(given.template, data, float(str(given.variables["__now"])))
    except WorkflowFault as fault:
        raise _without_reason(fault, call) from None


def _without_reason(fault: WorkflowFault, call: FunctionCall) -> WorkflowFault:
    """Return *fault* without its reason. The expression is shown, as it stands in the definition."""
    template = None if call.secret_template is None else call.secret_template.template
    shown = next((f": {text}" for text in _texts(template) if fault.message.endswith(text)), "")
    message = f"an argument of function {call.function.name!r} that uses secrets cannot be evaluated{shown}"
    text = f"{message} (the reason is not shown, since it could show a secret)"
    return type(fault)(text, name=fault.name, code=fault.code, retryable=fault.retryable)


def _texts(template: JSON) -> Iterator[str]:
    if isinstance(template, str):
        yield template
    elif isinstance(template, list):
        for item in template:
            yield from _texts(item)
    elif isinstance(template, dict):
        yield from _texts(list(template.values()))


def subflow_fault(workflow_id: str, fault: WorkflowFault, *, state_word: str = "state") -> WorkflowFault:
    """Return what a parent sees of a fault that its sub-workflow failed with: its name, code and message.

    The message tells what went wrong where it did, and how many levels down that is. An input that does not fit is
    given again to every attempt, so that no further one can help.
    """
    origin = {"levels": 1, "workflow": workflow_id, "message": fault.message}
    message = f"sub-workflow {workflow_id!r} failed: {fault.message}"
    if fault.origin is not None:
        origin = {**fault.origin, "levels": fault.origin["levels"] + 1}
        where = f"as {origin['workflow']!r} did {origin['levels']} levels down"
        message = f"sub-workflow {workflow_id!r} failed, {where}: {origin['message']}"
    kind = TooManySubflows if isinstance(fault, TooManySubflows) else SubflowFailed
    return kind(
        message,
        name=fault.name,
        code=fault.code,
        status=fault.status,
        body=fault.body,
        retryable=not isinstance(fault, SchemaMismatch) or fault.retryable,
        cause=fault.state and f"{state_word} {fault.state!r} of {workflow_id!r}",
        origin=origin,
    )
