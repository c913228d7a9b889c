"""Encrypted payloads on a real server: what histories show, and what becomes of runs without the right keys."""

import base64
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import WorkflowHistory

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.operations.client import Client as AppClient
from swf_temporal.operations.instances import facts_of
from swf_temporal.settings.payloads import EncryptionSettings, PayloadSettings, StorageSettings
from swf_temporal.temporal import client as swf
from swf_temporal.temporal import schedules
from swf_temporal.temporal.converter import converter_of
from tests.sampling import sample
from tests.temporal import test_outlasting as outlasting
from tests.temporal.building import awaits, consumed, inject, operation, subflow
from tests.temporal.conftest import (
    Bench,
    calling,
    define,
    failed_task,
    failure_of,
    listed,
    outcome,
    replays,
    until,
    with_converter,
)

CARD = "4111-1111-1111-1111"
"""What must not stand in any history."""


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for number in (1, 2, 3):
        monkeypatch.setenv(f"TEST_KEY_{number}", base64.b64encode(bytes([number] * 32)).decode())


def encryption(current: str = "1", numbers: str = "12", **options: Any) -> EncryptionSettings:
    return EncryptionSettings(keys={number: f"env:TEST_KEY_{number}" for number in numbers}, key=current, **options)


def encrypted(bench: Bench, *args: Any, **options: Any) -> Bench:
    return with_converter(bench, converter_of(PayloadSettings(encryption=encryption(*args, **options))))


def shown(history: WorkflowHistory) -> str:
    """Return everything that a history shows, with what is base64 in it decoded."""
    text = history.to_json()
    decoded = []
    for word in text.replace('"', " ").split():
        try:
            decoded.append(base64.b64decode(word, validate=True).decode(errors="replace"))
        except ValueError:
            continue
    return text + "\n".join(decoded)


WAITING = define(
    calling("Charge", "charge"), awaits("Wait", "paid"), subflow("Ask", "child"),
    inject("Go", end={"continueAs": "last"}),
    functions=("charge",), events=consumed("paid", source="/x"), id="waiting", description=CARD,
)  # fmt: skip
CHILD = define(calling("Charge", "charge"), functions=("charge",), id="child", description=CARD)
LAST = define(inject("z", {"last": True}), id="last", description=CARD)


async def test_nothing_of_the_data_stands_in_any_history(bench: Bench) -> None:
    """Inputs, results, events, queries, sub-workflows, continued runs and definitions, all searched as plain text."""
    hidden = encrypted(bench)
    async with hidden.worker(WAITING, CHILD, LAST, charge={"card": CARD}) as worker:
        handle = await worker.start({"card": CARD}, definition=0)
        await worker.awaiting(handle, "paid")
        assert (await swf.query(hidden.client, handle.id, "data"))["card"] == CARD
        event = {"id": "1", "source": "/x", "type": "paid", "specversion": "1.0", "data": {"paid": CARD}}
        assert await swf.deliver(hidden.client, handle.id, event) == "taken"
        output = await outcome(handle)
        assert output == {"card": CARD, "paid": CARD, "last": True}
        executions = await listed(bench.client, f'WorkflowId STARTS_WITH "{handle.id}"', 3)
    for history in [await bench.handle(one.id, one.run_id).fetch_history() for one in executions]:
        assert CARD not in shown(history)
        assert "specVersion" not in shown(history)
        assert "binary/swf-encrypted" in shown(history)
        assert await replays(history, converter=hidden.client.data_converter) is None


@pytest.mark.parametrize("action", [outlasting.CALL, outlasting.SUBFLOW], ids=["a call", "a sub-workflow"])
async def test_what_outlasts_an_execution_is_encrypted(bench: Bench, action: dict[str, Any]) -> None:
    """Its result, as the server has it and as the next execution of the run that waits finds it."""

    async def charged() -> JSON:
        return {"card": CARD}

    hidden = encrypted(bench)
    functions = outlasting.Functions(charged)
    async with hidden.worker(outlasting.beside(action), outlasting.CHILD, **functions.all) as worker:
        handle = await worker.start({}, suspend_after=outlasting.EVERY)
        assert await outcome(handle) == {"left": 0, "card": CARD}
    executions = await outlasting.histories(bench, handle)
    child = await (await bench.child(handle, "both/long/long#1")).fetch_history()

    assert len(executions) > 1
    for history in (*executions, child):
        assert CARD not in shown(history)
        assert "specVersion" not in shown(history)


async def test_messages_of_failures_are_encrypted_and_come_back(bench: Bench) -> None:
    """A failed call and the failed run hide what went wrong; `onErrors`, results and what is under way show it."""

    def refuse(_: object) -> object:
        raise CallFailed(f"no money on {CARD}", name="Broke", code="402", retryable=True)

    definition = define(calling("Pay", "pay"), functions=("pay",), id="paying")
    retries = [{"name": "slow", "delay": "PT1H", "maxAttempts": 3}]
    pay = operation("Pay", {"functionRef": "pay", "retryRef": "slow"})
    retrying = define(pay, functions=("pay",), id="retrying", retries=retries)
    hidden = encrypted(bench)
    async with hidden.worker(definition, retrying, pay=refuse) as worker:
        handle = await worker.start({})
        failed = await failure_of(handle)
        waiting = await worker.start({}, definition=1)
        client = AppClient(hidden.client)
        facts = await until(lambda: facts_of(client, waiting.id), lambda found: "lastFailure" in str(found))
        await waiting.terminate()
    assert failed.fault is not None
    assert failed.fault.message == f"no money on {CARD}"
    assert f"no money on {CARD}" in failed.message
    assert facts["calls"][0]["lastFailure"] == f"no money on {CARD}"
    history = await handle.fetch_history()
    assert CARD not in shown(history)
    assert "Encoded failure" in shown(history)
    # What stays readable: the type of the failure, by which it can be searched for.
    assert "Broke" in shown(history)


@pytest.mark.parametrize("what", ["another key", "from now on"])
async def test_encryption_changes_in_the_middle_of_a_run(bench: Bench, what: str) -> None:
    """Workers and clients with a new key go on with what an old one has encrypted, or with plain text.

    Encryption is switched on so that first all only read: what a client encrypts already is understood by them.
    """
    is_rotation = what == "another key"
    before = encrypted(bench, "1", "1") if is_rotation else bench
    reading = encrypted(bench, "2", "12") if is_rotation else encrypted(bench, encrypt=False)
    writing = reading if is_rotation else encrypted(bench)
    queue = f"changed-{is_rotation}"
    async with before.worker(WAITING, CHILD, LAST, charge={"card": CARD}, queue=queue) as old:
        handle = await old.start({"n": 1}, definition=0)
        await old.awaiting(handle, "paid")
    async with reading.worker(WAITING, CHILD, LAST, charge={"card": CARD}, queue=queue):
        await swf.send_data(writing.client, handle.id, "paid", {"paid": CARD})
        output = await outcome(reading.handle(handle))
    assert output == {"n": 1, "card": CARD, "paid": CARD, "last": True}
    history = (await bench.handle(handle, handle.result_run_id).fetch_history()).to_json()
    ids = {base64.b64encode(number).decode() for number in (b"1", b"2")} if is_rotation else set()
    assert all(f'"swf-key-id": "{key_id}"' in history for key_id in ids)


@pytest.mark.parametrize("kind", sample(["none", "missing", "wrong"], "keys that a worker lacks", 1))
async def test_a_worker_without_the_key_says_so_and_the_run_waits(
    bench: Bench, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No key, another one, or another one of the same id: tasks fail and are tried again; nothing fails for good."""
    queue = f"keyless-{kind}"
    right = encrypted(bench, "1", "1")
    handle = await swf.start(
        right.client, [WAITING, CHILD, LAST], {"n": 1}, workflow_id=f"keyless-{kind}-{os.getpid()}", task_queue=queue,
        options={"task_timeout": timedelta(seconds=2)},  # after which a failed one is tried again
    )  # fmt: skip
    if kind == "none":
        other, told = bench, "encrypted with the key '1', and no keys are configured here"
    elif kind == "missing":
        other, told = encrypted(bench, "2", "2"), "encrypted with the key '1', which is not configured here"
    else:
        monkeypatch.setenv("TEST_KEY_1", os.environ["TEST_KEY_3"])
        other, told = encrypted(bench, "1", "1"), "names the key '1' cannot be decrypted in 'default'"
    async with other.worker(WAITING, CHILD, LAST, charge={}, queue=queue):
        assert told in await failed_task(handle)
    async with right.worker(WAITING, CHILD, LAST, charge={"card": CARD}, queue=queue) as worker:
        await worker.awaiting(handle, "paid")
        await handle.terminate()


async def test_failures_that_a_worker_cannot_read_are_no_faults(bench: Bench) -> None:
    """A worker without keys does not take an encrypted failure for another one, which `onErrors` would not catch."""
    definition = define(
        awaits("Wait", "go"),
        {**calling("Pay", "pay"), "onErrors": [{"errorRef": "broke", "transition": "Caught"}], "end": True},
        inject("Caught", {"caught": "${ $WORKFLOW.error.code }"}),
        functions=("pay",),
        errors=[{"name": "broke", "code": "402"}],
        events=consumed("go", source="/x"),
    )
    hidden = encrypted(bench)

    def refuse(_: object) -> object:
        raise CallFailed("no money", code="402")

    # It began as plain text, and only the call was made by a worker that encrypts.
    handle = await swf.start(bench.client, [definition], {}, workflow_id="mixed-1", task_queue="mixed")
    async with hidden.worker(definition, pay=refuse, queue="mixed") as worker:
        hidden_handle = hidden.handle(handle)
        await worker.awaiting(hidden_handle, "go")
        await swf.send_data(bench.client, handle.id, "go", {})
        assert await outcome(hidden_handle) == {"caught": "402"}
    history = await handle.fetch_history()
    assert "no keys are configured here" in str(await replays(history))


async def test_schedules_hide_their_input_and_their_memo(bench: Bench) -> None:
    """Applied again, a schedule is unchanged; what it starts can be read; its id and its type stay readable."""
    hidden = encrypted(bench)
    definition = define(
        inject("a", {"done": True}), id="secretly", start={"stateName": "a", "schedule": {"cron": "0 0 1 1 *"}}
    )
    async with hidden.worker(definition) as worker:
        data, queue = {"card": CARD}, worker.queue
        applied = [await schedules.apply(hidden.client, definition, data=data, task_queue=queue) for _ in range(2)]
        assert [one.outcome for one in applied] == ["created", "unchanged"]
        raw = (await bench.client.get_schedule_handle(applied[0].id).describe()).raw_description
        assert CARD.encode() not in raw.SerializeToString()
        assert b"madeFrom" not in raw.SerializeToString()
        await schedules.trigger(hidden.client, "secretly")
        described = await until(
            lambda: schedules.describe(hidden.client, "secretly"), lambda one: one.info.recent_actions
        )
        started: Any = described.info.recent_actions[0].action
        output = await outcome(hidden.handle(started.workflow_id))
        await schedules.delete(hidden.client, "secretly")
    assert output == {"card": CARD, "done": True}


async def test_large_payloads_are_encrypted_before_they_are_stored(bench: Bench, tmp_path: Path) -> None:
    """Objects show nothing; a replay writes none anew, although it encrypts again."""
    settings = PayloadSettings(
        storage=StorageSettings(url=f"file://{tmp_path}/objects", threshold=2000), encryption=encryption()
    )
    hidden = with_converter(bench, converter_of(settings))
    noise = base64.b64encode(os.urandom(20_000)).decode()
    definition = define(calling("a", "f"), functions=("f",))
    async with hidden.worker(definition, f={"noise": noise + CARD}) as worker:
        handle = await worker.start({"text": CARD + noise})
        await outcome(handle)
        history = await handle.fetch_history()
    before = files(tmp_path)
    assert len(before) >= 3
    assert all(CARD.encode() not in path.read_bytes() for path in before)
    assert await replays(history, converter=converter_of(settings)) is None
    assert files(tmp_path) == before


def files(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in (folder / "objects").rglob("*") if path.is_file()}
