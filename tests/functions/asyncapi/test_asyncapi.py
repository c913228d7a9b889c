"""Operations of AsyncAPI documents send and receive messages."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.settings.calls import Options
from tests.failing import failing
from tests.functions.asyncapi.memory import Bench, bench, publishing, subscribing, version2, version3

__all__ = ["bench"]
DOCUMENTS = Path(__file__).parents[1] / "data"


async def test_the_example_of_the_text_is_carried_out() -> None:
    bench = Bench(DOCUMENTS).given(services={"streetlightsapi.yaml": Options(base_url="mqtt://127.0.0.1:1883")})
    measured: JSON = {"id": 7, "lumens": 12, "sentAt": "2026-01-01T00:00:00Z"}
    result = await bench.call("file://streetlightsapi.yaml#onLightMeasured", measured)
    assert result is None
    assert (bench.memory.channel.protocol, bench.memory.channel.address) == ("mqtt", "light/measured")
    assert json.loads(bench.memory.message.payload) == measured
    assert bench.memory.message.content_type == "application/json"
    with failing("BadArguments", r"LightMeasured.*payload\.lumens: -1 is less than the minimum of 0", retryable=False):
        await bench.call("file://streetlightsapi.yaml#onLightMeasured", {"id": 7, "lumens": -1})
    await bench.aclose()


HERE = {"$ref": "#/channels/lamps"}
LAMPS: Any = {"lamps": {"address": "lamps/{lamp}", "messages": {"on": {"payload": {"type": "object"}}}}}
BOTH = [
    version2({"lamps/{lamp}": {"publish": {"operationId": "tell"}, "subscribe": {"operationId": "hear"}}}),
    version3(LAMPS, {"tell": {"action": "send", "channel": HERE}, "hear": {"action": "receive", "channel": HERE}}),
]


@pytest.mark.parametrize("document", BOTH, ids=["2", "3"])
async def test_messages_are_sent_and_received(bench: Bench, document: dict[str, Any]) -> None:
    await bench.has(document).call("tell", {"lamp": "north", "percent": 80})
    assert bench.memory.channel.address == "lamps/north"
    assert json.loads(bench.memory.message.payload) == {"percent": 80}
    assert bench.memory.message.headers == {"Idempotency-Key": "k"}
    waiting = asyncio.create_task(bench.call("hear", {"lamp": "north"}))
    bench.memory.put("lamps/south", {"not": "this"})
    bench.memory.put("lamps/north", {"percent": 80})
    assert await waiting == {"percent": 80}
    assert [json.loads(message.payload) for message in bench.memory.accepted] == [{"percent": 80}]


async def test_one_message_is_taken_by_one_call(bench: Bench) -> None:
    bench.has(subscribing())
    for number in (1, 2):
        bench.memory.put("lights", number)
    assert [await bench.call("take"), await bench.call("take")] == [1, 2]


async def test_the_whole_message_is_the_result_where_the_function_says_so(bench: Bench) -> None:
    bench.has(subscribing())
    facts: Any = {"headers": {"by": "ada"}, "correlation_id": "7", "reply_to": "back"}
    bench.memory.put("lights", {"on": True}, content_type="application/json", **facts)
    result = await bench.call("take", metadata={"result": "message"})
    assert result == {"payload": {"on": True}, "headers": {"by": "ada"}, "correlationId": "7", "replyTo": "back"}


async def test_waiting_ends_when_the_call_is_cancelled(bench: Bench) -> None:
    waiting = asyncio.create_task(bench.has(subscribing()).call("take"))
    while not bench.memory.subscribed:
        await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert bench.memory.accepted == []


async def test_all_attempts_at_a_call_are_the_same_client(bench: Bench) -> None:
    """A broker can keep for the second attempt what came after the first; another call is another client."""
    bench.has(publishing())
    for key in ("a", "a", "b"):
        await bench.call("send", 1, key=key)
    first, second, other = (channel.client_id for channel, _ in bench.memory.sent)
    assert first == second != other
    assert len(first) <= 23, "brokers of MQTT 3.1 take no more"


ASK = version3({"lamps": {"address": "lamps"}}, {"ask": {"action": "ask"}})
ALL: Any = {"metadata": {"result": "all"}}
PARTS = r"document\.yaml#operationId"


@pytest.mark.parametrize(("document", "operation", "facts", "code", "reason"), [
    (subscribing(), "api.json#take", ALL, "BadOperation", "'payload' or 'message'"),
    *((ASK, operation, {}, "BadOperation", PARTS) for operation in ("api.json#", "#send", "api.json", "", 5)),
    ({"openapi": "3.0.0"}, "api.json#send", {}, "BadDocument", "no 'asyncapi' at the top level"),
    ({"asyncapi": "1.2.0"}, "api.json#send", {}, "BadDocument", "version 1.2.0 is not one of 2.0 to 2.6 and 3.0"),
    *((one, "api.json#tel", {}, "UnknownOperation", "no operation 'tel'; did you mean 'tell'") for one in BOTH),
    (ASK, "api.json#ask", {}, "BadDocument", "must be 'send' or 'receive'"),
])  # fmt: skip
async def test_what_cannot_be_called(
    bench: Bench, document: dict[str, Any], operation: Any, facts: Any, code: str, reason: str
) -> None:
    with failing(code, reason, retryable=False):
        await bench.has(document).perform(operation, **facts)
