"""What histories have to be there for: state types, versions, commands, and what else a run goes through."""

from collections.abc import Iterator
from typing import Any, Final

from swf_temporal.languages.direktiv.words import STATE_TYPES as DIREKTIV_STATES
from swf_temporal.languages.dsl.model.workflow import TASK_TYPES
from swf_temporal.languages.serverless_workflow.model.states import STATE_TYPES
from swf_temporal.runtime.ids import ACTIVITY_TYPES, WORKFLOW_TYPES
from swf_temporal.simulation.scenario import Scenario, workflows_of
from swf_temporal.temporal.variables import INSTANCE_ENDED
from swf_temporal.text.origin import plain
from swf_temporal.text.parsing import read_object
from tests.upgrades.chains import Execution

VERSIONS: Final = ("0.8", "0.8-next", "0.7", "0.6", "0.5", "May 2020", "November 2019", "direktiv", "1.0.3")
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
    # what DSL 1.0 has
    "compete", "while", "foreach", "correlate", "until", "extensions", "before", "after", "export", "limit",
)  # fmt: skip
"""Keys of definitions that have to stand in one that is recorded."""
COMMANDS: Final = (
    "ACTIVITY_TASK_SCHEDULED", "ACTIVITY_TASK_CANCEL_REQUESTED", "TIMER_STARTED", "TIMER_CANCELED",
    "START_CHILD_WORKFLOW_EXECUTION_INITIATED", "SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED",
    "REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED", "MARKER_RECORDED", "UPSERT_WORKFLOW_SEARCH_ATTRIBUTES",
    "WORKFLOW_EXECUTION_UPDATE_COMPLETED", "WORKFLOW_EXECUTION_COMPLETED", "WORKFLOW_EXECUTION_FAILED",
    "WORKFLOW_EXECUTION_CANCELED", "WORKFLOW_EXECUTION_CONTINUED_AS_NEW",
)  # fmt: skip
"""The kinds of events that commands of workflows make."""
ACTIVITIES: Final = ACTIVITY_TYPES - {INSTANCE_ENDED}
"""The activities that are not calls of functions; the one that is left out is due a day after something else."""

_OF_LANGUAGE: Final = {"direktiv": " of Direktiv", "dsl": " of DSL 1.0"}
REQUIRED: Final = frozenset(
    [
        *(f"state {one}" for one in (
            *STATE_TYPES, *(f"{kind} of Direktiv" for kind in DIREKTIV_STATES),
            *(f"{kind} of DSL 1.0" for kind in TASK_TYPES),
        )),
        *(f"version {one}" for one in VERSIONS), *(f"key {one}" for one in KEYS),
        *(f"command {one}" for one in COMMANDS), *(f"activity {one}" for one in ACTIVITIES),
        *(f"workflow {one}" for one in WORKFLOW_TYPES), "events that are sent to it",
    ],
)  # fmt: skip


def features_of(scenario: Scenario) -> frozenset[str]:
    """Return what a scenario shows: all that is required, each type of states in each version, and its topic."""
    return frozenset(_features(scenario))


def commands_in(execution: Execution) -> frozenset[str]:
    """Return what a history shows: the type of its workflow, its commands, and the activities beside calls."""
    return frozenset(_commands(execution)) & REQUIRED


def _features(scenario: Scenario) -> Iterator[str]:
    yield f"topic {scenario.file.parent.name}"
    for definition in workflows_of(scenario):
        of_language = _OF_LANGUAGE.get(definition.language.name, "")
        version = definition.language_version or definition.language.name
        yield f"version {version}"
        for part in definition.outline.every_part:
            yield f"state {part.kind}{of_language}"
            yield f"state {part.kind} in {version}"
        keys = set(_keys(plain(read_object(definition.source)[0])))
        yield from (f"key {key}" for key in KEYS if key in keys)
    if scenario.events:
        yield "events that are sent to it"


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        for one in value.values():
            yield from _keys(one)
    elif isinstance(value, list):
        for one in value:
            yield from _keys(one)


def _commands(execution: Execution) -> Iterator[str]:
    yield f"workflow {execution.definition_id}"
    for event in execution.history["events"]:
        yield f"command {event['eventType'].removeprefix('EVENT_TYPE_')}"
        scheduled = event.get("activityTaskScheduledEventAttributes")
        if scheduled is not None:
            yield f"activity {scheduled['activityType']['name']}"
    yield from (f"activity {name}" for name in execution.local_activities)
