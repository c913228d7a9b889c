"""0.5: the start is in a state, ends and starts have kinds, and expressions are JSONPath in double braces."""

from collections.abc import Mapping
from typing import Final

from swf_temporal.languages.serverless_workflow.expressions import PATHS
from swf_temporal.languages.serverless_workflow.model import actions, states, workflow
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.model.workflow import DataFlowKind
from swf_temporal.languages.serverless_workflow.reading.normalizing import Normalizer, Spelling
from swf_temporal.languages.serverless_workflow.reading.versions import before_0_8, v0_6
from swf_temporal.languages.serverless_workflow.reading.versions.marks import (
    ACTIONS,
    LEAVING,
    VersionMarker,
    each,
    having,
)
from swf_temporal.languages.serverless_workflow.reading.versions.version import Version
from swf_temporal.languages.serverless_workflow.reading.vocabulary import TEXT, Accepted, Schema, Vocabulary, to
from swf_temporal.text.model_errors import not_one_of
from swf_temporal.text.origin import Array, Object, objects_in


def _start(root: Object, normalizer: Normalizer) -> None:
    """Move the start from its state to the top level, and report further ones."""
    first = None
    for state in objects_in(root.get("states")):
        if "start" not in state:
            continue
        start, places = state.take("start")
        if start is False:
            continue
        if first is not None:
            message = f"the workflow begins with {first!r}: the start of {state.get('name')!r} has no effect"
            normalizer.warn("start", message, places[0], "remove its start")
        if "start" in root:
            continue
        first = state.get("name")
        at_top = Object(places[1])
        at_top.put("stateName", state.get("name"), state.where.keys.get("name", places))
        if isinstance(start, Object) and "schedule" in start:
            at_top.put("schedule", *start.take("schedule"))
        elif isinstance(start, Object) and start.get("kind") == "scheduled":
            message = f"state {state.get('name')!r} has a start of the kind scheduled without a schedule"
            hint = "write when it starts, as in 'schedule: {cron: {expression: 0 9 * * *}}', or 'kind: default'"
            normalizer.problems.append(normalizer.source.problem("missing", message, start.where.position, hint))
        root.put("start", at_top, places)


def _expression_language(root: Object, _normalizer: Normalizer) -> None:
    if root.get("expressionLang") in (None, "jsonpath", "JSONPath", "jsonPath"):
        root["expressionLang"] = PATHS


def _names(root: Object, _normalizer: Normalizer) -> None:
    """Expand an event definition with several names to one for each name."""
    events = root.get("events")
    if not isinstance(events, Array):
        return
    found: list[object] = []
    positions = []
    for event, position in zip(events, events.positions, strict=True):
        names = event.get("names") if isinstance(event, Object) else None
        if not isinstance(names, Array):
            found.append(event)
            positions.append(position)
            continue
        shared, places = {key: value for key, value in event.items() if key != "names"}, event.where.keys
        for name, place in zip(names, names.positions, strict=True):
            one = Object(position)
            for key, value in shared.items():
                one.put(key, value, places[key])
            one.put("name", name, (places["names"][0], place))
            found.append(one)
            positions.append(position)
    root["events"] = Array(found, positions)


def _end_kind(node: Object, normalizer: Normalizer) -> None:
    """Read the kind of an end: set `terminate`, or check that there are events."""
    if "kind" not in node:
        return
    kind, places = node.take("kind")
    word = kind.lower() if isinstance(kind, str) else kind
    if word == "terminate":
        node.put("terminate", True, places)  # noqa: FBT003 - the value of a key
    elif word not in ("default", "event"):
        message, hint = not_one_of("end: kind", kind, ("default", "terminate", "event"))
        normalizer.problems.append(normalizer.source.problem("enum", message, places[1], hint))
    elif word == "event" and "produceEvents" not in node and "produceEvent" not in node:
        message = "an end of the kind event has no produceEvents"
        hint = "write 'produceEvents: [{eventRef: ...}]' with events that are defined, or 'kind: default'"
        normalizer.problems.append(normalizer.source.problem("missing", message, places[1], hint))
    _produce_event(node, normalizer)


def _produce_event(node: Object, _normalizer: Normalizer) -> None:
    if "produceEvent" in node and "produceEvents" not in node:
        event, places = node.take("produceEvent")
        node.put("produceEvents", Array([event], [places[1]]), places)


def _direct_invoke(node: Object, normalizer: Normalizer) -> None:
    """Report that starting a workflow outside of its schedule cannot be forbidden."""
    if "directInvoke" in node:
        value, (place, _) = node.take("directInvoke")
        if value == "deny":
            message = "directInvoke 'deny' has no effect: permissions to start workflows are those of the server"
            normalizer.warn("schedule", message, place, "remove it")


def _expression(node: Object, _normalizer: Normalizer) -> None:
    if "expression" in node:
        node.rename("expression", "@condition")


_OWN: Mapping[type[Node], Spelling] = {
    workflow.Workflow: Spelling(
        renamed={"expressionLanguage": "expressionLang"}, steps=(_start, _expression_language, _names)
    ),
    workflow.Schedule: Spelling(steps=(_direct_invoke,)),
    states.End: Spelling(steps=(_end_kind,)),
    states.Transition: Spelling(steps=(_expression, _produce_event)),
    states.ProduceEvent: Spelling(renamed={"nameRef": "eventRef"}),
    states.StateDataFilter: Spelling(renamed={"dataInputPath": "input", "dataOutputPath": "output"}),
    actions.ActionDataFilter: Spelling(renamed={"dataInputPath": "fromStateData", "dataResultsPath": "results"}),
    actions.EventDataFilter: Spelling(renamed={"dataOutputPath": "data", "dataInputPath": "data"}),
    actions.FunctionRef: Spelling(renamed={"parameters": "arguments"}),
}

_IN_STATE: Schema = {
    "anyOf": [
        {"type": "boolean"},
        {
            "type": "object",
            "properties": {"kind": {"enum": ["default", "scheduled"]}, "schedule": to(workflow.Schedule)},
            "additionalProperties": False,
        },
    ]
}
_STARTS = Accepted(more={"start": _IN_STATE})

_ACCEPTED: Mapping[type[Node], Accepted] = {
    **dict.fromkeys(v0_6.STATES, _STARTS),
    workflow.Schedule: Accepted(more={"directInvoke": {"enum": ["allow", "deny"]}}),
    states.End: Accepted(
        more={"kind": {"enum": ["default", "terminate", "event"]}, "produceEvent": to(states.ProduceEvent)}
    ),
    states.Transition: Accepted(more={"expression": {"type": "string"}, "produceEvent": to(states.ProduceEvent)}),
    workflow.Event: Accepted(more={"names": {"type": "array", "items": TEXT}}, instead={"name": ("names",)}),
}

_LATER: Mapping[type[Node], tuple[str, ...]] = {
    workflow.Workflow: ("start", "keepActive", "execTimeout", "expressionLang"),
    workflow.Function: ("type",),
    workflow.Retry: ("increment", "maxDelay"),
    states.End: ("terminate", "compensate"),
    states.Transition: ("compensate",),
    states.StateDataFilter: ("input", "output"),
    actions.ActionDataFilter: ("fromStateData", "results", "toStateData"),
    actions.EventDataFilter: ("data", "toStateData"),
    actions.FunctionRef: ("arguments",),
    states.OperationState: ("repeat",),
}

WORDS: Mapping[str, tuple[str, ...]] = {
    **v0_6.WORDS,
    "arguments": ("parameters",),
    "input": ("dataInputPath",),
    "output": ("dataOutputPath",),
    "fromStateData": ("dataInputPath",),
    "results": ("dataResultsPath",),
    "increment": ("multiplier",),
    "@condition": ("expression",),
}

_VOCABULARY: Final = Vocabulary(spellings=_OWN, accepted=_ACCEPTED, later=_LATER)

VERSION: Final = Version(
    name="0.5",
    title="Serverless Workflow 0.5",
    number="0.5",
    must_say_number=False,
    last_keys=(
        VersionMarker("states", "start", having("kind"), is_decisive=True),
        *each(LEAVING, "end", holds=having("kind")),
        *each(LEAVING, "transition", holds=having("expression")),
        *each(
            ["states.stateDataFilter", "states.eventDataFilter", "states.onEvents.eventDataFilter"],
            "dataInputPath",
            "dataOutputPath",
        ),
        *each((f"{path}.actionDataFilter" for path in ACTIONS), "dataInputPath", "dataResultsPath"),
        VersionMarker("events", "names"),
        VersionMarker("retries", "multiplier", lambda value: isinstance(value, str) and value.startswith("P")),
    ),
    vocabulary=_VOCABULARY.then(v0_6.VERSION.vocabulary),
    words=WORDS,
    slow_call=before_0_8.SLOW_CALL,
    data_flow=DataFlowKind.KEYED_MERGING,
    expression_lang=PATHS,
    defines_errors=False,
    upgraders=("swf_temporal.languages.serverless_workflow.upgrading.from_0_5", *v0_6.VERSION.upgraders),
)
