"""Spellings of 0.5, 0.6 and 0.7 that are tolerated in definitions of 0.7 and 0.8."""

from collections.abc import Callable
from typing import Final, TypeAlias

from swf_temporal.languages.serverless_workflow.model import actions, states, workflow
from swf_temporal.languages.serverless_workflow.reading.normalizing import Normalizer, Spelling
from swf_temporal.languages.serverless_workflow.reading.reshaping import hoist
from swf_temporal.languages.serverless_workflow.reading.versions.marks import VersionEvidence, objects
from swf_temporal.languages.serverless_workflow.reading.vocabulary import Accepted, Vocabulary, to
from swf_temporal.text.origin import Array, Object, objects_in

LATER_TYPES: Final = {"delay": "sleep", "subflow": "operation"}
"""The types of states that were renamed, with their present names."""
_COMPLETIONS = {"and": ("allOf", None), "xor": ("atLeast", 1), "n_of_m": ("atLeast", None)}
SLOW_CALL: Final = "give it a timeout, or mark it as long-running (longRunning: 'true' in the metadata of the function)"
"""Advice for authors about a call that delays its instance."""

_EVENT_TIMEOUTS = ("eventTimeout", "timeout", "timeDelay")


def state_types(root: Object, normalizer: Normalizer) -> None:
    """Replace types of states by their present names."""
    for state in objects_in(root.get("states")):
        word = state.get("type")
        if isinstance(word, str) and word in LATER_TYPES:
            state["type"] = LATER_TYPES[word]
            normalizer.tolerate(f"the state type {word!r} is read as {LATER_TYPES[word]!r}", state.where.value("type"))


def exec_timeout(root: Object, normalizer: Normalizer) -> None:
    """Move 0.6's `execTimeout` into `timeouts`; its `interrupt` was false by default."""
    timeout, place = root.get("execTimeout"), root.where.key("execTimeout")
    if timeout is not None and hoist(root, "execTimeout", "timeouts", "workflowExecTimeout"):
        if isinstance(timeout, Object) and "interrupt" not in timeout:
            timeout.put("interrupt", value=False, places=(place, place))
        normalizer.tolerate("'execTimeout' is read as 'workflowExecTimeout' in 'timeouts'", place)


def event_timeout(node: Object, normalizer: Normalizer) -> None:
    """Move the timeout of events into `timeouts`; examples still have it in its old location."""
    for old in _EVENT_TIMEOUTS:
        place = node.where.key(old)
        if hoist(node, old, "timeouts", "eventTimeout"):
            normalizer.tolerate(f"{old!r} belongs in 'timeouts', and is read as its 'eventTimeout'", place)


def completion(node: Object, normalizer: Normalizer) -> None:
    """Rewrite the completion type of a parallel state before 0.7: and, xor, or n_of_m."""
    word = node.get("completionType")
    if not isinstance(word, str) or word not in _COMPLETIONS:
        return
    node["completionType"], number = _COMPLETIONS[word]
    if number is not None and "numCompleted" not in node:
        node.put("numCompleted", number, node.where.keys["completionType"])
    normalizer.tolerate(
        f"completionType {word!r} is read as {node['completionType']!r}", node.where.value("completionType")
    )


def multiplier_as_increment(node: Object, normalizer: Normalizer) -> None:
    """Read a multiplier that is a duration, as before 0.6, as an increment."""
    multiplier = node.get("multiplier")
    if isinstance(multiplier, str) and multiplier.startswith("P") and "increment" not in node:
        normalizer.tolerate("a multiplier that is a duration is read as 'increment'", node.where.key("multiplier"))
        node.rename("multiplier", "increment")


def subflows_as_actions(node: Object, normalizer: Normalizer) -> None:
    """Convert the `workflowId` of a state or branch, as before 0.7, to an action."""
    if "workflowId" not in node or "actions" in node:
        return
    normalizer.tolerate("'workflowId' is read as an action with a subFlowRef", node.where.key("workflowId"))
    workflow_id, places = node.take("workflowId")
    action = Object(places[0])
    action.put("subFlowRef", workflow_id, places)
    node.put("actions", Array([action], [places[0]]), places)


_WAITING = Spelling(steps=(event_timeout,))
_SUBFLOW = Accepted(more={"workflowId": to(actions.SubflowRef)})
_EVENT_TIMEOUT = Accepted(more={name: {"type": "string"} for name in _EVENT_TIMEOUTS})

VOCABULARY: Final = Vocabulary(
    state_types=LATER_TYPES,
    spellings={
        workflow.Workflow: Spelling(
            renamed={"expressionLanguage": "expressionLang", "schemaVersion": "specVersion"},
            steps=(exec_timeout, state_types),
        ),
        workflow.Retry: Spelling(steps=(multiplier_as_increment,)),
        states.EventState: _WAITING,
        states.OperationState: Spelling(steps=(subflows_as_actions,)),
        states.SwitchState: Spelling(tolerated={"default": "defaultCondition"}, steps=(event_timeout,)),
        states.SleepState: Spelling(tolerated={"timeDelay": "duration"}),
        states.ParallelState: Spelling(tolerated={"n": "numCompleted"}, steps=(completion,)),
        states.Branch: Spelling(steps=(subflows_as_actions,)),
        states.ForeachState: Spelling(
            tolerated={"inputParameter": "iterationParam", "max": "batchSize"}, steps=(subflows_as_actions,)
        ),
        states.CallbackState: _WAITING,
    },
    accepted={
        workflow.Workflow: Accepted(more={"execTimeout": to(workflow.WorkflowExecTimeout)}),
        states.EventState: _EVENT_TIMEOUT,
        states.OperationState: _SUBFLOW,
        states.SwitchState: _EVENT_TIMEOUT,
        states.ParallelState: Accepted(widened={"completionType": {"enum": list(_COMPLETIONS)}}),
        states.Branch: Accepted(more=_SUBFLOW.more, instead={"actions": ("workflowId",)}),
        states.ForeachState: _SUBFLOW,
        states.CallbackState: _EVENT_TIMEOUT,
    },
)


Shape: TypeAlias = Callable[[Object], VersionEvidence | None]
"""Returns the key that identifies a language or draft, if a document has it."""


def first_of(*shapes: Shape) -> Shape:
    return lambda root: next((found for shape in shapes if (found := shape(root)) is not None), None)


def keyed(*keys: str) -> Shape:
    return lambda root: next((VersionEvidence(key, root.where.key(key)) for key in keys if key in root), None)


def within(path: str, claim: Callable[[Object], str | None]) -> Shape:
    """Return the shape whose key is the one that *claim* returns for one of the objects at *path*."""
    keys = path.split(".")

    def shape(root: Object) -> VersionEvidence | None:
        claimed = ((node, claim(node)) for node in objects(root, keys))
        return next((VersionEvidence(key, node.where.key(key)) for node, key in claimed if key), None)

    return shape


def one_of(*keys: str) -> Callable[[Object], str | None]:
    """Return a claim that returns the first of *keys* that an object has."""
    return lambda node: next((key for key in keys if key in node), None)
