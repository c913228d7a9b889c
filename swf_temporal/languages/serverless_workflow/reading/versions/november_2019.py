"""The draft of November 2019: states lead to others by `nextState`, and a definition begins at `startsAt`."""

from typing import Final

from swf_temporal.languages.serverless_workflow.model.workflow import DataFlowKind
from swf_temporal.languages.serverless_workflow.reading.versions import before_0_8
from swf_temporal.languages.serverless_workflow.reading.versions.before_0_8 import first_of, keyed
from swf_temporal.languages.serverless_workflow.reading.versions.marks import VersionEvidence, objects
from swf_temporal.languages.serverless_workflow.reading.versions.version import Version
from swf_temporal.text.origin import Object

KEYS: Final = ("startsAt", "starts-at", "triggerDefs", "trigger-defs")
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


VERSION: Final = Version(
    name="November 2019",
    title="the November 2019 draft of Serverless Workflow",
    number=None,
    shape=first_of(keyed(*KEYS), _most_states),
    handler="retry",
    slow_call=before_0_8.SLOW_CALL,
    data_flow=DataFlowKind.PIPELINE,
    reader="swf_temporal.languages.serverless_workflow.drafts.november_2019.reader",
    upgraders=("swf_temporal.languages.serverless_workflow.upgrading.november_2019.upgrade",),
)
