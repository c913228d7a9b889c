"""What side by side is more than one workflow task can send, or a server lets an instance have in progress."""

from collections import Counter
from typing import Any

import pytest

from swf_temporal.temporal import client as swf
from swf_temporal.temporal.outgoing import MAX_BYTES_AT_ONCE
from tests.temporal.conftest import Bench, define, events_of

ITEMS = 50
LARGE = "x" * 200_000
"""So many of these are three times as much as one workflow task may send."""


@pytest.mark.parametrize(
    "action",
    [
        {"functionRef": {"refName": "f", "arguments": {"large": "${ .large }", "n": "${ .n }"}}},
        {"subFlowRef": "child"},
    ],
    ids=["calls", "sub-workflows"],
)
async def test_what_waits_for_room_is_not_sent_all_in_the_next_task(bench: Bench, action: dict[str, Any]) -> None:
    """Most have to wait, and more of them than the next task may send."""
    each = {
        "name": "each", "type": "foreach", "inputCollection": "${ .items }", "outputCollection": "${ .out }",
        "iterationParam": "n", "actions": [{**action, "actionDataFilter": {"results": "${ .n }"}}],
    }  # fmt: skip
    child = define({"name": "a", "type": "inject", "data": {}}, id="child")
    async with bench.worker(define(each, functions=("f",)), child, f=lambda given: {"n": given["n"]}) as worker:
        handle = await worker.start({"items": list(range(ITEMS)), "large": LARGE})
        output = await swf.result(handle)
        sent = Counter[int]()
        for event in await events_of(handle):
            for kind in ("activity_task_scheduled", "start_child_workflow_execution_initiated"):
                if event.HasField(f"{kind}_event_attributes"):
                    sent[getattr(event, f"{kind}_event_attributes").workflow_task_completed_event_id] += len(LARGE)

    assert isinstance(output, dict)
    assert output["out"] == list(range(ITEMS))
    assert max(sent.values()) <= MAX_BYTES_AT_ONCE
