"""Large payloads that are stored outside of the server, on a real server."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from swf_temporal.base.errors import PayloadUnavailable, UsageError
from swf_temporal.languages.port import Definition
from swf_temporal.runtime.budgets import InstanceLimits
from swf_temporal.settings.payloads import MIB, PayloadSettings, StorageSettings
from swf_temporal.temporal import client as swf
from swf_temporal.temporal import host, schedules
from swf_temporal.temporal.converter import converter_of
from tests.temporal.building import awaits, consumed, inject, operation, subflow
from tests.temporal.conftest import Bench, calling, define, failed_task, failure_of, outcome, replays, with_converter

LARGE = "x" * (5 * MIB)


def storing(bench: Bench, folder: Path, **settings: Any) -> Bench:
    """Return a bench on the same server whose client stores large payloads in *folder*, and has nothing in memory."""
    storage = StorageSettings(url=f"file://{folder}/objects", **settings)
    return with_converter(bench, converter_of(PayloadSettings(storage=storage)))


@pytest.fixture
def stored(bench: Bench, tmp_path: Path) -> Bench:
    return storing(bench, tmp_path)


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


async def test_input_result_and_output_of_five_megabytes(stored: Bench, tmp_path: Path) -> None:
    """They go through a run; its history holds references, and the same data is one object."""
    definition = define(
        operation("Take", {
                "functionRef": {"refName": "echo", "arguments": {"text": "${ .text }"}},
                "actionDataFilter": {"results": "${ .text }", "toStateData": "${ .again }"},
            }),
        functions=("echo",),
    )  # fmt: skip
    async with stored.worker(definition, echo=lambda given: given) as worker:
        handle = await worker.start({"text": LARGE})
        output = await outcome(handle)
        history = await handle.fetch_history()
    assert output == {"text": LARGE, "again": LARGE}
    assert len(history.to_json()) < 100_000
    # Input and result are the same object, the arguments with their record and the output are others.
    assert len(files(tmp_path / "objects")) == 3
    converter = stored.client.data_converter
    assert await replays(history, converter=converter) is None


async def test_without_storage_too_much_is_told_before_it_is_sent(bench: Bench) -> None:
    """The message has the size, the limit and what to do, for inputs, schedules and events."""
    definition = define(inject("a"), start={"stateName": "a", "schedule": "R/PT1H"})
    too_much = r"an input of 5,242,891 bytes: more than 2,031,616 cannot be sent\n  store large payloads outside"
    given: dict[str, Any] = {"text": LARGE}
    async with bench.worker(definition) as worker:
        ids: Any = {"workflow_id": "large-1", "task_queue": worker.queue}
        for sending, told in (
            (worker.start(given), too_much),
            (swf.start_known(bench.client, "sample", given, **ids), too_much),
            (schedules.apply(bench.client, definition, data=given, task_queue=worker.queue), too_much),
            (swf.send_data(bench.client, "large-1", "e", LARGE), r"data for 'e' of 5,242,882 bytes"),
            (worker.deliver(bench.handle("large-1"), "e", LARGE), "more than 2,031,616 cannot be sent"),
        ):
            with pytest.raises(UsageError, match=told):
                await sending


async def test_an_input_and_definitions_that_are_too_much_together(bench: Bench) -> None:
    """The server limits all arguments of a workflow together: a client and a parent are told."""
    long = "y" * 1_200_000
    child = define(inject("a"), id="child", description=long)
    parent = define(subflow("Ask", "child"), id="parent")
    async with bench.worker(parent, child) as worker:
        with pytest.raises(UsageError, match=r"an input and the definitions and events of .* bytes together"):
            await worker.start({"text": "x" * 1_200_000})
        failed = await failure_of(await worker.begin("parent", {"text": "x" * 1_200_000}, workflow_id="together-1"))
    assert failed.name == "PayloadTooLarge"
    assert "a sub-workflow can be started with: store large payloads" in failed.message


async def test_limits_with_storage_are_those_of_the_configuration(bench: Bench, tmp_path: Path) -> None:
    """An input, a result and a step that are larger than `maxBytes` are told with that limit."""
    small = storing(bench, tmp_path, max_bytes=3 * MIB)
    twice = operation("b", {"functionRef": {"refName": "f", "arguments": "${ [., .] }"}})
    definition = define(calling("a", "f"), twice, functions=("f",))
    async with small.worker(definition, f="x" * (2 * MIB)) as worker:
        with pytest.raises(UsageError, match=r"more than 3,145,728 cannot be sent\n  raise `storage › maxBytes`"):
            await worker.start({"text": LARGE})
        failed = await worker.failure()
    assert failed.name == "PayloadTooLarge"
    assert "more than the 3,145,728 that one step can carry: raise `storage › maxBytes`" in failed.message

    failed = await small.failure(define(calling("a", "f"), functions=("f",)), f=LARGE)
    assert failed.name == "CallFailed"
    assert "the limit is 3,145,728" in failed.message


async def test_sub_workflows_and_continued_runs_carry_references(stored: Bench) -> None:
    child = define(inject("a", {"child": True}), id="child")
    parent = define(subflow("Ask", "child"), inject("Go", end={"continueAs": "last"}), id="parent")
    last = define(inject("z", {"last": True}), id="last")
    output = await stored.run([parent, child, last], {"text": LARGE})
    assert output == {"text": LARGE, "child": True, "last": True}


async def test_a_missing_object_stops_a_run_until_it_is_back(bench: Bench, tmp_path: Path) -> None:
    """The workflow task fails and is tried again; the run goes on when the object has been restored."""
    definition = define(inject("a", {"done": True}))
    handle = await swf.start(
        storing(bench, tmp_path).client, [definition], {"text": LARGE},
        workflow_id="missing-1", task_queue="missing-object",
        options={"task_timeout": timedelta(seconds=2)},  # after which a failed one is tried again
    )  # fmt: skip
    [path] = files(tmp_path / "objects")
    away = path.rename(tmp_path / "away")
    async with storing(bench, tmp_path).worker(definition, queue="missing-object"):
        assert "it does not exist" in await failed_task(handle)
        away.rename(path)
        assert await outcome(handle) == {"text": LARGE, "done": True}

    path.rename(away)
    for file in files(tmp_path / "objects"):
        file.unlink()
    with pytest.raises(PayloadUnavailable, match="it does not exist"):
        await swf.result(storing(bench, tmp_path).handle("missing-1"))


async def test_a_run_that_began_without_storage_goes_on_with_it(bench: Bench, tmp_path: Path) -> None:
    """Storage can be switched on under way: a replay takes the course that was taken, and more fits from then on."""
    definition = define(
        calling("a", "small"), awaits("b", "go"), calling("c", "large"),
        functions=("small", "large"), events=consumed("go", source="/x"),
    )  # fmt: skip
    async with bench.worker(definition, small={"n": 1}, large=LARGE, queue="switched-on") as worker:
        handle = await worker.start_awaiting("go", {})
    stored = storing(bench, tmp_path)
    async with stored.worker(definition, small={"n": 1}, large=LARGE, queue="switched-on"):
        await swf.send_data(stored.client, handle.id, "go", {})
        output = await outcome(stored.handle(handle))
    assert isinstance(output, dict)
    assert output["n"] == 1


def collecting(number: int) -> Definition:
    """Return a definition that collects the results of so many calls of `echo`."""
    return define(
        {
            "name": "Each", "type": "foreach", "inputCollection": f"${{ [range({number})] }}",
            "iterationParam": "number", "batchSize": 5, "outputCollection": "${ .all }",
            "actions": [{"functionRef": {"refName": "echo", "arguments": {"number": "${ .number }"}}}],
        },
        functions=("echo",),
    )  # fmt: skip


async def test_a_run_that_holds_too_much_fails(stored: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was collected is counted when the run continues as new; the message has both numbers and the setting."""
    monkeypatch.setattr(host, "MIN_HELD_BYTES", 100_000)
    text = "x" * 20_000
    limits = InstanceLimits(held_bytes=500_000)
    async with stored.worker(collecting(90), limits=limits, echo=lambda _: text) as worker:
        failure = await worker.failure({}, suspend_after=70)
    assert failure.name == "PayloadTooLarge"
    told = re.search(r"holds ([\d,]+) bytes .* may hold 500,000 \(maxHeldBytes", failure.message)
    assert told is not None, failure.message
    # How many results are there when it continues as new depends on how fast they come.
    assert 500_000 < int(told[1].replace(",", "")) < 90 * len(text)


async def test_outputs_of_a_foreach_are_written_once(stored: Bench) -> None:
    """What had been collected before a run continued goes along as it is, and the collection is whole at the end."""
    definition = collecting(90)
    text = "x" * 20_000
    async with stored.worker(definition, echo=lambda given: {**given, "text": text}) as worker:
        handle = await worker.start({}, suspend_after=70)
        output = await outcome(handle)
        history = await stored.handle(handle).fetch_history()
    assert output == {"all": [{"number": number, "text": text} for number in range(90)]}
    converter = stored.client.data_converter
    started = history.events[0].workflow_execution_started_event_attributes
    _, record, *parts = await converter.decode(started.input.payloads)
    front = record["progress"]["frame"]["walk"]["run"]["body"]["front"]
    assert record["progress"]["parts"] == front["parts"] == list(range(1, 1 + len(parts)))
    assert len(parts) > 1
    collected = [one["number"] for part in parts for one in part] + [one["number"] for one in front.get("outputs", [])]
    assert collected == list(range(front["count"]))
    assert await replays(history, converter=converter) is None
