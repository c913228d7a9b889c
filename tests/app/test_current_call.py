"""What a function of a worker knows of its call, where containers reach it, and what is logged."""

import asyncio
import logging
import socket
import threading
from collections.abc import Mapping
from datetime import timedelta

import pytest
from temporalio.client import WorkflowFailureError

from swf_temporal import JSON, Client, CurrentCall, Registry, RunEnded, UsageError, Worker, WorkerSettings, current_call
from swf_temporal.functions.containers.endpoint import RunningCalls
from swf_temporal.runtime.variables import Variable, VariableRef
from swf_temporal.sdk.logs import HeldDown
from swf_temporal.sdk.working import container_endpoint
from swf_temporal.settings.values import Address
from tests.definitions import definition

DEFINITION = definition("""\
id: asking
functions: [{name: ask, type: custom}]
autoRetries: true
retries: [{name: once, maxAttempts: 2, delay: PT0.01S}]
states:
  - name: Work
    type: operation
    actions: [{name: asked, functionRef: ask, retryRef: once}]
    timeouts: {actionExecTimeout: PT1M}
    end: true
""")


@pytest.mark.temporal
@pytest.mark.parametrize("is_async", [True, False])
async def test_a_function_knows_its_call(client: Client, *, is_async: bool) -> None:
    """Which attempt of which call it is, and how long it may take; a heartbeat can be sent."""
    registry, calls = Registry(), list[CurrentCall]()
    queue = f"knowing-{is_async}"

    def answer() -> JSON:
        call = current_call()
        calls.append(call)
        call.heartbeat()
        if call.attempt == 1:
            raise KeyError("once")
        return {"attempt": call.attempt}

    async def later() -> JSON:
        return answer()

    registry.custom("ask")(later if is_async else answer)
    async with Worker(client, definitions=DEFINITION, functions=registry, task_queue=queue):
        instance = await client.start("asking", {}, task_queue=queue, workflow_id=queue)
        assert await instance.result() == {"attempt": 2}
    first, second = calls
    assert (first.function, first.instance, first.definition) == ("ask", queue, "asking")
    assert (first.state, first.action, first.attempt, second.attempt) == ("Work", "asked", 1, 2)
    assert first.idempotency_key == second.idempotency_key
    assert first.remaining is not None
    assert timedelta() < first.remaining <= timedelta(minutes=1)
    assert not first.is_cancelled


@pytest.mark.temporal
async def test_functions_that_do_not_return_leave_threads_to_others(client: Client) -> None:
    """They go on when their calls have timed out, and the worker makes as many calls at once as before."""
    registry, is_over, begun = Registry(), threading.Event(), list[int]()

    @registry.custom("ask")
    def ask() -> JSON:
        begun.append(1)
        return "answer" if len(begun) == 3 else is_over.wait(30)

    text = DEFINITION.replace("PT1M", '"${ .patience }"')
    settings = WorkerSettings(max_activities=2, task_queue="stuck")
    async with Worker(client, definitions=text, functions=registry, settings=settings):
        stuck = [await client.start("asking", {"patience": "PT1S"}, task_queue="stuck") for _ in range(2)]
        for instance in stuck:
            with pytest.raises(RunEnded, match="took longer than it may"):
                await instance.result()
        answered = await client.start("asking", {"patience": "PT20S"}, task_queue="stuck")
        assert await answered.result() == {"patience": "PT20S", "response": "answer"}
        is_over.set()


@pytest.mark.temporal
async def test_a_cancelled_call_can_be_noticed(client: Client) -> None:
    registry, noticed, begun = Registry(), asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    @registry.custom("ask")
    def wait() -> None:
        loop.call_soon_threadsafe(begun.set)
        call = current_call()
        if call.wait_for_cancellation(timedelta(seconds=60)) and call.is_cancelled:
            loop.call_soon_threadsafe(noticed.set)

    settings = WorkerSettings(task_queue="noticing", grace_period=timedelta())
    async with Worker(client, definitions=DEFINITION, functions=registry, settings=settings):
        await client.start("asking", {}, task_queue="noticing")
        await asyncio.wait_for(begun.wait(), 30)
    await asyncio.wait_for(noticed.wait(), 30)
    assert noticed.is_set()


@pytest.mark.temporal
async def test_where_a_function_failed_is_told_once(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    """With the instance, the action and the attempt; and in the history, by which other tools show it."""
    registry = Registry()

    @registry.custom("ask")
    def missing() -> None:
        dict[str, int]()["s3cr3t"]

    with caplog.at_level(logging.INFO):
        async with Worker(client, definitions=DEFINITION, functions=registry, task_queue="failing"):
            instance = await client.start("asking", {}, task_queue="failing", workflow_id="failing")
            with pytest.raises(RunEnded) as ended:
                await instance.result()
    assert ended.value.code == "KeyError"
    told = [one for one in caplog.records if "in missing" in one.getMessage()]
    assert [vars(one)["temporal_activity"]["attempt"] for one in told] == [1, 2]
    assert {vars(one)["temporal_activity"]["workflow_id"] for one in told} == {"failing"}
    assert [one.name for one in caplog.records if one.exc_info] == []
    with pytest.raises(WorkflowFailureError):
        await client.temporal.get_workflow_handle("failing").result()
    history = await client.temporal.get_workflow_handle("failing").fetch_history()
    [failure] = [
        one.activity_task_failed_event_attributes.failure
        for one in history.events
        if one.HasField("activity_task_failed_event_attributes")
    ]
    assert "in missing" in failure.stack_trace


def test_without_a_call_there_is_none() -> None:
    with pytest.raises(UsageError, match="no call is in progress here"):
        current_call()


class Nothing:
    async def read_variable(self, of: VariableRef) -> Variable | None:  # noqa: ARG002 - the port's
        return None

    async def write_variables(self, values: Mapping[VariableRef, Variable | None], write_id: str) -> None:
        """Forget them."""


@pytest.mark.parametrize("host", ["127.0.0.1", "no.such.host.invalid"])
async def test_an_address_that_cannot_be_had_is_told(host: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = Address(host, taken.getsockname()[1])
        with pytest.raises(UsageError, match=f"nothing can listen at {address}") as refused:
            async with container_endpoint(address, RunningCalls(), Nothing()):
                pass
    assert "containerEndpoint" in (refused.value.hint or "")
    assert "(" not in str(refused.value).partition("\n")[0], "it has no value of Python"


def test_an_address_is_told_as_it_is_written() -> None:
    assert [str(Address("::1", 80)), str(Address("localhost", 80))] == ["[::1]:80", "localhost:80"]


def test_what_a_library_repeats_is_written_once_a_minute() -> None:
    now, written = [0.0], list[str]()
    held = HeldDown(lambda: now[0])

    def say(name: str, text: str, *args: object) -> None:
        record = logging.LogRecord(name, logging.WARNING, "file.py", 7, text, args, None)
        if held.filter(record):
            written.append(record.getMessage())

    for number in range(2000):
        say("aiokafka.client", "Unable to request metadata from node with id %s", number)
        say("asyncio", "socket.accept() out of system resource")
    say("aiokafka.client", "Topic %s is not available", "orders")
    for _ in range(2):
        say("swf.events", "reconnecting")
    now[0] = 60.0
    say("aiokafka.client", "Unable to request metadata from node with id %s", 5)
    assert written == [
        "Unable to request metadata from node with id 0",
        "no connection can be accepted for now; the limit of open files, `ulimit -n`, may be too low",
        "Topic orders is not available", "reconnecting", "reconnecting",
        "Unable to request metadata from node with id 5 (1999 more like this were left out)",
    ]  # fmt: skip
