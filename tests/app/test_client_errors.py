"""The errors of a client, and what is asked of many at once."""

import asyncio
from contextlib import suppress

import pytest

from swf_temporal import (
    AlreadyStartedError,
    CallFailed,
    Client,
    InstanceEndedError,
    InstanceError,
    InstanceNotFoundError,
    InvalidEventError,
    InvalidInputError,
    NeverTakenError,
    NoAnswerError,
    ReservedIdError,
    RunEnded,
    ServerUnavailableError,
    TooLargeToSendError,
    UsageError,
    Worker,
    load,
    simulate,
)
from swf_temporal.operations.tasks import answers_of

PAYMENT = load("""\
id: payment
version: 1.0.0
specVersion: "0.8"
functions: [{name: charge, type: custom}]
events: [{name: paid, type: com.paid, source: shop}]
states:
  - {name: Wait, type: event, onEvents: [{eventRefs: [paid]}], transition: Charge}
  - {name: Charge, type: operation, actions: [{name: once, functionRef: charge}], end: true}
""")
PAID = {"type": "com.paid", "source": "shop", "id": "1"}


def refuse(_: object = None) -> None:
    raise CallFailed("the card has expired", code="CardExpired", status=402, body={"card": 1}, retryable=False)


FACTS = ("CallFailed", "CardExpired", "the card has expired", "Charge", "once", 402, {"card": 1})


def facts(ended: RunEnded) -> tuple[object, ...]:
    return (ended.name, ended.code, ended.message, ended.state, ended.action, ended.status, ended.body)


@pytest.mark.temporal
async def test_what_ended_tells_its_own_facts(client: Client) -> None:
    async with Worker(client, definitions=[PAYMENT], functions={"charge": refuse}, task_queue="ended"):
        failed = await client.start("payment", task_queue="ended", events=[PAID])
        with pytest.raises(RunEnded, match="workflow 'payment' failed in state 'Charge'") as ended:
            await failed.result()
    assert (ended.value.how, ended.value.instance, facts(ended.value)) == ("failed", failed.id, FACTS)
    assert isinstance(ended.value.fault, CallFailed)
    with pytest.raises(InstanceEndedError) as late:
        await failed.send_event(PAID, wait=False)
    assert late.value.instance == failed.id


@pytest.mark.temporal
async def test_an_instance_that_is_not_there(client: Client) -> None:
    nobody = client.instance("nobody")
    for asked in (nobody.result(), nobody.status(), nobody.cancel(), nobody.send_event(PAID)):
        with pytest.raises(InstanceNotFoundError, match=r"^there is no instance 'nobody'$") as error:
            await asked
        assert error.value.instance == "nobody"
        assert isinstance(error.value, InstanceError)


@pytest.mark.temporal
async def test_an_instance_that_its_worker_cannot_run(client: Client) -> None:
    """It takes no event until another worker can; what to look at is told, and not that the server is silent."""
    async with Worker(client, definitions=[PAYMENT], functions={"charge": refuse}, task_queue="lost"):
        lost = await client.start("nothing that is served", workflow_id="lost", task_queue="lost", keep=True)

        async def send() -> None:
            while True:
                with suppress(NoAnswerError):  # while its first tasks fail
                    await lost.send_event(PAID)

        with pytest.raises(ServerUnavailableError, match=r"^'lost' takes nothing now: its worker cannot run") as told:
            await asyncio.wait_for(send(), 60)
        assert told.value.hint == "`swf status lost` shows why"
        await lost.terminate()


@pytest.mark.temporal
async def test_what_cannot_be_started(client: Client) -> None:
    await client.start(PAYMENT, workflow_id="taken", task_queue="nobody")
    with pytest.raises(AlreadyStartedError, match="choose another workflow_id") as taken:
        await client.start(PAYMENT, workflow_id="taken", task_queue="nobody")
    assert taken.value.instance == "taken"
    with pytest.raises(ReservedIdError):
        await client.start(PAYMENT, workflow_id=f"payment:{'0' * 24}")
    with pytest.raises(InvalidInputError, match="the input of a workflow is one JSON value"):
        await client.start(PAYMENT, {"now": object()})
    with pytest.raises(InvalidEventError):
        await client.start(PAYMENT, events=[{"data": object()}])
    with pytest.raises(TooLargeToSendError) as large:
        await client.start(PAYMENT, {"text": "x" * 3_000_000})
    assert large.value.size > 3_000_000 > large.value.limit


@pytest.mark.temporal
async def test_an_event_that_is_never_taken(client: Client) -> None:
    async with Worker(client, definitions=[PAYMENT], functions={"charge": refuse}, task_queue="never"):
        instance = await client.start("payment", task_queue="never")
        with pytest.raises(NeverTakenError, match="did you mean 'paid'") as refused:
            await instance.send_event({"name": "pade"})
        assert (refused.value.instance, refused.value.event) == (instance.id, {"name": "pade"})
        with pytest.raises(InvalidEventError):
            await instance.send_event({"type": "com.paid", "id": 5}, wait=False)
        await instance.terminate()


async def test_a_server_that_is_away() -> None:
    with pytest.raises(ServerUnavailableError, match=r"no Temporal server answers at 127.0.0.1:1"):
        await asyncio.wait_for(Client.connect("127.0.0.1:1"), 30)
    with pytest.raises(UsageError, match=r"^the address is 'http://x'") as malformed:
        await Client.connect("http://x")
    assert not isinstance(malformed.value, ServerUnavailableError)


def test_a_simulation_raises_the_same() -> None:
    failed = simulate(PAYMENT, functions={"charge": refuse}, events=[PAID])
    with pytest.raises(RunEnded, match="the run failed in 'Charge': CallFailed: the card has expired") as ended:
        failed.raise_for_status()
    assert (ended.value.how, facts(ended.value)) == ("failed", FACTS)
    paid = simulate(PAYMENT, functions={"charge": {"charged": True}}, events=[PAID])
    assert paid.raise_for_status().output == {"charged": True}
    with pytest.raises(UsageError, match="the run waits in 'Wait' for an event that was not sent"):
        simulate(PAYMENT, functions={"charge": {}}).raise_for_status()


async def test_the_silent_keep_no_place_from_the_others() -> None:
    """However many do not answer, all others do, as long as they take; and it does not wait for the silent ones."""

    async def ask(instance: str) -> str:
        if instance.startswith("silent"):
            await asyncio.Event().wait()
        if instance == "paused":
            raise UsageError("it is paused")
        await asyncio.sleep(0.2 * awake.index(instance))  # in the end longer than the patience, with answers between
        return instance

    silent, awake = [f"silent-{n}" for n in range(60)], [f"awake-{n}" for n in range(5)]
    async with asyncio.timeout(30):
        answers = await answers_of([*silent, "paused", *awake], ask, patience=0.5)
    assert answers == [None] * 61 + awake


async def test_without_instances() -> None:
    assert await answers_of([], lambda _: asyncio.sleep(0)) == []
