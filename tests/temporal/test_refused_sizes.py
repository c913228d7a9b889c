"""Whatever a server would refuse for its length is shortened, or told: no run stands still for it."""

import asyncio
import zlib
from typing import Any, cast

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.client import Client, WorkflowFailureError
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.languages.loading import load
from swf_temporal.settings.payloads import PayloadSettings
from swf_temporal.simulation.simulate import simulate
from swf_temporal.temporal.converter import converter_of
from tests.temporal.building import inject, operation
from tests.temporal.conftest import Bench, calling, define, failure_of

WIDE = "🚢" * 240
"""In characters a few, in bytes 960: more than a summary may have."""
MEGABYTES = 5_000_000


async def test_names_of_wide_characters_are_summaries(bench: Bench) -> None:
    """Summaries of activities, timers and children are counted in bytes."""
    definition = load(
        {
            "id": "wide",
            "name": WIDE,
            "specVersion": "0.8",
            "functions": [{"name": WIDE, "type": "custom"}],
            "events": [{"name": "Sent", "type": WIDE, "source": "s", "kind": "produced"}],
            "states": [
                operation(WIDE, {"name": WIDE, "functionRef": WIDE, "sleep": {"before": "PT0.01S"}}, transition="Down"),
                operation("Down", {"name": WIDE, "subFlowRef": "child"}, end={"produceEvents": [{"eventRef": "Sent"}]}),
            ],
        }
    )
    child = define(inject("A", {"a": 1}), id="child")
    async with bench.worker(definition, child, **cast("Any", {WIDE: {"b": 2}})) as worker:
        assert await worker.run() == {"a": 1, "b": 2}


@pytest.mark.parametrize("name", ["CallFailed", "x" * MEGABYTES])
async def test_an_error_of_megabytes_is_shortened(bench: Bench, name: str) -> None:
    """What a function says in its message, and what its service answered."""

    def fail(_: JSON) -> JSON:
        raise CallFailed("m" * MEGABYTES, name=name, code="c" * MEGABYTES, body={"said": "b" * MEGABYTES})

    definition = define(calling("Ask", "ask"), functions=("ask",))
    async with bench.worker(definition, ask=fail) as worker:
        ended = await asyncio.wait_for(worker.failure(), 30)
    assert "mmm" in str(ended)
    assert len(str(ended)) < 100_000


async def test_an_error_of_megabytes_can_be_caught(bench: Bench) -> None:
    def fail(_: JSON) -> JSON:
        raise ValueError("m" * MEGABYTES)

    ask = calling("Ask", "ask", onErrors=[{"errorRef": "any", "end": True}])
    definition = define(ask, functions=("ask",), errors=[{"name": "any", "code": "*"}])
    async with bench.worker(definition, ask=fail) as worker:
        assert await asyncio.wait_for(worker.run({"a": 1}), 30) == {"a": 1}


@pytest.mark.parametrize("size", [2_031_620, 2_090_000, 3_000_000])
async def test_a_result_that_is_too_large_can_be_caught(bench: Bench, size: int) -> None:
    """Also where a service, or the server, takes a little more than a state's data can carry."""
    ask = calling("Ask", "ask", onErrors=[{"errorRef": "large", "end": True}])
    definition = define(ask, functions=("ask",), errors=[{"name": "large", "code": "AnswerTooLarge"}])
    async with bench.worker(definition, ask=lambda _: {"text": "r" * size}) as worker:
        assert await asyncio.wait_for(worker.run({"a": 1}), 30) == {"a": 1}
    assert simulate(definition, {"a": 1}, functions={"ask": {"text": "r" * size}}).output == {"a": 1}


async def test_a_failure_of_the_run_is_shortened(bench: Bench) -> None:
    definition = define(inject("A", {"a": "${ error(.text * 4) }"}))
    async with bench.worker(definition) as worker:
        handle = await worker.start({"text": "t" * 1_000_000})
        ended = await failure_of(handle)
    assert len(str(ended)) < 100_000


async def test_input_that_inflates_to_too_much_fails_the_run(bench: Bench) -> None:
    """By a client that compresses by itself: 50 MB in 49 KB. No task is tried again for it."""
    compressing = Bench(bench.server)
    converter = converter_of(PayloadSettings(compression=True))
    compressing.client = Client(bench.client.service_client, data_converter=converter)
    whole = Payload(metadata={"encoding": b"json/plain"}, data=b'"' + b" " * 50_000_000 + b'"').SerializeToString()
    bomb = RawValue(Payload(metadata={"encoding": b"binary/zlib"}, data=zlib.compress(whole)))
    async with compressing.worker(define(inject("A"))) as worker:
        handle = await bench.client.start_workflow("sample", args=[bomb], id="bomb", task_queue=worker.queue)
        with pytest.raises(WorkflowFailureError) as failed:
            await asyncio.wait_for(handle.result(), 60)
    assert isinstance(failed.value.cause, ApplicationError)
    assert failed.value.cause.type == "WrongInput"
    assert "inflates to more than 2,162,688 bytes" in str(failed.value.cause)
