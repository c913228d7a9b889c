"""What a person reads of a failed run."""

from typing import Any

import pytest
from temporalio import workflow
from temporalio.client import WorkflowFailureError
from temporalio.exceptions import TimeoutError as EngineTimeout
from temporalio.worker import Worker

from swf_temporal.base.errors import CallFailed, FatalFault, NoConditionMatched, SubflowFailed, TimedOut, WorkflowFault
from swf_temporal.languages.port import Words
from swf_temporal.temporal.continuing import failure_text
from swf_temporal.temporal.instance_log import InstanceLog
from swf_temporal.temporal.instance_part import Ending, Instance
from swf_temporal.temporal.records import Pin
from tests.temporal.conftest import Bench

WHERE: dict[str, Any] = {"state": "Charge card", "action": "charge"}

CASES: dict[str, tuple[WorkflowFault, list[str]]] = {
    "a call": (
        CallFailed("the service answered 502", code=502, attempt=3, function="payments", cause="ReadError", **WHERE),
        [
            "workflow 'orders' failed in state 'Charge card'",
            "  action 'charge', attempt 3 → function 'payments'",
            "  the service answered 502",
            "  no onErrors entry of 'Charge card' covers its code '502'",
        ],
    ),
    "in a branch": (
        CallFailed("no", branch="money", **WHERE),
        [
            "workflow 'orders' failed in state 'Charge card'",
            "  action 'charge' of branch 'money'",
            "  no",
            "  no onErrors entry of 'Charge card' covers it",
        ],
    ),
    "an error of another name": (
        NoConditionMatched("nothing fits", state="Choose"),
        [
            "workflow 'orders' failed in state 'Choose'",
            "  NoConditionMatched: nothing fits",
            "  no onErrors entry of 'Choose' covers it",
        ],
    ),
    "a sub-workflow": (
        SubflowFailed("sub-workflow 's' failed: no", name="Teapot", cause="state 'Brew' of 's'", state="Ship"),
        [
            "workflow 'orders' failed in state 'Ship'",
            "  Teapot: sub-workflow 's' failed: no",
            "  in state 'Brew' of 's'",
            "  no onErrors entry of 'Ship' covers it",
        ],
    ),
    "a timeout between attempts": (
        TimedOut("action 'charge' took longer than it may", cause="CallFailed: busy", **WHERE),
        [
            "workflow 'orders' failed in state 'Charge card'",
            "  action 'charge'",
            "  TimedOut: action 'charge' took longer than it may",
            "  the last attempt ended with CallFailed: busy",
            "  no onErrors entry of 'Charge card' covers it",
        ],
    ),
    "what cannot be caught": (
        FatalFault("too large", name="PayloadTooLarge", state="Ship"),
        ["workflow 'orders' failed in state 'Ship'", "  PayloadTooLarge: too large"],
    ),
}


@pytest.mark.parametrize(("fault", "lines"), CASES.values(), ids=CASES)
def test_failure_text(fault: WorkflowFault, lines: list[str]) -> None:
    """A failure says where it was, what was tried, what was answered, and that nothing covers it."""
    assert failure_text("orders", fault, Words("state", "onErrors entry")).splitlines() == lines


def test_failure_text_in_the_words_of_a_draft() -> None:
    fault = TimedOut("task 'Ship' took longer than it may", state="Ship")
    assert failure_text("orders", fault, Words("task", "onError entry")).splitlines() == [
        "workflow 'orders' failed in task 'Ship'",
        "  TimedOut: task 'Ship' took longer than it may",
        "  no onError entry of 'Ship' covers it",
    ]


@workflow.defn(sandboxed=False)
class Late:
    @workflow.run
    async def run(self) -> None:
        failure = EngineTimeout("activity timed out", type=None, last_heartbeat_details=[])
        instance = Instance(Pin(), is_continued=False, is_long=lambda: False)
        await InstanceLog(instance).end(Ending("failed", failure=failure))
        raise failure


async def test_a_failure_of_the_engine_is_logged(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    async with Worker(bench.client, task_queue="late", workflows=[Late]):
        with pytest.raises(WorkflowFailureError):
            await bench.client.execute_workflow(Late.run, id="late", task_queue="late")
    lines = [one.getMessage() for one in caplog.records if one.name == "swf.instance"]
    assert lines == ["failed Late: TimeoutError: activity timed out"]
