"""What a history has to be there for: state types, versions, and whatever else makes a run take a course of its own."""

from collections.abc import Iterator
from typing import Any, Final

from swf_temporal.languages.direktiv.words import STATE_TYPES as DIREKTIV_STATES
from swf_temporal.languages.port import parts_of
from swf_temporal.languages.serverless_workflow.reading.recovery import STATE_TYPES
from swf_temporal.simulation.scenario import Scenario, workflows_of
from swf_temporal.text.located import plain
from swf_temporal.text.parsing import read_object

VERSIONS: Final = ("0.8", "0.8-next", "0.7", "0.6", "0.5", "May 2020", "November 2019", "direktiv")
KEYS: Final = (
    # waits, in all their kinds
    "eventConditions", "onEvents", "eventRef", "sleep", "delay", "eventDataFilter", "correlation", "produceEvents",
    "eventTimeout", "stateExecTimeout", "actionExecTimeout", "branchExecTimeout", "workflowExecTimeout", "timeouts",
    "timeout",
    # what goes wrong, and is undone
    "retryRef", "retries", "onErrors", "catch", "compensatedBy", "compensate",
    # what a run leads to
    "subFlowRef", "continueAs", "invoke", "terminate", "dataInputSchema", "secrets", "metadata",
    # variables, and what single languages have
    "variables", "files", "repeat", "transform",
    # calls and sub-workflows that may outlast an execution
    "longRunning", "onParentComplete",
)  # fmt: skip
"""Keys of definitions that have to stand in one that is recorded."""

REQUIRED: Final = frozenset(
    [
        *(f"state {one}" for one in (*STATE_TYPES, *(f"{kind} of Direktiv" for kind in DIREKTIV_STATES))),
        *(f"version {one}" for one in VERSIONS),
        *(f"key {one}" for one in KEYS),
        "events that are sent to it",
        "a run that fails",
    ]
)


def features_of(scenario: Scenario) -> frozenset[str]:
    """Return what the run of a scenario goes through, of all that is required."""
    return frozenset(_features(scenario)) & REQUIRED


def _features(scenario: Scenario) -> Iterator[str]:
    for definition in workflows_of(scenario):
        of = " of Direktiv" if definition.language.name == "direktiv" else ""
        yield from (f"state {part.kind}{of}" for part in parts_of(definition.outline))
        yield f"version {definition.language_version or definition.language.name}"
        yield from (f"key {key}" for key in _keys(plain(read_object(definition.source)[0])))
    if scenario.events:
        yield "events that are sent to it"
    if scenario.expect.error is not None:
        yield "a run that fails"


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        for one in value.values():
            yield from _keys(one)
    elif isinstance(value, list):
        for one in value:
            yield from _keys(one)
