"""Runs that began under this or an earlier release go on under this one: their recorded histories replay."""

from typing import get_args

import pytest
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner

from swf_temporal.base.strict_json import read_json
from swf_temporal.runtime.host import TimerPurpose
from swf_temporal.runtime.ids import WORKFLOW_TYPES
from swf_temporal.sdk.scenarios.host import IN_SCENARIOS
from swf_temporal.sdk.scenarios.virtual_time import VirtualTime
from swf_temporal.temporal.converter import CONVERTER
from swf_temporal.temporal.instance_part import OperatorOptionsInterceptor
from swf_temporal.temporal.replaying import replay
from swf_temporal.temporal.summaries import LOOKING_FOR_CALLER, WAITING_FOR_PLACE
from swf_temporal.temporal.workflows import ALL_WORKFLOWS, OTHER_WORKFLOWS
from tests.replay import corpus
from tests.replay.corpus import Recorded
from tests.replay.features import REQUIRED, commands_in
from tests.replay.prefixes import failures
from tests.temporal.suspending import suspending

RECORDED = [
    pytest.param(one, id=f"{release} {number}: {one.source}")
    for release in corpus.releases()
    for number, one in enumerate(corpus.read(release).executions)
]


def test_everything_that_takes_a_course_of_its_own_is_recorded() -> None:
    """Each feature and each kind of command is shown by a history of the latest release that has recorded any."""
    recorded = corpus.read(corpus.releases()[-1]).executions
    shown = (commands_in(one.execution).union(one.features) for one in recorded)
    assert REQUIRED.difference(*shown) == set(), "`make record` records them"


@pytest.mark.parametrize("recorded", RECORDED)
async def test_replays(recorded: Recorded) -> None:
    """A recorded history replays without a server, command by command as it was.

    So does what there was of it whenever a task was to be worked on: a worker that takes the run over is given that.
    """
    # On a busy machine the two seconds that a step may take are soon over: debugging sets no limit.
    replayer = Replayer(
        workflows=ALL_WORKFLOWS,
        interceptors=[OperatorOptionsInterceptor(IN_SCENARIOS if recorded.is_virtual else suspending())],
        unsandboxed_workflow_runner=VirtualTime() if recorded.is_virtual else UnsandboxedWorkflowRunner(),
        data_converter=CONVERTER,
        debug_mode=True,
    )
    execution = recorded.execution
    assert await failures(replayer, execution.workflow_id, execution.history) == {}


@pytest.mark.parametrize("name", [vars(one)["__temporal_workflow_definition"].name for one in OTHER_WORKFLOWS])
async def test_every_workflow_of_a_worker_is_replayed_by_compat(name: str) -> None:
    """Those that run no definition can continue, too."""
    executions = [one.execution for one in corpus.read(corpus.releases()[-1]).executions]
    histories = [WorkflowHistory.from_json(one.workflow_id, one.history) for one in executions]
    of_name = [one for one in histories if _type_of(one) == name]
    assert of_name
    assert [(await replay(one, CONVERTER)).failure for one in of_name] == [None] * len(of_name)


def _type_of(history: WorkflowHistory) -> str:
    return history.events[0].workflow_execution_started_event_attributes.workflow_type.name


def test_a_run_waits_for_no_timer_that_its_author_did_not_write() -> None:
    """A server fires a timer up to a second late, however short it is: those that remain say what of the definition."""
    of_authors = (*(f"{purpose}: " for purpose in get_args(TimerPurpose)), WAITING_FOR_PLACE, LOOKING_FOR_CALLER)
    found = list[tuple[str, str]]()
    for release in corpus.releases():
        for one in corpus.read(release).executions:
            events = WorkflowHistory.from_json("any", one.execution.history).events
            if events[0].workflow_execution_started_event_attributes.workflow_type.name in WORKFLOW_TYPES:
                continue
            timers = [event for event in events if event.HasField("timer_started_event_attributes")]
            summaries = [read_json(event.user_metadata.summary.data or b'""') for event in timers]
            found += [(one.source, text) for text in summaries if not text.startswith(of_authors)]
    assert found == []
