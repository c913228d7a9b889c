"""How are 0.8, its next version, and the versions near them (0.6, 0.7) spelled out as one vocabulary?"""

from collections.abc import Mapping
from typing import Any

from swf_temporal.languages.serverless_workflow.model import actions, definitions, schedules, states, workflow
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.reading import reshaping as reshape
from swf_temporal.languages.serverless_workflow.reading.normalizing import Normalizer, Spelling, Step
from swf_temporal.text.located import Array, Object

FORMER_TYPES = {"delay": "sleep", "subflow": "operation"}
"""The types of states before 0.7, and what they are now."""

_LEAVING = (reshape.end_as_truth,)
_IN_ANY_STATE = (*_LEAVING, reshape.states_by_name("compensatedBy"))
_WAITING = (*_IN_ANY_STATE, reshape.event_timeout)
_ARGUMENTS = {"parameters": "arguments", "args": "arguments"}


def _state_types(root: Object, speller: Normalizer) -> None:
    for state in _objects(root.get("states")):
        word = state.get("type")
        if isinstance(word, str) and word in FORMER_TYPES:
            state["type"] = FORMER_TYPES[word]
            speller.tolerate(f"the state type {word!r} is read as {FORMER_TYPES[word]!r}", state.where.value("type"))


def _state_ids(root: Object, speller: Normalizer) -> None:
    """Note the ids, which transitions may name states by in 0.8 (section "Transition Definition")."""
    found = [state for state in _objects(root.get("states")) if isinstance(state.get("name"), str)]
    names = {state["name"] for state in found}
    speller.state_ids = {
        state["id"]: state["name"] for state in found if isinstance(state.get("id"), str) and state["id"] not in names
    }


def _identity(root: Object, speller: Normalizer) -> None:
    """Take the key, or as since 0.9 the name, for the id where there is none."""
    if root.get("id") is not None:
        return
    if root.get("key") is not None:
        root.put("id", root["key"], root.where.keys["key"])
    elif root.get("name") is not None:
        root.put("id", root["name"], root.where.keys["name"])
        speller.tolerate("this definition has no id: its name is taken", root.where.key("name"))


def _exec_timeout(root: Object, speller: Normalizer) -> None:
    """Move 0.6's `execTimeout` into `timeouts`; it did not interrupt unless it said so."""
    timeout, place = root.get("execTimeout"), root.where.key("execTimeout")
    if timeout is not None and reshape.hoist(root, "execTimeout", "timeouts", "workflowExecTimeout"):
        if isinstance(timeout, Object) and "interrupt" not in timeout:
            timeout.put("interrupt", value=False, places=(place, place))
        speller.tolerate("'execTimeout' is read as 'workflowExecTimeout' in 'timeouts'", place)


def _single_auth(root: Object, speller: Normalizer) -> None:
    auth = root.get("auth")
    if isinstance(auth, Object):
        root["auth"] = Array([auth], [auth.where.position])
        speller.tolerate("auth is a list: a single definition is read as its only element", root.where.value("auth"))


def _version_as_number(node: Object, speller: Normalizer) -> None:
    """Tell that `version: 1.10` is the number 1.1: what the author meant is lost."""
    version = node.get("version")
    if isinstance(version, float):
        message = f"version is a number, and is read as the text '{version}'"
        speller.tolerate(message, node.where.value("version"), "put it in quotes")


def _newer_keys(*keys: str, inside: str | None = None) -> Step:
    """Return a step that notes *keys* which 0.8 does not have, in a node or *inside* its child."""

    def step(node: Object, speller: Normalizer) -> None:
        owner = node if inside is None else node.get(inside)
        speller.is_next = speller.is_next or (isinstance(owner, Object) and any(key in owner for key in keys))

    return step


def _objects(items: Any) -> list[Object]:
    return [item for item in items if isinstance(item, Object)] if isinstance(items, list) else []


SPELLINGS: Mapping[type[Node], Spelling] = {
    workflow.Workflow: Spelling(
        renamed={"expressionLanguage": "expressionLang", "schemaVersion": "specVersion"},
        steps=(
            _identity, _version_as_number, _exec_timeout, _single_auth, reshape.schema_in_place, _state_types,
            _state_ids, _newer_keys("dataOutputSchema", "extensions"),
        ),
    ),
    workflow.DataSchema: Spelling(short="schema"),
    workflow.WorkflowExecTimeout: Spelling(short="duration", steps=(reshape.states_by_name("runBefore"),)),
    workflow.WorkflowTimeouts: Spelling(steps=(reshape.state_exec_timeout,)),
    schedules.Start: Spelling(short="stateName", steps=(reshape.states_by_name("stateName"),)),
    schedules.Schedule: Spelling(short="interval"),
    schedules.Cron: Spelling(short="expression"),
    # A bare authRef is for the invocation since 0.8's next version; before, it was for fetching the document.
    definitions.AuthRef: Spelling(short="invocation"),
    definitions.Function: Spelling(steps=(_newer_keys("resource", "invocation", inside="authRef"),)),
    definitions.Retry: Spelling(steps=(reshape.multiplier_as_increment,)),
    actions.Action: Spelling(
        tolerated={"actionFilter": "actionDataFilter", "publish": "eventRef"},
        steps=(
            reshape.arguments_into_function, reshape.retries_out_of_function,
            _newer_keys("produceEventRef", "consumeEventRef", inside="eventRef"),
        ),
    ),
    actions.FunctionRef: Spelling(short="refName", tolerated=_ARGUMENTS),
    actions.EventRef: Spelling(
        renamed={
            "triggerEventRef": "produceEventRef",
            "resultEventRef": "consumeEventRef",
            "resultEventTimeout": "consumeEventTimeout",
            "event": "produceEventRef",
        },
        steps=(reshape.attributes_as_map,),
    ),
    actions.SubflowRef: Spelling(short="workflowId", steps=(_version_as_number,)),
    states.ProduceEvent: Spelling(short="eventRef", steps=(reshape.attributes_as_map,)),
    states.Transition: Spelling(short="nextState", steps=(reshape.states_by_name("nextState"),)),
    states.ContinueAs: Spelling(short="workflowId", steps=(_version_as_number,)),
    states.OnError: Spelling(tolerated={"error": "errorRef"}, steps=(reshape.error_refs, *_LEAVING)),
    states.StateTimeouts: Spelling(steps=(reshape.state_exec_timeout,)),
    states.StateBase: Spelling(steps=_IN_ANY_STATE),
    states.EventState: Spelling(steps=_WAITING),
    states.OnEvents: Spelling(tolerated={"eventFilter": "eventDataFilter"}),
    states.OperationState: Spelling(steps=(*_IN_ANY_STATE, reshape.subflows_as_actions)),
    states.SwitchState: Spelling(tolerated={"default": "defaultCondition"}, steps=_WAITING),
    states.DataCondition: Spelling(steps=_LEAVING),
    states.EventCondition: Spelling(steps=_LEAVING),
    states.DefaultCondition: Spelling(short="transition", steps=_LEAVING),
    states.SleepState: Spelling(tolerated={"timeDelay": "duration"}, steps=_IN_ANY_STATE),
    states.ParallelState: Spelling(
        tolerated={"n": "numCompleted"}, steps=(reshape.completion, *_IN_ANY_STATE)
    ),
    states.Branch: Spelling(steps=(reshape.subflows_as_actions,)),
    states.InjectState: Spelling(steps=_IN_ANY_STATE),
    states.ForeachState: Spelling(
        tolerated={"inputParameter": "iterationParam", "max": "batchSize"},
        steps=(reshape.iteration_param, reshape.subflows_as_actions, *_IN_ANY_STATE),
    ),
    states.CallbackState: Spelling(steps=_WAITING),
}  # fmt: skip
"""How else than in the model's way each kind of node may be written."""


def normalize(root: Object, speller: Normalizer) -> None:
    """Rewrite the document *root* in place, so that the model can be built from it."""
    speller.spell(workflow.Workflow, root, root.where.position)
    root["dialect"] = "0.8-next" if speller.is_next else "0.8"
