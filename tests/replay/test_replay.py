"""Runs that began under this or an earlier release go on under this one: their recorded histories replay."""

import pytest
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner

from swf_temporal.app.scenarios.virtual_time import VirtualTime
from swf_temporal.temporal.converter import CONVERTER
from swf_temporal.temporal.delayed_events import DelayedEvent
from swf_temporal.temporal.event_mailboxes import EventMailbox
from swf_temporal.temporal.interpreters import AnsweringAll
from swf_temporal.temporal.variables import VariablesOfScope
from tests.replay import corpus
from tests.replay.corpus import Recorded
from tests.replay.features import REQUIRED, commands_in
from tests.replay.prefixes import failures
from tests.temporal.suspending import Suspending

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
        workflows=[AnsweringAll if recorded.is_virtual else Suspending, EventMailbox, VariablesOfScope, DelayedEvent],
        unsandboxed_workflow_runner=VirtualTime() if recorded.is_virtual else UnsandboxedWorkflowRunner(),
        data_converter=CONVERTER,
        debug_mode=True,
    )
    execution = recorded.execution
    assert await failures(replayer, execution.workflow_id, execution.history) == {}
