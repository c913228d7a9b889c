"""Lowering of the draft of November 2019: the words of 0.8 for its own, and the parts that 0.8 cannot express.

Its data flow is implemented in `execution/last_keys.py`.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from swf_temporal.base import calls
from swf_temporal.base.function_types import type_with
from swf_temporal.languages.serverless_workflow.drafts.lowering import (
    branch_of,
    drop,
    listed,
    normalized,
    objects,
    put,
    repetition_of,
    sub_workflow,
    tree_of,
    wrap,
)
from swf_temporal.languages.serverless_workflow.drafts.november_2019 import model
from swf_temporal.languages.serverless_workflow.drafts.november_2019.event_expressions import (
    BadEventExpression,
    names_in,
    parsed,
)
from swf_temporal.languages.serverless_workflow.expressions import EARLY
from swf_temporal.languages.serverless_workflow.model import actions, states, workflow
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.reading.normalizing import Normalizer, Spelling, Step
from swf_temporal.languages.serverless_workflow.reading.versions.drafts import NOVEMBER_2019
from swf_temporal.text.origin import Array, Object, objects_in

TOKEN: Final = "correlationToken"  # noqa: S105 - the draft's name for it
"""The key of the value that identifies the events of an instance."""
_ALL_DATA: Final = "$"
_TYPES: Final = {
    "EVENT": "event", "OPERATION": "operation", "SWITCH": "switch", "DELAY": "sleep", "PARALLEL": "parallel",
    "SUBFLOW": "operation", "RELAY": "inject",
}  # fmt: skip
_JOINS: Final[Mapping[str, str]] = {"single": "any", "and": "all", "or": "any", "not": "none"}


def lowered(definition: model.Definition) -> Object:
    """Return *definition* converted to a document of 0.8."""
    tree = tree_of(definition)
    functions = [_defined(one) for one in functions_in(definition.states)]
    put(tree, "functions", Array(functions, [one.where.position for one in functions]))
    return normalized(tree, definition.source, _SPELLINGS)


def actions_in(states: Iterable[model.State]) -> Iterator[model.Action]:
    """Yield the actions of *states*, at any depth."""
    for state in states:
        match state:
            case model.OperationState():
                yield from state.actions
            case model.EventState():
                for entry in state.events:
                    yield from entry.actions
            case model.ParallelState():
                for branch in state.branches:
                    yield from actions_in(branch.states)
            case _:
                pass


def functions_in(states: Iterable[model.State]) -> Iterator[model.Function]:
    """Yield each function that actions in *states* call, once, with the type and resource that any of them gives."""
    found: dict[str, model.Function] = {}
    for action in actions_in(states):
        function = action.function
        known = found.setdefault(function.name, function)
        update = {
            key: getattr(function, key)
            for key in ("type", "resource")
            if getattr(known, key) is None and getattr(function, key) is not None
        }
        if update:
            found[function.name] = known.model_copy(update=update)
    yield from found.values()


def called(function: model.Function) -> calls.Function:
    """Return *function* as in calls. Its type is a supported one or its own."""
    operation = function.resource or (function.name if ":" in function.name else None)
    kind = type_with(function.type or "custom", operation)
    return calls.Function(function.name, kind, operation, None, function.metadata)


def rules_of(choice: model.Choice) -> Iterator[tuple[str, tuple[model.Rule, ...]]]:
    """Yield the keys of the rules of *choice*, each with its rules."""
    for kind, rules in (("single", choice.single), ("and", choice.and_), ("or", choice.or_), ("not", choice.not_)):
        if rules is not None:
            yield kind, rules


def _defined(function: model.Function) -> Object:
    made, known = Object(function.where.position), called(function)
    put(made, "name", known.name, "name")
    put(made, "type", known.type, "type")
    if known.operation is not None:
        put(made, "operation", known.operation, "resource")
    if known.metadata:
        put(made, "metadata", known.metadata)
    return made


# The steps. Those of a node run before those of the nodes in it.


def _definition(root: Object, _normalizer: Normalizer) -> None:
    drop(root, "schemaVersion", "execStatus")
    put(root, "expressionLang", EARLY)
    put(root, "@version", NOVEMBER_2019)
    names = [trigger["name"] for trigger in root.get("events", ())]
    for state in objects(root["states"]):
        for entry in state.get("events", ()):
            _expected(entry, state, names)
    start, places = root.take("startsAt")
    at_top = Object(places[1])
    at_top.put("stateName", start, places)
    root.put("start", at_top, places)
    root["functions"] = root.pop("functions")  # move it after the start
    _states(root, at_top, "stateName")


def _expected(entry: Object, state: Object, triggers: list[str]) -> None:
    """Add the expected events of *entry*, with its transition or else that of its *state*."""
    expression, places = entry.take("eventExpression")
    try:
        need = parsed(expression, triggers)
    except BadEventExpression:
        need = states.EventNeed(join="or")  # a rule reports the error
    expected = Object(entry.where.position)
    put(expected, "need", need)
    for key in ("timeout", "nextState"):
        if key in entry:
            expected.put(key, *entry.take(key))
    if state.get("end"):
        drop(expected, "nextState")
    elif "nextState" not in expected and "nextState" in state:
        expected.put("nextState", state["nextState"], state.where.keys["nextState"])
    entry.put("eventRefs", list(names_in(need)), places)
    put(entry, "expected", expected)


def _states(holder: Object, start: Object, key: str) -> None:
    """Rewrite the references between the states of *holder*, and the one in *start* under *key*."""
    found = objects_in(holder["states"])
    names = {state["name"] for state in found}
    ids = {state["id"]: state["name"] for state in found if "id" in state and state["id"] not in names}
    start[key] = ids.get(start[key], start[key])
    for state in found:
        own = Array([value for key, value in state.items() if key != "branches"])
        for one in (state, *objects(own)):
            if "nextState" in one:
                one["nextState"] = ids.get(one["nextState"], one["nextState"])
        if "default" in state:
            state["default"] = ids.get(state["default"], state["default"])
        put(state, "writtenType", state["type"], "type")
        state["type"] = _TYPES[state["type"]]
    holder["states"] = Array([_repeated(state) for state in found], holder["states"].positions)


def _repeated(state: Object) -> Object:
    """Return a foreach state around *state*, if it has a loop; its filter and transitions apply to the whole."""
    if "loop" not in state:
        return state
    loop, places = state.take("loop")
    made = Object(state.where.position)
    for key in ("name", "id", "filter", "onError", "nextState", "end", "condition", "metadata", "writtenType"):
        if key in state:
            made.put(key, *(state.take(key) if key in ("filter", "onError", "nextState") else (state[key], places)))
    put(made, "type", "foreach")
    put(made, "mode", "sequential")
    for key, value in loop.items():
        made.put(key, value, loop.where.keys[key])
    put(state, "end", value=True)
    scope = Object(state.where.position)
    put(scope, "start", state["name"])
    put(scope, "states", Array([state], [state.where.position]))
    put(made, "scope", scope)
    return made


def _scope(node: Object, _normalizer: Normalizer) -> None:
    node["@awaited"] = node.get("waitForCompletion", False)
    drop(node, "waitForCompletion")
    scope = wrap(node, "states", "@scope", "states")
    scope.put("start", *node.take("startsAt"))
    _states(scope, scope, "start")


def _leaving(node: Object, _normalizer: Normalizer) -> None:
    if node.get("end") or "nextState" not in node:
        drop(node, "nextState", "condition")
        put(node, "end", Object(node.where.position), "end")
        return
    drop(node, "end")
    wrap(node, "nextState", "transition", "nextState")
    if "condition" in node:
        condition, places = node.take("condition")
        node["transition"].put("condition", condition["body"], places)


def _without_way(node: Object, _normalizer: Normalizer) -> None:
    drop(node, "nextState", "end", "condition")


def _correlation(node: Object, _normalizer: Normalizer) -> None:
    if TOKEN in node:
        correlation = wrap(node, TOKEN, "correlation", "path")
        put(correlation, "contextAttributeName", TOKEN)
        listed(node, "correlation", "correlation")


def _function_ref(node: Object, _normalizer: Normalizer) -> None:
    if "arguments" not in node:
        put(node, "arguments", _ALL_DATA)
    drop(node, "type", "resource", "metadata")


def _retry(node: Object, _normalizer: Normalizer) -> None:
    interval, times = repetition_of(node.get("interval"))
    if interval is not None:
        put(node, "interval", interval, "interval")
    if node.get("times") is None:
        put(node, "times", times, "interval")


def _error(node: Object, _normalizer: Normalizer) -> None:
    put(node, "errorRefs", Array())
    condition, places = node.take("condition")
    node.put("@condition", condition["body"], places)
    _leaving(node, _normalizer)


def _mode(node: Object, _normalizer: Normalizer) -> None:
    if "actionMode" in node:
        node["actionMode"] = node["actionMode"].lower()


def _choice(node: Object, _normalizer: Normalizer) -> None:
    kind = next((kind for kind in _JOINS if kind in node), "single")
    rules = [{"operator": "EQ", "value": None, **rule} for rule in node.get(kind, ())]
    put(node, "condition", {_JOINS[kind]: rules}, kind)
    drop(node, *_JOINS)
    wrap(node, "nextState", "transition", "nextState")


def _default(node: Object, _normalizer: Normalizer) -> None:
    if "default" in node:
        default = wrap(node, "default", "defaultCondition", "nextState")
        wrap(default, "nextState", "transition", "nextState")


def _until(node: Object, _normalizer: Normalizer) -> None:
    if "@until" in node:
        node["@until"] = node["@until"]["body"]


def _injected(node: Object, _normalizer: Normalizer) -> None:
    if "data" not in node:
        put(node, "data", {})


def _state(*steps: Step, **renamed: str) -> Spelling:
    in_any = {"filter": "stateDataFilter", "onError": "onErrors", "writtenType": "@writtenType"}
    return Spelling(renamed={**in_any, **renamed}, steps=steps)


_SPELLINGS: Final[Mapping[type[Node], Spelling]] = {
    workflow.Workflow: Spelling(renamed={"triggerDefs": "events"}, steps=(_definition,)),
    workflow.Event: Spelling(steps=(_correlation,)),
    workflow.Correlation: Spelling(renamed={"path": "@path"}),
    states.Transition: Spelling(renamed={"condition": "@condition"}),
    states.OnError: Spelling(steps=(_error,)),
    states.StateDataFilter: Spelling(renamed={"inputPath": "input", "outputPath": "output", "resultPath": "@result"}),
    actions.ActionDataFilter: Spelling(
        renamed={"inputPath": "fromStateData", "outputPath": "results", "resultPath": "toStateData"}
    ),
    actions.EventDataFilter: Spelling(renamed={"inputPath": "data", "resultPath": "toStateData"}),
    actions.FunctionRef: Spelling(renamed={"name": "refName", "parameters": "arguments"}, steps=(_function_ref,)),
    actions.Action: Spelling(
        renamed={
            "function": "functionRef", "filter": "actionDataFilter", "timeout": "@timeout", "retry": "@resultRetries",
        }
    ),
    actions.ResultRetry: Spelling(renamed={"retryInterval": "interval", "maxRetry": "times"}, steps=(_retry,)),
    states.Branch: Spelling(steps=(branch_of(_scope),)),
    states.DataCondition: Spelling(steps=(_choice,)),
    states.ExpectedEvent: Spelling(steps=(_leaving,)),
    states.OnEvents: Spelling(
        renamed={"filter": "eventDataFilter", "expected": "@expected"}, steps=(_mode,)
    ),
    states.EventState: _state(_without_way, events="onEvents"),
    states.OperationState: _state(_leaving, _mode, sub_workflow(ends_with_parent=False)),
    states.SwitchState: _state(_without_way, _default, choices="dataConditions"),
    states.SleepState: _state(_leaving, timeDelay="duration"),
    states.ParallelState: _state(_leaving),
    states.InjectState: _state(_leaving, _injected, inject="data"),
    states.ForeachState: _state(
        _leaving, _until, scope="@scope", timeDelay="@pause", completionCondition="@until"
    ),
}  # fmt: skip
