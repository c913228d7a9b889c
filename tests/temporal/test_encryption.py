"""What stands in a history of data and failures: encrypted or plain, and who can read it."""

import asyncio
import base64
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.api.failure.v1 import Failure
from temporalio.client import Client, WorkflowHistory
from temporalio.converter import (
    ActivitySerializationContext,
    PayloadCodec,
    SerializationContext,
    WithSerializationContext,
)

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.events.sinks import Sinks
from swf_temporal.functions.calling import Calls
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.loading import load
from swf_temporal.operations.client import Client as AppClient
from swf_temporal.operations.instances import facts_of
from swf_temporal.settings.payloads import EncryptionSettings, PayloadSettings, StorageSettings
from swf_temporal.temporal import client as swf
from swf_temporal.temporal import schedules
from swf_temporal.temporal.call_records import application_error
from swf_temporal.temporal.client import start
from swf_temporal.temporal.converter import CONVERTER, converter_of
from swf_temporal.temporal.server import find_program
from swf_temporal.temporal.worker import make_worker
from tests.processes import ending_with_us
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
        handle = await worker.start_awaiting("paid", {"card": CARD}, definition=0)
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
async def test_a_worker_without_the_key_says_so(bench: Bench, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
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
        inject("Caught", {"caught": "${ $WORKFLOW.error.code }"}), functions=("pay",),
        errors=[{"name": "broke", "code": "402"}], events=consumed("go", source="/x"),
    )  # fmt: skip
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
        data: Any = {"card": CARD}
        applied = [
            await schedules.apply(hidden.client, definition, data=data, task_queue=worker.queue) for _ in range(2)
        ]
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


TOKEN = "0123456789abcdef"  # noqa: S105 - of this test
CONFIG = """
storage: {url: 'file://FOLDER/objects', threshold: 2KiB}
encryption: {key: a, keys: {a: env:CODEC_SERVER_KEY}}
codecServer: {token: env:CODEC_SERVER_TOKEN}
"""


async def test_the_codec_server_decrypts(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An input, a stored input, and one that the program has sent: shown with the token, and not without."""
    (tmp_path / "swf.yaml").write_text(CONFIG.replace("FOLDER", str(tmp_path)))
    monkeypatch.setenv("SWF_CONFIG", str(tmp_path / "swf.yaml"))
    monkeypatch.setenv("CODEC_SERVER_KEY", base64.b64encode(bytes([7] * 32)).decode())
    monkeypatch.setenv("CODEC_SERVER_TOKEN", TOKEN)
    hidden = with_converter(bench, converter_of(PayloadSettings.read()))
    definition = define(inject("a", {"done": True}), id="shown")
    noise = os.urandom(3000).hex()

    command = [*ending_with_us(), sys.executable, "-m", "swf_temporal.cli", "codec-server", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:  # noqa: ASYNC220 - it is read in threads
        assert server.stdout is not None
        assert server.stderr is not None
        try:
            url = (await asyncio.to_thread(server.stdout.readline)).strip()

            async def temporal(*arguments: str, token: str = TOKEN) -> str:
                address = bench.client.service_client.config.target_host
                codec = ["--codec-endpoint", url, "--codec-auth", f"Bearer {token}"]
                program = [find_program() or "temporal", "workflow", *arguments, "--address", address, *codec]
                ran = await asyncio.to_thread(
                    subprocess.run, [*program, "--command-timeout", "5s"], capture_output=True, text=True, check=False
                )
                return ran.stdout + ran.stderr

            async with hidden.worker(definition) as worker:
                for card, more in (("4111", {}), ("4222", {"noise": noise})):
                    handle = await worker.start({"card": card, **more})
                    await outcome(handle)
                    history = await temporal("show", "--detailed", "--workflow-id", handle.id)
                    assert f"input[0].card: {card}" in history.replace("\x1b", "")
                    assert (noise in history) == bool(more)
                assert "4222" not in await temporal("show", "--detailed", "--workflow-id", handle.id, token="wrong")  # noqa: S106 - as above
                start = ["--type", "shown", "--task-queue", worker.queue, "--workflow-id", "by-the-program"]
                await temporal("start", *start, "--input", '{"card": "4333"}')
                output = await outcome(hidden.handle("by-the-program"))
        finally:
            server.terminate()
        log = await asyncio.to_thread(server.stderr.read)
    assert output == {"card": "4333", "done": True}
    history = (await bench.handle("by-the-program").fetch_history()).to_json()
    assert base64.b64encode(b'{"card"').decode()[:8] not in history
    assert "decoded 1 payload of default for token" in log
    assert "the token is wrong" in log
    assert not any(word in log for word in ("4111", "4222", "4333", TOKEN))
    assert server.returncode == 143


CALLING = {
    "id": "calling",
    "version": "1.0.0",
    "specVersion": "0.8",
    "start": "Call",
    "functions": [{"name": "answer", "type": "custom", "operation": "answer"}],
    "states": [operation("Call", {"name": "ask", "functionRef": "answer"}, end=True)],
}


class Noting(PayloadCodec, WithSerializationContext):
    """Changes nothing, and notes what the payloads belong to that it is given."""

    def __init__(
        self,
        context: SerializationContext | None = None,
        noted: list[tuple[SerializationContext | None, bytes]] | None = None,
    ) -> None:
        self.noted: list[tuple[SerializationContext | None, bytes]] = [] if noted is None else noted
        self._context = context

    def with_context(self, context: SerializationContext) -> "Noting":
        return Noting(context, self.noted)

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        self.noted += [(self._context, payload.data) for payload in payloads]
        return list(payloads)

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return list(payloads)


async def written(error: BaseException) -> Failure:
    """Return the failure that stands in the history for *error*, once it was raised."""
    with pytest.raises(type(error)) as raised:
        raise error
    failure = Failure()
    await CONVERTER.encode_failure(raised.value, failure)
    return failure


async def test_a_fault_is_told_without_the_stack_of_the_interpreter() -> None:
    failure = await written(application_error(CallFailed("no", code="NoServer")))
    assert (failure.message, failure.application_failure_info.type) == ("no", "CallFailed")
    assert failure.application_failure_info.HasField("details")
    assert failure.stack_trace == ""


async def test_any_other_error_keeps_its_stack() -> None:
    assert "test_encryption.py" in (await written(ValueError("no"))).stack_trace


async def test_a_codec_of_your_own_knows_what_a_payload_belongs_to(bench: Bench) -> None:
    """It is told of the call whose arguments or result a payload holds."""
    noting = Noting()
    converter = replace(CONVERTER, payload_codec=noting)
    client = Client(bench.client.service_client, namespace=bench.client.namespace, data_converter=converter)
    queue = f"contexts-{os.getpid()}"

    async def answer() -> int:
        return 42

    async with make_worker(client, Catalogue(), Calls({"answer": answer}), Sinks(), task_queue=queue):
        handle = await start(client, [load(CALLING)], {}, workflow_id=queue, task_queue=queue)
        await handle.result()
    of_call = [(of, data) for of, data in noting.noted if isinstance(of, ActivitySerializationContext)]
    assert {of.activity_id for of, _ in of_call} == {"Call/ask#1"}
    assert len(of_call) == 2, "the call, which the workflow writes, and its result"
