"""The drafts: of November 2019, whose states lead to others by `nextState`, and of May 2020."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from swf_temporal.languages.serverless_workflow.model.workflow import DataFlowKind
from swf_temporal.languages.serverless_workflow.reading.versions import before_0_8
from swf_temporal.languages.serverless_workflow.reading.versions.before_0_8 import (
    Shape,
    first_of,
    keyed,
    one_of,
    within,
)
from swf_temporal.languages.serverless_workflow.reading.versions.marks import VersionEvidence, having, objects
from swf_temporal.languages.serverless_workflow.reading.versions.version import Version
from swf_temporal.text.origin import Object

KEYS_OF_2019: Final = ("startsAt", "starts-at", "triggerDefs", "trigger-defs")
"""Keys of definitions that no later version has."""
# Tuples, because the value of a type may be unhashable.
_TYPES = ("EVENT", "OPERATION", "SWITCH", "DELAY", "PARALLEL", "SUBFLOW", "RELAY", "INJECT", "FOREACH", "CALLBACK")
_LATER_TYPES = (*(word.lower() for word in _TYPES), "sleep")


def _key_of(state: Object, *, by_type: bool) -> str | None:
    if isinstance(state.get("nextState"), str):
        return "nextState"
    return "type" if by_type and state.get("type") in _TYPES and "transition" not in state else None


def _most_states(root: Object) -> VersionEvidence | None:
    """Return the evidence for the draft in a state, if fewer states are in the form of later versions.

    A single such state may be a mistake; if there are as many of both, a specVersion decides. With a specVersion, which
    the draft does not have, a type in capitals alone is no evidence.
    """
    states = list(objects(root, ["states"]))
    by_type = "specVersion" not in root
    shown = [VersionEvidence(key, state.where.key(key)) for state in states if (key := _key_of(state, by_type=by_type))]
    later = sum("transition" in state or state.get("type") in _LATER_TYPES for state in states)
    return shown[0] if shown and (len(shown), by_type) > (later, False) else None


NOVEMBER_2019: Final = Version(
    name="November 2019",
    title="the November 2019 draft of Serverless Workflow",
    number=None,
    shape=first_of(keyed(*KEYS_OF_2019), _most_states),
    handler="retry",
    slow_call=before_0_8.SLOW_CALL,
    data_flow=DataFlowKind.PIPELINE,
    reader="swf_temporal.languages.serverless_workflow.drafts.november_2019.reader",
    upgraders=("swf_temporal.languages.serverless_workflow.upgrading.november_2019.upgrade",),
)


def _with_bare_path(*keys: str) -> Callable[[Object], str | None]:
    """Return a claim that returns the first of *keys* with a path without the braces of 0.5."""
    return lambda node: next((key for key in keys if str(node.get(key, "")).startswith("$.")), None)


def _compared(state: Object) -> str | None:
    conditions = state.get("dataConditions")
    is_compared = isinstance(conditions, list) and any(having("path", "operator")(one) for one in conditions)
    return "dataConditions" if is_compared else None


def _started_in_state(shape: Shape) -> Shape:
    """Restrict *shape* to documents with a start in a state.

    Since 0.6 that key is ignored.
    """
    has_kind = having("kind")

    def shown(root: Object) -> VersionEvidence | None:
        is_started = any(has_kind(state.get("start")) for state in objects(root, ["states"]))
        return shape(root) if is_started else None

    return shown


def _several(only: tuple[Shape, ...], others: tuple[Shape, ...]) -> Shape:
    """Return a shape: the first of *only* in documents with another shape and without specVersion and `startsAt`.

    Documents with a shape of *only* are invalid in all later versions: so no running instance is read as this draft.
    """

    def shown(root: Object) -> VersionEvidence | None:
        if any(key in root for key in ("specVersion", *KEYS_OF_2019)):
            return None
        found = [one for shape in only if (one := shape(root)) is not None]
        return found[0] if found and (len(found) > 1 or first_of(*others)(root) is not None) else None

    return shown


def _branch_of_states(branch: Object) -> str | None:
    """Return the key of tasks or states in place of the actions of later versions."""
    is_later = "actions" in branch or "workflowId" in branch
    return None if is_later else next((key for key in ("tasks", "states") if key in branch), None)


def _foreach_of_states(state: Object) -> str | None:
    return _branch_of_states(state) if str(state.get("type")).lower() == "foreach" else None


def _compared_alone(state: Object) -> str | None:
    conditions = state.get("dataConditions")
    listed = conditions if isinstance(conditions, list) else []
    return "dataConditions" if any(having("operator")(one) and "condition" not in one for one in listed) else None


def _leads_to_task(transition: Object) -> str | None:
    return "nextTask" if "nextTask" in transition and "nextState" not in transition else None


def _speaks_spel(root: Object) -> VersionEvidence | None:
    language = root.get("expressionLanguage")
    is_spel = isinstance(language, str) and language.lower() == "spel"
    return VersionEvidence("expressionLanguage", root.where.key("expressionLanguage")) if is_spel else None


def _started_by_name(shape: Shape) -> Shape:
    """Restrict *shape* to documents with `startsAt`."""
    return lambda root: shape(root) if "startsAt" in root else None


_ONLY_IN_MAY: Final = (
    within("states", _compared_alone),
    within("states", _foreach_of_states),
    within("states.branches", _branch_of_states),
    within("states.transition", _leads_to_task),
    _speaks_spel,
)
"""Shapes that are invalid in all later versions."""

_USUAL_IN_MAY: Final = (
    within("states", one_of("onError", "retry")),
    within("functions", one_of("resource")),
    within("events", one_of("correlationToken")),
    within("states.default", one_of("nextState")),
)
"""Shapes of which a single one may be a mistake in a later version, if no state has a start."""

MAY_2020: Final = Version(
    name="May 2020",
    title="the May 2020 draft of Serverless Workflow",
    number=None,
    shape=first_of(
        keyed("tasks"),
        within("states", one_of("eventsActions")),
        # The texts of early 2020 have the start of the draft of 2019, and are otherwise like the draft of May.
        _started_by_name(
            first_of(
                keyed("functions", "events"),
                within("states", one_of("stateDataFilter")),
                within("states.actions", one_of("functionRef")),
            )
        ),
        _started_in_state(
            first_of(
                *_USUAL_IN_MAY,
                within("states", one_of("states")),
                within("states", _compared),
                within("states.branches", one_of("states")),
                within("states.stateDataFilter", _with_bare_path("dataInputPath", "dataOutputPath")),
            )
        ),
        _several(_ONLY_IN_MAY, _USUAL_IN_MAY),
    ),
    state_word="task",
    handler="onError entry",
    slow_call=before_0_8.SLOW_CALL,
    data_flow=DataFlowKind.LAST_KEYS,
    path_synonyms={"exception": "error"},
    reader="swf_temporal.languages.serverless_workflow.drafts.may_2020.reader",
    upgraders=("swf_temporal.languages.serverless_workflow.upgrading.may_2020.upgrade",),
)

OF_STATES: Final = replace(MAY_2020, state_word="state")
"""The spelling of the draft's predecessor."""
