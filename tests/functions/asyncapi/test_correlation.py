"""Messages that belong together are known by an id, and replies by that or by where they come."""

import asyncio
import json
from typing import Any

import pytest

from swf_temporal.events.brokers.port import Channel, Message
from tests.failing import failing
from tests.functions.asyncapi.memory import Bench, bench, publishing, subscribing, version3

__all__ = ["bench"]
IN_HEADER = {"correlationId": {"location": "$message.header#/nr"}}
IN_PAYLOAD = {"correlationId": {"location": "$message.payload#/about/id"}, "payload": {"type": "object"}}


@pytest.mark.parametrize(("sent", "payload", "id_"), [
    ({"lumens": 5, "correlationId": 7}, {"lumens": 5, "about": {"id": 7}}, "7"),
    ({"about": {"id": "9"}}, {"about": {"id": "9"}}, "9"),
])  # fmt: skip
async def test_an_id_is_sent_where_the_document_says(bench: Bench, sent: Any, payload: Any, id_: str) -> None:
    """And by the protocol, too, also one that is there already."""
    await bench.has(publishing(IN_PAYLOAD)).call("send", sent)
    assert json.loads(bench.memory.message.payload) == payload
    assert bench.memory.message.correlation_id == id_


@pytest.mark.parametrize(("given", "name"), [({}, "nr"), ({"headers": {"NR": "old"}}, "NR")])
async def test_an_id_is_sent_in_a_header(bench: Bench, given: Any, name: str) -> None:
    """Names of headers are compared in any case: no header is there twice."""
    await bench.has(publishing(IN_HEADER)).call("send", {"payload": 1, "correlationId": "7", **given})
    assert bench.memory.message.headers == {name: "7", "Idempotency-Key": "k"}


@pytest.mark.parametrize(("message", "code", "reason"), [
    ({**IN_PAYLOAD, "payload": True}, "BadArguments", r"no place for \"7\" at \$message\.payload#/about/id"),
    *(({"correlationId": {"location": where}}, "BadDocument", r"\$message\.header#/name")
      for where in ("#/id", "$message.body#/id", "$message.payload/id")),
])  # fmt: skip
async def test_an_id_needs_a_place(bench: Bench, message: Any, code: str, reason: str) -> None:
    with failing(code, reason):
        await bench.has(publishing(message)).call("send", {"payload": "text", "correlationId": "7"})


@pytest.mark.parametrize(
    ("message", "facts"), [(IN_HEADER, {"headers": {"NR": "7"}}), (IN_PAYLOAD, {}), ({}, {"correlation_id": "7"})]
)
async def test_only_the_message_with_the_id_is_taken(bench: Bench, message: Any, facts: Any) -> None:
    """Those of others are left for them, also those that nobody can read."""
    bench.has(subscribing(message))
    for nr in ("6", "8"):
        bench.memory.put("lights", {"about": {"id": nr}}, headers={"nr": nr}, correlation_id=nr)
    bench.memory.put("lights", b"{oops", content_type="application/json")
    bench.memory.put("lights", {"about": {"id": 7}}, **facts)
    assert await bench.call("take", {"correlationId": "7"}) == {"about": {"id": 7}}
    assert len(bench.memory.accepted) == 1


async def test_a_broken_message_with_the_id_is_the_fault_of_the_call(bench: Bench) -> None:
    bench.has(subscribing(IN_HEADER))
    bench.memory.put("lights", b"{oops", content_type="application/json", headers={"nr": "7"})
    with failing("MalformedAnswer"):
        await bench.call("take", {"correlationId": "7"})


QUESTIONS: dict[str, Any] = {
    "questions": {"address": "questions/{room}", "parameters": {"room": {}}, "messages": {"q": IN_HEADER}},
    "answers": {"address": "answers/{room}", "parameters": {"room": {}}, "messages": {"a": IN_HEADER}},
    "inbox": {"address": None, "messages": {"a": {"payload": {"type": "object"}}}},
}
INBOX = {"channel": {"$ref": "#/channels/inbox"}, "address": {"location": "$message.header#/replyTo"}}
ANSWERS = {"channel": {"$ref": "#/channels/answers"}}


def asking(reply: dict[str, Any]) -> dict[str, Any]:
    return version3(QUESTIONS, {"ask": {"action": "send", "channel": {"$ref": "#/channels/questions"}, "reply": reply}})


async def test_a_reply_comes_on_its_channel_and_has_the_id(bench: Bench) -> None:
    """It is listened for before the request is sent: who answers quickly is not missed."""
    bench.has(asking(ANSWERS))
    listening: list[int] = []

    def answers(_: Channel, message: Message) -> Message:
        listening.append(len(bench.memory.subscribed))
        bench.memory.put("answers/1", "of another", headers={"nr": "other"})
        bench.memory.put("answers/1", "of nobody")
        return Message(b'{"answer": 42}', headers={"nr": message.headers["nr"]}, reply_to="answers/1")

    bench.memory.responder = answers
    assert await bench.call("ask", {"room": 1, "payload": "how?"}) == {"answer": 42}
    assert bench.memory.channel.address == "questions/1"
    assert (len(bench.memory.accepted), listening) == (1, [1])


async def test_the_id_of_a_request_is_that_of_the_call(bench: Bench) -> None:
    """A reply to the first attempt is one to the second, too; a workflow can also say the id."""
    bench.has(asking(ANSWERS))
    bench.memory.responder = lambda _, sent: Message(b"1", headers=sent.headers, reply_to="answers/1")
    for key, arguments in (("a", {}), ("a", {}), ("b", {}), ("b", {"correlationId": "mine"})):
        await bench.call("ask", {"room": 1, "payload": "how?", **arguments}, key=key)
    ids = [message.headers["nr"] for _, message in bench.memory.sent]
    assert ids[0] == ids[1] != ids[2]
    assert ids[3] == "mine"


async def test_without_a_channel_for_replies_an_address_is_made_up(bench: Bench) -> None:
    """The request says which; only the reply can come there, so it needs no id."""
    bench.has(asking(INBOX))
    bench.memory.responder = lambda _, sent: Message(b'{"answer": 42}', reply_to=sent.headers["replyTo"])
    assert await bench.call("ask", {"room": 1, "payload": "how?"}) == {"answer": 42}
    sent = bench.memory.message
    assert sent.reply_to == sent.headers["replyTo"] == bench.memory.subscribed[0].address


async def test_the_workflow_may_say_where_it_wants_its_reply(bench: Bench) -> None:
    """At an address that others may use, too, only the id tells."""
    bench.has(asking(INBOX))
    bench.memory.put("my/inbox", {"not": "this"})
    bench.memory.responder = lambda _, sent: Message(b"{}", reply_to="my/inbox", correlation_id=sent.correlation_id)
    assert await bench.call("ask", {"room": 1, "payload": 1, "headers": {"replyTo": "my/inbox"}}) == {}


@pytest.mark.parametrize(("protocol", "address"), [
    ("mqtt", "#"), ("mqtt", "inbox/+"), ("nats", ">"), ("nats", "a\r\nb"),
])  # fmt: skip
async def test_a_reply_is_wanted_at_one_address(bench: Bench, protocol: str, address: str) -> None:
    """Who chooses it, which data can, is not to hear what is meant for others."""
    document = asking(INBOX)
    document["servers"]["broker"]["protocol"] = protocol
    with failing("BadArguments", "is not a single address"):
        await bench.has(document).call("ask", {"room": 1, "payload": 1, "headers": {"replyTo": address}})
    assert bench.memory.subscribed == []


async def test_a_made_up_queue_is_declared(bench: Bench) -> None:
    """AMQP would know none of that name."""
    document = asking({"channel": {"$ref": "#/channels/inbox"}})
    document["servers"]["broker"]["protocol"] = "amqp"
    bench.memory.responder = lambda _, sent: Message(b"{}", reply_to=sent.reply_to)
    await bench.has(document).call("ask", {"room": 1, "payload": 1})
    channel = bench.memory.subscribed[0]
    assert channel.bindings.channel["queue"] == {
        "name": channel.address, "durable": False, "exclusive": True, "autoDelete": False,
    }  # fmt: skip


async def test_a_reply_from_another_server_is_not_followed(bench: Bench) -> None:
    """What shows one server who is calling is not for another."""
    document = asking(ANSWERS)
    document["servers"]["other"] = {"host": "127.0.0.1:2", "protocol": "mqtt"}
    document["channels"]["answers"] = {**QUESTIONS["answers"], "servers": [{"$ref": "#/servers/other"}]}
    with failing("BadDocument", "another server than 'broker'"):
        await bench.has(document).call("ask", {"room": 1, "payload": 1})
    assert bench.memory.sent == []


async def test_a_received_request_is_not_answered_by_itself(bench: Bench) -> None:
    """The workflow sends its reply by an operation of its own; the message says where to."""
    reply = {"channel": {"$ref": "#/channels/inbox"}}
    serve = {"action": "receive", "channel": {"$ref": "#/channels/questions"}, "reply": reply}
    document = version3(QUESTIONS, {"serve": serve})
    bench.memory.put("questions/1", {"how": "?"}, reply_to="my/inbox", headers={"nr": "7"})
    result = await bench.has(document).call("serve", {"room": 1}, metadata={"result": "message"})
    assert result == {"payload": {"how": "?"}, "headers": {"nr": "7"}, "correlationId": "7", "replyTo": "my/inbox"}
    assert bench.memory.sent == []


async def test_replies_to_calls_at_the_same_time_are_told_apart(bench: Bench) -> None:
    bench.has(asking(INBOX))
    bench.memory.responder = lambda _, sent: Message(
        b'{"to": ' + sent.payload + b"}", reply_to=sent.reply_to, correlation_id=sent.correlation_id
    )
    results = await asyncio.gather(
        *(bench.call("ask", {"room": 1, "payload": number}, key=f"k{number}") for number in range(5))
    )
    assert results == [{"to": number} for number in range(5)]
