"""0.6: sub-workflows are states, errors are retried by the state, and timeouts are where they apply.

Its words that 0.8 tolerates are read in the same way, but without a warning.
"""

from collections.abc import Mapping
from typing import Final

from swf_temporal.languages.serverless_workflow.model import actions, states, workflow
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.reading.normalizing import Normalizer, Spelling, Step
from swf_temporal.languages.serverless_workflow.reading.versions import before_0_8, v0_8
from swf_temporal.languages.serverless_workflow.reading.versions.marks import ACTIONS, VersionMarker, each, word
from swf_temporal.languages.serverless_workflow.reading.versions.version import Version
from swf_temporal.languages.serverless_workflow.reading.vocabulary import TEXT, Accepted, Schema, Vocabulary, to
from swf_temporal.text.origin import Array, Object, objects_in

STATES: tuple[type[Node], ...] = (
    states.EventState, states.OperationState, states.SwitchState, states.SleepState,
    states.ParallelState, states.InjectState, states.ForeachState, states.CallbackState,
)  # fmt: skip


def quietly(step: Step) -> Step:
    """Return *step* without its warnings about spellings, which are correct in this version."""

    def quiet(node: Object, normalizer: Normalizer) -> None:
        before = len(normalizer.problems)
        step(node, normalizer)
        del normalizer.problems[before:]

    return quiet


def _exec_timeout(root: Object, normalizer: Normalizer) -> None:
    """Expand a bare duration, which does not interrupt, like a timeout without `interrupt`."""
    timeout = root.get("execTimeout")
    if isinstance(timeout, str):
        position = root.where.value("execTimeout")
        root["execTimeout"] = Object(position)
        root["execTimeout"].put("duration", timeout, (position, position))
    quietly(before_0_8.exec_timeout)(root, normalizer)


def _sub_workflow(node: Object, normalizer: Normalizer) -> None:
    """Convert a subflow state with its `waitForCompletion` and `repeat`."""
    if "workflowId" in node:
        node.put("@writtenType", "subflow", node.where.keys["workflowId"])
    repeats = "repeat" in node
    if repeats:
        node.rename("repeat", "@repeat")
    waits = _take_truth(node, "waitForCompletion", normalizer)
    quietly(before_0_8.subflows_as_actions)(node, normalizer)
    if waits is False and not repeats and isinstance(node.get("actions"), Array):
        for action in objects_in(node["actions"]):
            places = action.where.keys["subFlowRef"]
            reference = Object(places[1])
            reference.put("workflowId", action["subFlowRef"], places)
            reference.put("invoke", "async", places)
            # In this version it does not end with its parent.
            reference.put("onParentComplete", "continue", places)
            action["subFlowRef"] = reference


def _delay(node: Object, _normalizer: Normalizer) -> None:
    """Record the version's word for a sleep state."""
    place = node.where.position
    node.put("@writtenType", "delay", (place, place))


def _take_truth(node: Object, key: str, normalizer: Normalizer) -> bool | None:
    if key not in node:
        return None
    value, (_, place) = node.take(key)
    if isinstance(value, str):
        value = {"true": True, "false": False}.get(value.lower(), value)
    if not isinstance(value, bool):
        message = f"state {node.get('name')!r}: {key} must be true or false"
        normalizer.problems.append(normalizer.source.problem("type", message, place))
        return None
    return value


def _wildcard_last(node: Object, _normalizer: Normalizer) -> None:
    """Move the entry for all other errors behind those for specific ones: their order does not matter in 0.6."""
    entries = node.get("onErrors")
    if isinstance(entries, Array):
        placed = sorted(
            zip(entries, entries.positions, strict=True),
            key=lambda one: isinstance(one[0], Object) and one[0].get("error") == "*",
        )
        node["onErrors"] = Array([entry for entry, _ in placed], [position for _, position in placed])


def _inner(*keys: str) -> Step:
    """Return a step that renames *keys* to the fields that are only set in reading."""

    def step(node: Object, _normalizer: Normalizer) -> None:
        for key in keys:
            if key in node:
                node.rename(key, f"@{key}")

    return step


def _counts_retries(node: Object, _normalizer: Normalizer) -> None:
    if "maxAttempts" in node:
        node["@countsRetries"] = True


_OWN: Mapping[type[Node], Spelling] = {
    workflow.Workflow: Spelling(
        renamed={"expressionLanguage": "expressionLang", "schemaVersion": "specVersion"},
        steps=(_exec_timeout, quietly(before_0_8.state_types)),
    ),
    workflow.Retry: Spelling(steps=(quietly(before_0_8.multiplier_as_increment), _counts_retries)),
    actions.Action: Spelling(steps=(_inner("timeout"),)),
    states.OnError: Spelling(renamed={"error": "errorRef"}, steps=(_inner("code", "retryRef"),)),
    states.EventState: Spelling(steps=(quietly(before_0_8.event_timeout),)),
    states.OperationState: Spelling(steps=(_sub_workflow,)),
    states.SwitchState: Spelling(
        renamed={"default": "defaultCondition"}, steps=(quietly(before_0_8.event_timeout),)
    ),
    states.SleepState: Spelling(renamed={"timeDelay": "duration"}, steps=(_delay,)),
    states.ParallelState: Spelling(renamed={"n": "numCompleted"}, steps=(quietly(before_0_8.completion),)),
    states.Branch: Spelling(steps=(quietly(before_0_8.subflows_as_actions),)),
    states.ForeachState: Spelling(
        renamed={"inputParameter": "iterationParam", "max": "batchSize"},
        steps=(quietly(before_0_8.subflows_as_actions),),
    ),
    states.CallbackState: Spelling(steps=(quietly(before_0_8.event_timeout),)),
}  # fmt: skip


_TRUTH: Schema = {"type": "boolean"}
_ACCEPTED: Mapping[type[Node], Accepted] = {
    **before_0_8.VOCABULARY.accepted,
    states.OperationState: Accepted(
        more={
            **before_0_8.VOCABULARY.accepted[states.OperationState].more,
            "waitForCompletion": _TRUTH,
            "repeat": to(states.Repeat),
        }
    ),
    states.OnError: Accepted(more={"error": TEXT, "code": TEXT, "retryRef": TEXT}, instead={"errorRefs": ("error",)}),
    actions.Action: Accepted(more={"timeout": {"type": "string"}}),
}

_LATER: Mapping[type[Node], tuple[str, ...]] = {
    workflow.Workflow: (
        "specVersion", "key", "annotations", "dataInputSchema", "dataOutputSchema", "constants", "secrets", "timeouts",
        "errors", "auth", "autoRetries", "extensions",
    ),
    workflow.Function: ("authRef",),
    workflow.Event: ("dataOnly",),
    actions.Action: (
        "id", "subFlowRef", "sleep", "retryRef", "retryableErrors", "nonRetryableErrors", "condition", "actionFilter",
        "publish", "args", "arguments", "parameters",
    ),
    actions.FunctionRef: (
        "selectionSet", "invoke", "retryRef", "retryableErrors", "nonRetryableErrors", "args", "parameters",
    ),
    actions.EventRef: (
        "produceEventRef", "consumeEventRef", "consumeEventTimeout", "resultEventTimeout", "event", "invoke",
    ),
    actions.ActionDataFilter: ("useResults",),
    actions.EventDataFilter: ("useData",),
    states.End: ("continueAs",),
    states.OnError: ("errorRefs", "errorRef"),
    states.SwitchState: ("defaultCondition",),
    states.SleepState: ("duration",),
    states.ParallelState: ("numCompleted",),
    states.Branch: ("timeouts",),
    states.ForeachState: ("batchSize", "mode"),
}  # fmt: skip
"""Keys of a later version, or with another name there: they are read, but not proposed by editors."""

WORDS: Mapping[str, tuple[str, ...]] = {
    "defaultCondition": ("default",),
    "numCompleted": ("n",),
    "batchSize": ("max",),
    "errorRefs": ("error",),
    "specVersion": ("schemaVersion",),
    "produceEventRef": ("triggerEventRef",),
    "consumeEventRef": ("resultEventRef",),
    "workflowExecTimeout": ("execTimeout",),
    "eventTimeout": ("eventTimeout", "timeout"),
    "@timeout": ("timeout",),
    "@repeat": ("repeat",),
    "@retryRef": ("retryRef",),
    "duration": ("duration", "timeDelay"),
    "sleep": ("delay",),
}
"""The words of 0.8 in messages, and the words of this version for them."""

_VOCABULARY: Final = Vocabulary(
    state_types=before_0_8.VOCABULARY.state_types, spellings=_OWN, accepted=_ACCEPTED, later=_LATER
)
_LAST_WILDCARDS: Final = Vocabulary(spellings=dict.fromkeys(STATES, Spelling(steps=(_wildcard_last,))))

VERSION: Final = Version(
    name="0.6",
    title="Serverless Workflow 0.6",
    number="0.6",
    must_say_number=False,
    first_keys=(VersionMarker("", "start"),),
    last_keys=(
        VersionMarker("", "execTimeout"),
        VersionMarker("states", "type", word("delay", "subflow")),
        *each(["states"], "default", "timeDelay", "eventTimeout", "timeout", "waitForCompletion", "repeat"),
        *each(["states", "states.branches"], "workflowId"),
        VersionMarker("states", "completionType", word("and", "xor", "n_of_m")),
        *each(["states"], "n", "max"),
        *each(["states.onErrors"], "error", "code", "retryRef"),
        *each(ACTIONS, "timeout"),
    ),
    vocabulary=_LAST_WILDCARDS.then(_VOCABULARY).then(v0_8.VOCABULARY),
    words=WORDS,
    slow_call=before_0_8.SLOW_CALL,
    defines_errors=False,
    upgraders=("swf_temporal.languages.serverless_workflow.upgrading.from_0_6", *v0_8.VERSION.upgraders),
)
