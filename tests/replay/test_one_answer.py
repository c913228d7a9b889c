"""Status, graph, console and reruns say the same of an instance, at every moment of its history."""

import asyncio
from typing import Any

import pytest
from temporalio.client import WorkflowHistory

from swf_temporal.base.errors import InvalidDefinition
from swf_temporal.sdk.scenarios.host import IN_SCENARIOS, scenario_host
from swf_temporal.sdk.scenarios.virtual_time import VirtualTime
from tests.agreement.comparing import read
from tests.agreement.generating import scenario
from tests.replay import corpus
from tests.replay.agreement import How, disagreements
from tests.sampling import count, sample
from tests.temporal.suspending import suspending

RECORDED = [one for release in corpus.releases() for one in corpus.read(release).executions]
IN_VIRTUAL_TIME = How(VirtualTime(), IN_SCENARIOS)
IS_WHOLE = count(0, 1) == 1

pytestmark = pytest.mark.timeout(1800)


async def test_recorded_histories_are_told_alike() -> None:
    """Each, after each of its workflow tasks and between any two events."""
    found = {}
    for number, recorded in enumerate(sample(RECORDED, "one answer", 40)):
        execution = recorded.execution
        history = WorkflowHistory.from_json(execution.workflow_id, execution.history)
        how = IN_VIRTUAL_TIME if recorded.is_virtual else How(None, suspending())
        everywhere = IS_WHOLE or (number % 10 == 0 and len(history.events) < 50)
        found[recorded.source, execution.workflow_id] = await disagreements(history, how, everywhere=everywhere)
    assert not (told := {one: told for one, told in found.items() if told}), "\n".join(
        f"{one}: {each[:2]}" for one, each in told.items()
    )


async def test_generated_runs_are_told_alike() -> None:
    """They have events, sub-workflows and cycles."""
    documents = [_with_cycle(scenario(seed)) for seed in range(count(8, 200))]
    room = asyncio.Semaphore(24)
    async with scenario_host() as host:

        async def run(one: Any) -> None:
            async with room:
                try:
                    await host.observe(one)
                except InvalidDefinition:
                    return

        await asyncio.gather(*map(run, read(documents)))
        histories = [
            await host.client.get_workflow_handle(one.id, run_id=one.run_id).fetch_history()
            async for one in host.client.list_workflows()
        ]
    found = {one.workflow_id: await disagreements(one, IN_VIRTUAL_TIME, everywhere=False) for one in histories}
    assert len(histories) > len(documents) / 2
    assert not (told := {one: told for one, told in found.items() if told}), "\n".join(
        f"{one}: {each[:2]}" for one, each in told.items()
    )


def _with_cycle(document: dict[str, Any]) -> dict[str, Any]:
    states = document["workflow"]["states"]
    for state in states:
        if state.get("end") is True:
            del state["end"]
            state["transition"] = "Round"
    # Filters of generated states keep the items, so that what was noted there ends the cycle.
    again = {
        "condition": '${ (.items? | type) == "array" and ([.items[].i?] | index("again") | not) }',
        "transition": "Next",
    }
    states.append({"name": "Round", "type": "switch", "dataConditions": [again], "defaultCondition": {"end": True}})
    following = {"output": '${ .items += [{i: "again"}] }'}
    states.append(
        {"name": "Next", "type": "inject", "data": {}, "stateDataFilter": following, "transition": states[0]["name"]}
    )
    return document
