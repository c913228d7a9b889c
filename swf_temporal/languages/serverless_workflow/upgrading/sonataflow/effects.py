"""Parts that are left as written, and have another effect here."""

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any, Final

from swf_temporal.languages.serverless_workflow.upgrading.trees import (
    Tree,
    UpgradeReport,
    actions,
    called,
    children,
    function_of,
    leavings,
    name_of,
    states,
)
from swf_temporal.text.round_trip import add

_IGNORED: Final = ("actionExecTimeout", "branchExecTimeout", "stateExecTimeout")
_CONSUMING: Final = ("eventRefs", "consumeEventRef", "resultEventRef")
_PRODUCING: Final = ("produceEventRef", "triggerEventRef", "eventRef")
"""The keys of names of produced events; the last also has names of events that states and conditions wait for."""
_ON_CANCEL: Final = "compensateOnCancel"
_GENERAL: Final = ("java.lang.Exception", "java.lang.RuntimeException", "java.lang.Throwable", "*")


def report_differences(root: Tree, report: UpgradeReport) -> None:
    """Report what has another effect, and make explicit what can be, so that it has the same."""
    order = {name_of(state): number for number, state in enumerate(states(root))}
    for state in states(root):
        _state(root, state, order, report)
    for node in leavings(root):
        for way in children(node, "end", "transition"):
            if isinstance(way.get("produceEvents"), list) and len(way["produceEvents"]) > 1:
                report.differs("SonataFlow sends several produceEvents from the last one to the first", None, way)
    _timeouts(root, "the workflow", report)
    _compensation(root, report)
    _timeout_errors(root, report)
    _event_kinds(root, report)
    _actions(root, report)
    _refusals(root, report)
    for start in children(root, "start"):
        if "schedule" in start:
            hint = "`swf schedule` creates it; remove it if something else starts the workflow"
            report.differs("SonataFlow ignores start.schedule", hint, start)


def _refusals(root: Tree, report: UpgradeReport) -> None:
    """Report what works here, and what SonataFlow refuses."""
    if "start" not in root:
        report.refused("SonataFlow refuses a definition without 'start'; here it starts in the first state")
    log_lines = {name_of(one) for one in children(root, "functions") if _is_sysout(one)}
    for state, action in actions(root):
        reference = action.get("functionRef")
        arguments = reference.get("arguments") if isinstance(reference, MutableMapping) else None
        has_message = isinstance(arguments, Mapping) and "message" in arguments
        if function_of(action) in log_lines and not has_message:
            message = f"{called(state)}: SonataFlow refuses a call of sysout without the argument 'message'"
            report.refused(message, "here all arguments are logged: write 'arguments: {message: ...}'", action)
    inherited = any("eventTimeout" in one for one in children(root, "timeouts"))
    for state in states(root):
        waits = inherited or any("eventTimeout" in one for one in children(state, "timeouts"))
        if state.get("eventConditions") and "defaultCondition" in state and not waits:
            message = f"{called(state)}: SonataFlow refuses eventConditions with a default, and without eventTimeout"
            report.refused(message, "here the default is never taken: write 'timeouts: {eventTimeout: PT1H}'", state)


def _is_sysout(function: Tree) -> bool:
    return function.get("type") == "custom" and str(function.get("operation")).strip().partition(":")[0] == "sysout"


def _compensation(root: Tree, report: UpgradeReport) -> None:
    """Compensate on cancellation, as SonataFlow did. After a timeout there is no compensation here."""
    if not any("compensatedBy" in state for state in states(root)):
        return
    metadata = root.get("metadata")
    if metadata is None:
        add(root, "metadata", {_ON_CANCEL: True}, "specVersion")
    elif not isinstance(metadata, dict) or _ON_CANCEL in metadata:
        return
    else:
        add(metadata, _ON_CANCEL, True)  # noqa: FBT003 - the value of the key
    report.reshaped("metadata.compensateOnCancel is true, as SonataFlow compensates an instance that is aborted")
    if any("workflowExecTimeout" in timeouts for timeouts in children(root, "timeouts")):
        hint = "compensate in the state that runBefore names"
        report.differs("SonataFlow compensates after workflowExecTimeout", hint)


def _timeout_errors(root: Tree, report: UpgradeReport) -> None:
    """Replace the error of SonataFlow's timers by its name here."""
    for error in children(root, "errors"):
        code = error.get("code")
        if isinstance(code, str) and code.rpartition(".")[2] == "TimerExpiredException":
            error["code"] = "TimedOut"
            report.reshaped(f"error {name_of(error)!r}: the code {code!r} is 'TimedOut'", error)


def _event_kinds(root: Tree, report: UpgradeReport) -> None:
    """Set the kind of events that are only produced: SonataFlow does not require the kind of an event."""
    consumed = {name for key in _CONSUMING for name in _used(root, key)}
    for state in states(root):
        named = (one.get("eventRef") for one in (state, *children(state, "eventConditions")))
        consumed |= {name for name in named if isinstance(name, str)}
    produced = {name for key in _PRODUCING for name in _used(root, key)} - consumed
    for event in children(root, "events"):
        name = name_of(event)
        if name in produced and "kind" not in event:
            add(event, "kind", "produced", "name")
            report.reshaped(f"event {name!r}: its kind is produced", event)


def _used(node: Any, key: str) -> Iterator[str]:
    """Yield the texts under *key*, anywhere in *node*, also in lists."""
    if isinstance(node, Mapping):
        for name, value in node.items():
            if name == key:
                yield from (one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str))
            yield from _used(value, key)
    elif isinstance(node, list):
        for item in node:
            yield from _used(item, key)


def _state(root: Tree, state: Tree, order: Mapping[Any, int], report: UpgradeReport) -> None:
    who, kind = called(state), state.get("type")
    if kind == "foreach":
        _foreach(state, report)
    elif kind == "switch":
        _switch(state, order, report)
    elif kind == "operation" and state.get("actionMode") == "parallel":
        hint = "write 'actionMode: sequential' if one action needs the result of another"
        report.differs(f"{who}: SonataFlow runs the actions one after the other", hint, state)
    _timeouts(state, who, report)
    _errors(root, state, report)
    if any("continueAs" in end for end in children(state, "end")):
        report.differs(f"{who}: SonataFlow ignores continueAs, and ends", None, state)
    if any("errorMessage" in metadata for metadata in children(state, "metadata")):
        hint = "call a function that fails with this message"
        report.inexpressible(f"{who}: metadata.errorMessage, which fails the instance", state, hint)


def _foreach(state: Tree, report: UpgradeReport) -> None:
    if "mode" not in state and "iterationParam" in state:
        add(state, "mode", "sequential", "iterationParam")
        report.reshaped(f"{called(state)}: mode is sequential, as SonataFlow runs iterations", state)
    elif state.get("mode") == "parallel":
        hint = "write 'mode: sequential' if one iteration must end before the next"
        report.differs(f"{called(state)}: SonataFlow runs iterations one after the other", hint, state)
    output = state.get("outputCollection")
    if isinstance(output, str):
        same = _path(output) == _path(state.get("inputCollection"))
        hint = "use a different name" if same else "remove existing results in an earlier state"
        message = f"{called(state)}: results are appended to {output!r}; SonataFlow replaces it"
        report.differs(message, hint, state)


def _path(text: Any) -> str:
    return str(text).strip().removeprefix("${").removesuffix("}").strip()


def _switch(state: Tree, order: Mapping[Any, int], report: UpgradeReport) -> None:
    """Report conditions whose order matters: SonataFlow tries those with an end first, then by the order of targets."""
    conditions = list(children(state, "dataConditions"))
    ranks = [-1 if "end" in one else order.get(_target(one), 0) for one in conditions]
    if ranks != sorted(ranks):
        message = (
            f"{called(state)}: conditions are tried in the order written; "
            "SonataFlow tries them in the order of the states that they lead to"
        )
        report.differs(message, "if several may hold, write first the one that takes precedence", state)
    default = state.get("defaultCondition")
    other = _target(default) if isinstance(default, dict) else default
    for one in conditions:
        produces = any("produceEvents" in way for way in children(one, "transition"))
        if "transition" in one and _target(one) == other and produces:
            message = (
                f"{called(state)}: SonataFlow ignores produceEvents of a condition with the same target as the default"
            )
            report.differs(message, None, one)


def _target(node: Tree) -> str | None:
    transition = node.get("transition")
    return name_of(transition, "nextState") if isinstance(transition, dict) else name_of(node, "transition")


def _timeouts(node: Tree, who: str, report: UpgradeReport) -> None:
    for timeouts in children(node, "timeouts"):
        for key in _IGNORED:
            if key in timeouts:
                report.differs(f"{who}: SonataFlow ignores {key}", "remove it, or keep it if it is intended", timeouts)


def _errors(root: Tree, state: Tree, report: UpgradeReport) -> None:
    """Report entries whose order matters: SonataFlow takes the most specific one, and not the first that matches."""
    entries = list(children(state, "onErrors"))
    codes = {name_of(one): name_of(one, "code") for one in children(root, "errors")}
    general = [
        any(codes.get(ref, ref) in _GENERAL for ref in (name_of(one, "errorRef"), *_listed(one.get("errorRefs"))))
        for one in entries
    ]
    if True in general[:-1]:
        message = (
            f"{called(state)}: the first entry of onErrors that matches handles an error; "
            "SonataFlow takes the most specific"
        )
        report.differs(message, "write the entry for every error last", state)


def _listed(value: Any) -> list[Any]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _actions(root: Tree, report: UpgradeReport) -> None:
    for state, action in actions(root):
        for reference in children(action, "functionRef", "subFlowRef"):
            if reference.get("invoke") == "async":
                report.differs(f"{called(state)}: SonataFlow ignores 'invoke: async', and waits", None, reference)
        if "retryRef" in action:
            report.differs(
                f"{called(state)}: SonataFlow ignores retryRef: {action['retryRef']!r} is retried", None, action
            )
