"""Signals that come in one activation: handed to a run together, and taken as if each had come by itself."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest
from temporalio import workflow
from temporalio.api.common.v1 import Payload
from temporalio.bridge.proto.workflow_activation import WorkflowActivation
from temporalio.worker import (
    HandleSignalInput,
    Interceptor,
    Worker,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
)

from swf_temporal.temporal import activations
from swf_temporal.temporal.signal_batches import merge_signals
from tests.temporal.conftest import PATIENCE, Bench
from tests.temporal.test_many_events import number, replays, waiting

UNREADABLE = Payload(metadata={"encoding": b"json/plain"}, data=b"{")
LAST = 12


def activation(*jobs: tuple[str, list[bytes]] | str) -> WorkflowActivation:
    """Return an activation with signals, each with its name and its values, and other jobs, each by its name."""
    act = WorkflowActivation()
    for one in jobs:
        job = act.jobs.add()
        if isinstance(one, str):
            getattr(job, one).SetInParent()
        else:
            job.signal_workflow.signal_name = one[0]
            job.signal_workflow.input.extend(Payload(data=data) for data in one[1])
    return act


def shape(act: WorkflowActivation) -> list[tuple[str, list[bytes]] | str]:
    """Return what `activation` was given."""
    return [
        (job.signal_workflow.signal_name, [value.data for value in job.signal_workflow.input])
        if job.HasField("signal_workflow")
        else str(job.WhichOneof("variant"))
        for job in act.jobs
    ]


@pytest.mark.parametrize(
    ("jobs", "merged"),
    [
        ([("a", [b"1"]), ("a", [b"2"]), ("a", [b"3"])], [("a", [b"1", b"2", b"3"])]),
        (
            [("a", [b"1"]), ("a", [b"2"]), ("b", [b"3"]), ("a", [b"4"]), ("a", [b"5"])],
            [("a", [b"1", b"2"]), ("b", [b"3"]), ("a", [b"4", b"5"])],
        ),
        (
            ["notify_has_patch", ("a", [b"1"]), ("a", [b"2"]), "do_update", ("a", [b"3"]), "fire_timer"],
            ["notify_has_patch", ("a", [b"1", b"2"]), "do_update", ("a", [b"3"]), "fire_timer"],
        ),
    ],
)
def test_signals_that_follow_one_another_become_one(jobs: list[Any], merged: list[Any]) -> None:
    """Those of one name, with nothing between them; the order stays."""
    act = activation(*jobs)

    assert merge_signals(act)
    assert shape(act) == merged


@pytest.mark.parametrize(
    "jobs",
    [
        [("a", [b"1"]), ("a", []), ("a", [b"3"])],
        [("a", [b"1"]), ("a", [b"2"]), ("b", [b"3", b"4"])],
        ["fire_timer", "resolve_activity", "fire_timer"],
    ],
)
def test_what_could_be_mistaken_is_left_as_it_is(jobs: list[Any]) -> None:
    """A signal with no value, or with several, of which only the first counts, has to be told from several signals."""
    act = activation(*jobs)

    assert not merge_signals(act)
    assert shape(act) == jobs


async def collected(bench: Bench, *interceptors: Interceptor) -> tuple[Any, bool]:
    """Return what an instance collects whose signals came while no worker was there, and whether a replay agrees."""
    definition, queue = waiting(LAST), f"batches-{uuid4()}"
    async with bench.worker(definition, queue=queue) as worker:
        handle = await worker.start({"numbers": []})
        await worker.awaiting(handle, "go")
    for n in (1, 2, 3, 2):
        await handle.signal("event", number(n))
    await handle.signal("event", UNREADABLE)
    await handle.signal("number", {"n": 4})
    await handle.signal("unheard-of", {"n": 5})
    await handle.signal("go", {})
    for n in range(5, LAST + 1):
        await handle.signal("event", number(n))
    async with bench.worker(definition, queue=queue, interceptors=interceptors) as worker:
        output = await asyncio.wait_for(handle.result(), PATIENCE)
    return output, await replays(await handle.fetch_history(), handle.id)


async def test_all_are_taken_in_their_order(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also beside what cannot be read, comes twice or is no event; a replay that is given each by itself agrees."""
    merged = []

    def noting(act: WorkflowActivation) -> bool:
        merged.append(merge_signals(act))
        return merged[-1]

    monkeypatch.setattr(activations, "merge_signals", noting)

    assert await collected(bench) == ({"numbers": list(range(1, LAST + 1))}, True)
    assert True in merged


@workflow.defn(name="adding", sandboxed=False)
class Adding:
    """A workflow whose signals carry numbers, one each."""

    def __init__(self) -> None:
        self.numbers: list[int] = []

    @workflow.signal
    def add(self, number: int) -> None:
        """Take in a number."""
        self.numbers.append(number)

    @workflow.run
    async def run(self) -> list[int]:
        """Wait for the last number."""
        await workflow.wait_condition(lambda: LAST in self.numbers)
        return self.numbers


async def test_other_workflows_of_a_worker_are_given_each_signal_by_itself(bench: Bench) -> None:
    """Mailboxes for events, for example, whose handlers take one."""
    queue = f"adding-{uuid4()}"
    handle = await bench.client.start_workflow("adding", id=queue, task_queue=queue)
    for n in range(1, LAST + 1):
        await handle.signal("add", n)
    runner = activations.WatchedWorkflows()
    async with Worker(
        bench.client, task_queue=queue, workflows=[Adding], unsandboxed_workflow_runner=runner, debug_mode=True
    ):
        output = await asyncio.wait_for(handle.result(), PATIENCE)

    assert output == list(range(1, LAST + 1))


class Noting(Interceptor):
    """Takes note of the signals that a workflow is given."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    def workflow_interceptor_class(
        self,
        input: WorkflowInterceptorClassInput,  # noqa: A002, ARG002 - the SDK's name
    ) -> type[WorkflowInboundInterceptor]:
        """Return the class that takes note."""
        seen = self.seen

        class Inbound(WorkflowInboundInterceptor):
            async def handle_signal(self, input: HandleSignalInput) -> None:  # noqa: A002 - the SDK's name
                seen.append(len(input.args[1]))
                await super().handle_signal(input)

        return Inbound


async def test_interceptors_are_given_each_signal_by_itself(bench: Bench) -> None:
    """An interceptor may look at each, such as one that makes a span of it."""
    noting = Noting()

    output, _ = await collected(bench, noting)

    assert output == {"numbers": list(range(1, LAST + 1))}
    assert len(noting.seen) == LAST + 4
    assert set(noting.seen) == {1}
