"""From 0.5 to 0.6: starts leave the states, ends and transitions lose their kinds, JSONPath becomes jq."""

from collections.abc import Callable
from typing import Any, Final

from swf_temporal.languages.serverless_workflow.upgrading.paths_to_jq import NotInJqError, in_template, path_in
from swf_temporal.languages.serverless_workflow.upgrading.trees import (
    Tree,
    UpgradeReport,
    action_lists,
    actions,
    called,
    children,
    event_filters,
    leavings,
    renamed,
    states,
)
from swf_temporal.text.round_trip import add, replace

_SINCE_0_6: Final = {
    "dataInputPath": "input or, for an action, fromStateData",
    "dataOutputPath": "output or, for an event, data",
    "dataResultsPath": "results",
    "parameters": "arguments",
}


def upgrade(root: Tree, report: UpgradeReport) -> None:
    """Rewrite *root*, a definition of 0.5, as 0.6."""
    root.pop("expressionLang", None)
    root.pop("expressionLanguage", None)
    _start(root, report)
    for node in leavings(root):
        _leaving(node, report)
    _names(root, report)
    _renamed_filters(root, report)
    _expressions(root, report)


def _start(root: Tree, report: UpgradeReport) -> None:
    for state in states(root):
        start = state.pop("start", None)
        if start is None or start is False or "start" in root:
            continue
        schedule = start.get("schedule") if isinstance(start, dict) else None
        if isinstance(schedule, dict) and schedule.pop("directInvoke", None) == "deny":
            report.inexpressible("directInvoke 'deny' of the start", state)
        made: Any = state.get("name") if schedule is None else {"stateName": state.get("name"), "schedule": schedule}
        add(root, "start", made, "version" if "version" in root else "id")
        report.reshaped(f"the start of {called(state)} is at the top level", state)


def _leaving(node: Tree, report: UpgradeReport) -> None:
    end = node.get("end")
    if isinstance(end, dict):
        kind = str(end.pop("kind", "default")).lower()
        _produced(end)
        if kind == "terminate":
            end["terminate"] = True
        if not end:
            node["end"] = True
        report.reshaped("ends have no kind", end)
    transition = node.get("transition")
    if isinstance(transition, dict):
        _produced(transition)
        if "expression" in transition:
            report.inexpressible(f"the expression of the transition to {transition.get('nextState')!r}", transition)
        elif list(transition) == ["nextState"]:
            node["transition"] = transition["nextState"]
            report.reshaped("plain transitions are the name of the next state", transition)


def _produced(node: Tree) -> None:
    if "produceEvent" in node:
        replace(node, "produceEvent", {"produceEvents": [node["produceEvent"]]})
    for produced in children(node, "produceEvents"):
        renamed(produced, {"nameRef": "eventRef"})


def _names(root: Tree, report: UpgradeReport) -> None:
    events = root.get("events")
    if not isinstance(events, list):
        return
    for index in reversed(range(len(events))):
        event = events[index]
        if isinstance(event, dict) and isinstance(event.get("names"), list):
            rest = {key: value for key, value in event.items() if key != "names"}
            events[index : index + 1] = [{"name": name, **rest} for name in event["names"]]
            report.reshaped("events with several names are defined once for each", event)


def _renamed_filters(root: Tree, report: UpgradeReport) -> None:
    done: set[str] = set()
    for state in states(root):
        for given in children(state, "stateDataFilter"):
            done.update(renamed(given, {"dataInputPath": "input", "dataOutputPath": "output"}))
    for given in event_filters(root):
        done.update(renamed(given, {"dataOutputPath": "data", "dataInputPath": "data"}))
        if "data" in given and given.pop("toStateData", None) is not None:
            report.reshaped("toStateData has no effect in 0.5 beside the path of an eventDataFilter", given)
    for _, action in actions(root):
        for given in children(action, "actionDataFilter"):
            done.update(renamed(given, {"dataInputPath": "fromStateData", "dataResultsPath": "results"}))
        for reference in children(action, "functionRef"):
            done.update(renamed(reference, {"parameters": "arguments"}))
    for name in sorted(done & _SINCE_0_6.keys()):
        report.respelled(f"{name} is {_SINCE_0_6[name]}")


def _keyed(text: str) -> str:
    return f"${{ {path_in(text).keyed()} }}"


def _value(text: str) -> str:
    return f"${{ {path_in(text).jq} }}"


def _condition(text: str) -> str:
    return f"${{ {path_in(text).holds} }}"


def _expressions(root: Tree, report: UpgradeReport) -> None:
    for state in states(root):
        _of_state(state, called(state), report)
    for given in event_filters(root):
        _field(given, ("data",), _of_event, "an eventDataFilter", report)
        _field(given, ("toStateData",), _value, "an eventDataFilter", report)
    for node in leavings(root):
        for way in children(node, "end", "transition"):
            for produced in children(way, "produceEvents"):
                plain = _value if isinstance(produced.get("data"), str) else in_template
                _field(produced, ("data",), plain, "a produced event", report)
                _field(produced, ("contextAttributes",), in_template, "a produced event", report)
    for event in children(root, "events"):
        for one in children(event, "correlation"):
            _field(one, ("contextAttributeValue",), in_template, f"event {event.get('name')!r}", report)


def _of_state(state: Tree, owner: str, report: UpgradeReport) -> None:
    for given in children(state, "stateDataFilter"):
        _field(given, ("input", "output"), _keyed, owner, report)
    for one in children(state, "dataConditions"):
        _field(one, ("condition",), _condition, owner, report)
    _field(state, ("inputCollection", "outputCollection"), _value, owner, report)
    if state.get("type") == "inject":
        _field(state, ("data",), in_template, owner, report)
    for _, found in action_lists(state):
        for action in found:
            _of_action(action, owner, report)
    for one in children(state, "repeat"):
        _field(one, ("expression",), _condition, owner, report)


def _of_action(action: Tree, owner: str, report: UpgradeReport) -> None:
    for given in children(action, "actionDataFilter"):
        has_target = "toStateData" in given
        _field(given, ("fromStateData",), _keyed, owner, report)
        _field(given, ("results",), _value if has_target else _keyed, owner, report)
        _field(given, ("toStateData",), _value, owner, report)
    for reference in children(action, "functionRef"):
        _field(reference, ("arguments",), in_template, owner, report)
    for reference in children(action, "eventRef"):
        _field(reference, ("data",), _value if isinstance(reference.get("data"), str) else in_template, owner, report)
        _field(reference, ("contextAttributes",), in_template, owner, report)


def _of_event(text: str) -> str:
    """Return the filter of a payload; a path that begins with `$.data` is one into the whole event."""
    path = path_in(text)
    if path.steps[:1] == ["data"] and len(path.steps) > 1:
        inner = path_in(text.replace("$.data", "$", 1))
        return f"${{ {inner.keyed()} }}"
    if path.steps == ["data"]:
        return "${ {data: .} }"
    return f"${{ {path.keyed()} }}"


def _field(
    node: Tree, keys: tuple[str, ...], translate: Callable[[str], str], owner: str, report: UpgradeReport
) -> None:
    for key in keys:
        if key in node:
            node[key] = _translated(node[key], translate, f"{owner}: {key}", report)


def _translated(value: Any, translate: Callable[[str], str], owner: str, report: UpgradeReport) -> Any:
    if isinstance(value, dict):
        for key in value:
            value[key] = _translated(value[key], in_template, owner, report)
    elif isinstance(value, list):
        value[:] = [_translated(item, in_template, owner, report) for item in value]
    elif isinstance(value, str) and ("{{" in value or _is_bare(value) or (translate is in_template and "${" in value)):
        try:
            made = translate(value)
        except NotInJqError as error:
            report.inexpressible(f"{owner}: {error}")
            return value
        report.reshaped("expressions are jq in ${ }")
        return made
    return value


def _is_bare(text: str) -> bool:
    """Return True if *text* is a path without braces, as in some official examples."""
    return text.strip().startswith(("$.", "$[")) and " " not in text.strip()
