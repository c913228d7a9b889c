"""Rule: durations are in ISO 8601 or expressions (sections "Workflow Timeouts" and "Retry Definition")."""

from collections.abc import Iterator, Mapping
from decimal import Decimal

from swf_temporal.base.durations import is_misplaced, parse_duration, what_is_wrong
from swf_temporal.base.errors import Position, Problem
from swf_temporal.languages.serverless_workflow.model import actions, states, workflow
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.validation.context import Context

_TIMEOUTS = {
    "stateExecTimeout": "state_exec_timeout",
    "stateExecTimeout.single": "single_state_exec_timeout",
    "actionExecTimeout": "action_exec_timeout",
    "branchExecTimeout": "branch_exec_timeout",
    "eventTimeout": "event_timeout",
}
_MILLISECONDS = ("MS", "MIL")
_DURATIONS: Mapping[type[Node], Mapping[str, str]] = {
    actions.Action: {"@timeout": "timeout"},
    actions.ActionSleep: {"before": "before", "after": "after"},
    actions.EventRef: {"consumeEventTimeout": "consume_event_timeout"},
    workflow.Retry: {"delay": "delay", "maxDelay": "max_delay", "increment": "increment"},
    states.ContinueAs: {"workflowExecTimeout": "workflow_exec_timeout"},
    states.SleepState: {"duration": "duration"},
    states.StateTimeouts: _TIMEOUTS,
    workflow.WorkflowExecTimeout: {"duration": "duration"},
    workflow.WorkflowTimeouts: _TIMEOUTS,
}


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each text that is not a duration, and a warning for each with a tolerated spelling."""
    for kind, keys in _DURATIONS.items():
        for node, owner in context.nodes.each(kind):
            for key, attribute in keys.items():
                value = getattr(node, attribute)
                if isinstance(value, dict):
                    value = value.get("duration")
                if isinstance(value, str) and "${" not in value:
                    needs_some = key.startswith("stateExecTimeout")
                    yield from _check(context, value, f"{owner}: {key}", node.where.value(key), needs_some=needs_some)


def _check(context: Context, text: str, subject: str, position: Position, *, needs_some: bool) -> Iterator[Problem]:
    try:
        length = parse_duration(text)
    except ValueError as error:
        message = f"{subject} {text!r} {what_is_wrong(error)}"
        yield context.error("duration", message, position, duration_meant(text) or "such as PT15M or P1DT12H")
        return
    if length.total_seconds() < 0:
        yield context.error("duration", f"{subject} {text!r} is negative", position, "write it without the minus sign")
    elif needs_some and not length:
        hint = "write how long it may take, such as PT15M, or leave it out"
        yield context.error("duration", f"{subject} {text!r} has no length", position, hint)
    elif is_misplaced(text):
        message = f"{subject} {text!r} has days or weeks after the T, and is read as if they were before it"
        yield context.warning("tolerated-spelling", message, position, "write them before the T, as in P1DT12H")


def duration_meant(text: str) -> str | None:
    """Return a hint with the likely meaning of `10s`, `5 min`, `500ms` or `P5M30S`."""
    compact = "".join(text.split()).upper()
    number = compact.rstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    unit = compact.removeprefix(number)
    if unit.startswith(_MILLISECONDS):
        return f"did you mean 'PT{Decimal(number) / 1000}S'?" if number.isdigit() else None
    before = "P" if unit[:1] in ("D", "W", "Y") or unit.startswith("MO") else "PT"
    for candidate in (compact, f"PT{compact.removeprefix('P')}", f"{before}{number}{unit[:1] or 'S'}"):
        try:
            parse_duration(candidate)
        except ValueError:
            continue
        if not is_misplaced(candidate):
            return f"did you mean {candidate!r}?"
    return None
