"""Lowering of the draft of May 2020: the words of 0.8 for its own, and the parts that 0.8 cannot express."""

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, Final

from swf_temporal.base import calls
from swf_temporal.base.function_types import TYPES, type_with
from swf_temporal.expressions.early_paths import is_path
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
from swf_temporal.languages.serverless_workflow.drafts.may_2020 import model
from swf_temporal.languages.serverless_workflow.expressions import EARLY
from swf_temporal.languages.serverless_workflow.model import actions, states, workflow
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.reading.normalizing import Normalizer, Spelling, Step
from swf_temporal.languages.serverless_workflow.reading.versions.before_0_8 import LATER_TYPES
from swf_temporal.languages.serverless_workflow.reading.versions.drafts import MAY_2020, OF_STATES
from swf_temporal.text.origin import Array, Object, objects_in

CUSTOM_CONDITION: Final = "expression"
"""The key in the metadata of a condition with the operator `custom` that holds its expression."""

_COMPLETIONS: Final = {"and": "allOf", "xor": "atLeast", "n_of_m": "atLeast"}
_DOCUMENT: Final = re.compile(r"[^#]*\.(?:json|ya?ml)#.+|https?://[^#]*#.+")
"""A resource that names an operation in an OpenAPI document."""
_WHOLE: Final = (None, "$", "$.")
"""Paths that select the whole error, as a filter without a path does."""


def lowered(draft: model.DraftWorkflow) -> Object:
    """Return *draft* converted to a document of 0.8."""
    document = normalized(tree_of(draft), draft.source, _SPELLINGS)
    document["@version"] = OF_STATES if draft.has_states else MAY_2020
    return document


def called(function: model.Function) -> calls.Function:
    return calls.Function(
        function.name, function_type(function.type, function.resource), function.resource, None, function.metadata
    )


def function_type(written: str | None, resource: str | None) -> str:
    """Return the type of a function: a supported one, its own, or custom if it has none."""
    known = written is not None and written.lower() in TYPES
    if not known and resource is not None and _DOCUMENT.fullmatch(resource):
        return "rest"
    return type_with(written or "custom", resource)


# The steps. Those of a node run before those of the nodes in it.


def _definition(root: Object, _normalizer: Normalizer) -> None:
    drop(root, "expressionLanguage")
    put(root, "expressionLang", EARLY)
    _kinds_of_events(root)
    start = _states(root, root.get("startsAt"))
    start.rename("start", "stateName")
    put(root, "start", start, "startsAt" if "startsAt" in root else "version" if "version" in root else "id")
    drop(root, "startsAt")


def _kinds_of_events(root: Object) -> None:
    """Set the kind of events that are only produced, which the draft infers from their uses."""
    found = list(objects(root["states"]))
    producing = [one["produceEvent"] for one in found if "produceEvent" in one]
    consumed = {ref for one in found for ref in one.get("eventRefs", ())}
    consumed |= {one["eventRef"] for one in found if "eventRef" in one and all(one is not other for other in producing)}
    for event in root.get("events", ()):
        if event["name"] not in consumed and any(one["eventRef"] == event["name"] for one in producing):
            put(event, "kind", "produced", "type")


def _states(holder: Object, named: str | None = None) -> Object:
    """Rewrite the references between the states of *holder*; return their start, with its window."""
    found = objects_in(holder["states"])
    names = {state["id"]: state["name"] for state in found if "id" in state}
    names |= {state["name"]: state["name"] for state in found}
    says = [state for state in found if "start" in state]
    first = next((one for one in found if named is not None and named in (one["name"], one.get("id"))), None)
    first = first or next(iter(says or found), None)
    start = Object((first or holder).where.position)
    put(start, "start", "" if first is None else first["name"])  # a rule reports a missing start
    if first is not None and first.get("start", {}).get("kind") == "scheduled" and "schedule" in first["start"]:
        start.put("window", first["start"]["schedule"]["interval"], first.where.keys["start"])
    for state in found:
        state["type"] = LATER_TYPES.get(state["type"], state["type"])
        drop(state, "start")
        for way in _ways(state):
            way["nextTask"] = names.get(way["nextTask"], way["nextTask"])
        for entry in objects_in(state.get("onError")):
            for key in () if "transition" in entry else ("transition", "end"):
                # Without its own transition, an error leads where the task does, as in an example of the text.
                if key in state:
                    entry.put(key, deepcopy(state[key]), state.where.keys[key])
    return start


def _ways(state: Object) -> Iterator[Object]:
    holders = [state, *(one for key in ("dataConditions", "eventConditions", "onError") for one in state.get(key, ()))]
    yield from (one["transition"] for one in holders if "transition" in one)
    if "default" in state:
        yield state["default"]


def _scope(node: Object, _normalizer: Normalizer) -> None:
    scope = wrap(node, "tasks", "@scope", "states")
    start = _states(scope)
    scope.where.position = start.where.position
    scope.update(start)


def _documents(node: Object, _normalizer: Normalizer) -> None:
    """Move schemas, which are only documentation and not enforced, to the metadata."""
    for key in ("dataInputSchema", "dataOutputSchema"):
        if key in node:
            put(node, "metadata", {**node.get("metadata", {}), key: node[key]}, "metadata")
            node.take(key)


def _function(node: Object, _normalizer: Normalizer) -> None:
    kind = function_type(node.get("type"), node.get("operation"))
    if kind != "rest" or "type" in node:
        put(node, "type", kind, "type" if "type" in node else "operation")


def _correlation(node: Object, _normalizer: Normalizer) -> None:
    if "correlationToken" in node:
        wrap(node, "correlationToken", "correlation", "contextAttributeName")
        listed(node, "correlation", "correlation")


def _expression(key: str) -> Step:
    """Return a step that puts the text of an expression under *key*, without its language, which is known."""

    def step(node: Object, _normalizer: Normalizer) -> None:
        if "expression" in node:
            expression, places = node.take("expression")
            node.put(key, expression["body"], places)

    return step


def _produced(node: Object, _normalizer: Normalizer) -> None:
    listed(node, "produceEvent", "produceEvents")


def _end(node: Object, normalizer: Normalizer) -> None:
    kind, places = node.take("kind")
    if kind == "terminate":
        node.put("terminate", True, places)  # noqa: FBT003 - the value of a key
    if kind != "event":
        drop(node, "produceEvent")
    _produced(node, normalizer)


def _error(node: Object, _normalizer: Normalizer) -> None:
    put(node, "errorRefs", Array())
    if "errorDataFilter" in node:
        given, places = node.take("errorDataFilter")
        if given.get("dataOutputPath") not in _WHOLE:
            node.put("@data", given["dataOutputPath"], places)


def _retry(node: Object, _normalizer: Normalizer) -> None:
    delay, times = repetition_of(node.get("delay"), None)
    if delay is not None:
        node["delay"] = delay
    if "maxAttempts" not in node:
        put(node, "maxAttempts", 1 if times is None else times)


def _results(node: Object, _normalizer: Normalizer) -> None:
    # An official example has a text here that is not a path: it selects nothing.
    if "results" in node and not is_path(node["results"]):
        drop(node, "results")


def _late(node: Object, _normalizer: Normalizer) -> None:
    node["@goesOnWhenLate"] = not (node.get("onErrors") or node.get("@retries"))


def _event_timeout(node: Object, _normalizer: Normalizer) -> None:
    for key in ("timeout", "eventTimeout"):
        if key in node:
            wrap(node, key, "timeouts", "eventTimeout")


def _between_events(node: Object, _normalizer: Normalizer) -> None:
    node["@timeoutIsBetweenEvents"] = True


def _condition(node: Object, _normalizer: Normalizer) -> None:
    operator, places = node.take("operator")
    compared: Any = {"path": node["path"], "operator": operator, "value": node.get("value")}
    if operator == "custom":
        compared = node.get("metadata", {}).get(CUSTOM_CONDITION)
    node.put("condition", compared, node.where.keys.get("path", places))
    drop(node, "path", "value")


def _default(node: Object, _normalizer: Normalizer) -> None:
    if "default" in node:
        wrap(node, "default", "defaultCondition", "transition")


def _completion(node: Object, _normalizer: Normalizer) -> None:
    word = node.get("completionType", "and")
    if "completionType" in node:
        node["completionType"] = _COMPLETIONS[word]
    if word == "xor":
        put(node, "numCompleted", 1, "completionType")
    elif word == "and":
        drop(node, "numCompleted")


def _sleep(node: Object, _normalizer: Normalizer) -> None:
    put(node, "@writtenType", "delay")


def _subflow(node: Object, _normalizer: Normalizer) -> None:
    if "workflowId" in node:
        put(node, "@writtenType", "subflow")


def _injected(node: Object, _normalizer: Normalizer) -> None:
    if node.get("data") is None:
        put(node, "data", {}, "data")


def _batches(node: Object, _normalizer: Normalizer) -> None:
    if not node.get("batchSize"):
        drop(node, "batchSize")


def _state(*steps: Step, **renamed: str) -> Spelling:
    in_any = {"taskDataFilter": "stateDataFilter", "onError": "onErrors", "retry": "@retries"}
    return Spelling(renamed={**in_any, **renamed}, steps=(_documents, _late, *steps))


_SPELLINGS: Final[Mapping[type[Node], Spelling]] = {
    workflow.Workflow: Spelling(
        renamed={"tasks": "states", "schemaVersion": "specVersion"}, steps=(_documents, _definition)
    ),
    workflow.Start: Spelling(renamed={"window": "@window"}),
    workflow.Function: Spelling(renamed={"resource": "operation"}, steps=(_function,)),
    workflow.Event: Spelling(steps=(_correlation,)),
    states.Transition: Spelling(renamed={"nextTask": "nextState"}, steps=(_expression("@condition"), _produced)),
    states.End: Spelling(steps=(_end,)),
    states.OnError: Spelling(steps=(_expression("@condition"), _error)),
    states.StateRetry: Spelling(
        renamed={"interval": "delay", "multiplier": "increment"}, steps=(_expression("condition"), _retry)
    ),
    states.StateDataFilter: Spelling(renamed={"dataInputPath": "input", "dataOutputPath": "output"}),
    actions.ActionDataFilter: Spelling(
        renamed={"dataInputPath": "fromStateData", "dataResultsPath": "results"}, steps=(_results,)
    ),
    actions.EventDataFilter: Spelling(renamed={"dataOutputPath": "data"}),
    actions.FunctionRef: Spelling(renamed={"parameters": "arguments"}),
    actions.Action: Spelling(renamed={"timeout": "@timeout"}),
    states.Branch: Spelling(steps=(branch_of(_scope),)),
    states.DataCondition: Spelling(steps=(_condition,)),
    states.EventState: _state(_event_timeout, _between_events, eventsActions="onEvents"),
    states.OperationState: _state(_subflow, sub_workflow(ends_with_parent=True)),
    states.SwitchState: _state(_event_timeout, _default),
    states.SleepState: _state(_sleep, timeDelay="duration"),
    states.ParallelState: _state(_completion, n="numCompleted"),
    states.InjectState: _state(_injected),
    states.ForeachState: _state(_scope, _batches, inputParameter="iterationParam", max="batchSize", timeDelay="@pause"),
    states.CallbackState: _state(_event_timeout),
}
