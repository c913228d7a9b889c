"""Arguments with secrets, filled where a call is performed, by the language in which its definition is written."""

from collections.abc import Iterator, Mapping

from swf_temporal.data import JSON
from swf_temporal.errors import WorkflowFault
from swf_temporal.languages.known import language_named
from swf_temporal.runtime.host import FunctionCall


def filled(call: FunctionCall, secrets: Mapping[str, JSON]) -> JSON:
    """Return the arguments of *call*, those that mention secrets filled: where it is performed, never in a workflow.

    What such an argument fails on is not told: that would be a secret, or what was made of one.
    """
    if call.secret_template is None:
        return call.arguments
    try:
        return language_named(call.language).fill(call.secret_template, secrets)
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
