"""0.8, which the model follows, with deviations of authors and official examples; 0.7 and the texts after 0.8."""

from collections.abc import Mapping
from typing import Final

from swf_temporal.languages.serverless_workflow.model import actions, states, workflow
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.model.workflow import DataFlowKind
from swf_temporal.languages.serverless_workflow.reading import reshaping as reshape
from swf_temporal.languages.serverless_workflow.reading.normalizing import Normalizer, Spelling
from swf_temporal.languages.serverless_workflow.reading.versions import before_0_8
from swf_temporal.languages.serverless_workflow.reading.versions.marks import ACTIONS, VersionMarker, each, word
from swf_temporal.languages.serverless_workflow.reading.versions.version import Version
from swf_temporal.languages.serverless_workflow.reading.vocabulary import TEXT, Accepted, Schema, Vocabulary
from swf_temporal.text.origin import Array, Object, objects_in

_LEAVING = (reshape.end_as_truth,)
_IN_ANY_STATE = (*_LEAVING, reshape.states_by_name("compensatedBy"))
_WRITE_ID = "write 'id: ...', so that it does not change with the name"
_ARGUMENTS = {"parameters": "arguments", "args": "arguments"}


def _state_ids(root: Object, normalizer: Normalizer) -> None:
    """Collect the ids by which transitions may refer to states in 0.8 (section "Transition Definition")."""
    found = [state for state in objects_in(root.get("states")) if isinstance(state.get("name"), str)]
    names = {state["name"] for state in found}
    normalizer.state_ids = {
        state["id"]: state["name"] for state in found if isinstance(state.get("id"), str) and state["id"] not in names
    }


def _identity(root: Object, normalizer: Normalizer) -> None:
    """Use the key, or as since 0.9 the name, as the id if there is none."""
    if root.get("id") is not None:
        return
    if root.get("key") is not None:
        root.put("id", root["key"], root.where.keys["key"])
    elif root.get("name") is not None:
        root.put("id", root["name"], root.where.keys["name"])
        normalizer.tolerate("this definition has no id: its name is used", root.where.key("name"), _WRITE_ID)


def _single_auth(root: Object, normalizer: Normalizer) -> None:
    auth = root.get("auth")
    if isinstance(auth, Object):
        root["auth"] = Array([auth], [auth.where.position])
        normalizer.tolerate("auth is a list: a single definition is read as its only element", root.where.value("auth"))


_SPELLINGS: Mapping[type[Node], Spelling] = {
    workflow.Workflow: Spelling(
        steps=(_identity, _single_auth, reshape.schema_in_place, _state_ids),
    ),
    workflow.DataSchema: Spelling(short="schema"),
    workflow.WorkflowExecTimeout: Spelling(short="duration", steps=(reshape.states_by_name("runBefore"),)),
    workflow.WorkflowTimeouts: Spelling(steps=(reshape.state_exec_timeout,)),
    workflow.Start: Spelling(short="stateName", steps=(reshape.states_by_name("stateName"),)),
    workflow.Schedule: Spelling(short="interval"),
    workflow.Cron: Spelling(short="expression"),
    # A bare authRef is for the invocation since the version after 0.8; in 0.8 it was for fetching the document.
    workflow.AuthRef: Spelling(short="invocation"),
    actions.Action: Spelling(
        tolerated={"actionFilter": "actionDataFilter", "publish": "eventRef"},
        steps=(reshape.arguments_into_function, reshape.retries_out_of_function),
    ),
    actions.ActionDataFilter: Spelling(tolerated={"dataInputPath": "fromStateData", "dataResultsPath": "results"}),
    actions.EventDataFilter: Spelling(tolerated={"dataOutputPath": "data"}),
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
    actions.SubflowRef: Spelling(short="workflowId"),
    states.ProduceEvent: Spelling(short="eventRef", steps=(reshape.attributes_as_map,)),
    states.Transition: Spelling(short="nextState", steps=(reshape.states_by_name("nextState"),)),
    states.ContinueAs: Spelling(short="workflowId"),
    states.OnError: Spelling(tolerated={"error": "errorRef"}, steps=(reshape.error_refs, *_LEAVING)),
    states.StateDataFilter: Spelling(tolerated={"dataInputPath": "input", "dataOutputPath": "output"}),
    states.StateTimeouts: Spelling(steps=(reshape.state_exec_timeout,)),
    states.StateBase: Spelling(steps=_IN_ANY_STATE),
    states.EventState: Spelling(steps=_IN_ANY_STATE),
    states.OnEvents: Spelling(tolerated={"eventFilter": "eventDataFilter"}),
    states.OperationState: Spelling(steps=_IN_ANY_STATE),
    states.SwitchState: Spelling(steps=_IN_ANY_STATE),
    states.DataCondition: Spelling(steps=_LEAVING),
    states.EventCondition: Spelling(steps=_LEAVING),
    states.DefaultCondition: Spelling(short="transition", steps=_LEAVING),
    states.SleepState: Spelling(steps=_IN_ANY_STATE),
    states.ParallelState: Spelling(steps=_IN_ANY_STATE),
    states.InjectState: Spelling(steps=_IN_ANY_STATE),
    states.ForeachState: Spelling(steps=(reshape.iteration_param, *_IN_ANY_STATE)),
    states.CallbackState: Spelling(steps=_IN_ANY_STATE),
}  # fmt: skip

_TIME: Schema = {"type": "string"}
_ATTRIBUTES: Mapping[str, Schema] = {"contextAttributes": {"type": "array", "items": {"type": "object"}}}
_TOTAL: Schema = {
    "type": "object",
    "properties": {"total": _TIME, "single": _TIME},
    "required": ["total"],
    "additionalProperties": False,
}
_FREE: Schema = {"type": "object"}

_ACCEPTED: Mapping[type[Node], Accepted] = {
    workflow.Workflow: Accepted(
        widened={"auth": {"$ref": "#/$defs/Auth"}},
        instead={"id": ("key", "name")},
        is_open=True,
    ),
    # An object without `schema` is the schema itself, with any properties.
    workflow.DataSchema: Accepted(instead={"schema": ()}, is_open=True),
    workflow.WorkflowTimeouts: Accepted(widened={"stateExecTimeout": _TOTAL}),
    actions.Action: Accepted(more=dict.fromkeys(("arguments", "args", "parameters"), _FREE)),
    actions.FunctionRef: Accepted(
        more={
            "retryRef": TEXT,
            "retryableErrors": {"type": "array", "items": TEXT},
            "nonRetryableErrors": {"type": "array", "items": TEXT},
        }
    ),
    actions.EventRef: Accepted(widened=_ATTRIBUTES),
    states.ProduceEvent: Accepted(widened=_ATTRIBUTES),
    states.OnError: Accepted(more={"errorRef": TEXT, "error": TEXT}, instead={"errorRefs": ("errorRef", "error")}),
    states.StateTimeouts: Accepted(widened={"stateExecTimeout": _TOTAL}),
}

WORDS: Mapping[str, tuple[str, ...]] = {
    "produceEventRef": ("triggerEventRef", "produceEventRef"),
    "consumeEventRef": ("resultEventRef", "consumeEventRef"),
    "consumeEventTimeout": ("resultEventTimeout", "consumeEventTimeout"),
}
"""The words of the text after 0.8, and those of 0.8 for them."""

VOCABULARY: Final = Vocabulary(spellings=_SPELLINGS, accepted=_ACCEPTED)
"""Everything that is read in 0.8 and its successor, except tolerated words of older versions."""

VERSION: Final = Version(
    name="0.8",
    also_named=("0.9",),
    title="Serverless Workflow 0.8",
    number="0.8",
    tolerates_older_words=True,
    first_keys=(
        *each(ACTIONS, "condition"),
        *each((f"{path}.actionDataFilter" for path in ACTIONS), "useResults"),
        *each((f"{path}.{ref}" for path in ACTIONS for ref in ("functionRef", "eventRef", "subFlowRef")), "invoke"),
        VersionMarker("functions", "type", word("custom")),
    ),
    vocabulary=before_0_8.VOCABULARY.then(VOCABULARY),
    words=WORDS,
    upgraders=("swf_temporal.languages.serverless_workflow.upgrading.tolerated",),
    writers=(),
)

VERSION_0_7: Final = Version(
    name="0.7",
    title="Serverless Workflow 0.7",
    number="0.7",
    tolerates_older_words=True,
    first_keys=(
        *each([""], "timeouts", "errors", "auth", "secrets", "constants", "annotations", "autoRetries", "key"),
        VersionMarker("states", "type", word("sleep")),
        *each(["states"], "defaultCondition", "timeouts", "numCompleted", "batchSize", "mode"),
        VersionMarker("states", "completionType", word("allOf", "atLeast")),
        *each(["states.onErrors"], "errorRef", "errorRefs"),
        *each(ACTIONS, "sleep", "subFlowRef", "retryRef", "retryableErrors", "nonRetryableErrors"),
        *each(["events"], "dataOnly"),
    ),
    vocabulary=VERSION.vocabulary,
    words=WORDS,
    slow_call=before_0_8.SLOW_CALL,
    upgraders=VERSION.upgraders,
)
"""0.7: everything means the same in 0.8, which made some things optional and added others."""

NEXT: Final = Version(
    name="0.8-next",
    title="Serverless Workflow 0.8-next",
    number=VERSION.number,
    tolerates_older_words=True,
    first_keys=(
        *each([""], "dataOutputSchema", "extensions"),
        *each(["functions.authRef"], "resource", "invocation"),
        *each((f"{path}.eventRef" for path in ACTIONS), "produceEventRef", "consumeEventRef"),
    ),
    vocabulary=VERSION.vocabulary,
    has_semantic_versions=True,
    writers=("swf_temporal.languages.serverless_workflow.upgrading.to_next",),
)
"""The text after 0.8, which has no number yet: it says "0.8", and only its own keys identify it."""

SONATAFLOW: Final = Version(
    name="0.8-sonataflow",
    title="Serverless Workflow 0.8 in the mode of SonataFlow",
    number="0.8-sonataflow",
    tolerates_older_words=True,
    vocabulary=VERSION.vocabulary,
    words=VERSION.words,
    data_flow=DataFlowKind.REPLACING,
    closest_handler=True,
    narrow_truths=True,
    filters_objects=True,
    tells_of_requests=True,
    upgraders=VERSION.upgraders,
)
"""0.8 as SonataFlow read and ran it, for definitions that are not to be rewritten.

A text states it by its number. `upgrading/sonataflow` converts definitions of SonataFlow to such texts.
"""
