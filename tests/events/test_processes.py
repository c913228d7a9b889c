"""`swf consume` and `swf worker` as processes that are killed: every instance gets its events, each once."""

import asyncio
import json
import signal
from pathlib import Path
from typing import Any

import nats
import pytest

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.settings.events import BrokerAddress
from swf_temporal.temporal.client import result
from tests.brokers.servers import HOST, Server
from tests.cli.conftest import Place, answer_of, free_port
from tests.events.conftest import publish
from tests.temporal.conftest import Bench, listed

pytestmark = pytest.mark.temporal
KEYS, EVENTS = 10, 6

COUNTING = """
id: counting-ID
version: '1.0'
specVersion: '0.8'
start: Wait
events: [{name: Tick, type: tick-ID, correlation: [{contextAttributeName: key}]}]
functions: [{name: add, type: expression, operation: '(.seen // []) + [.tick]'}]
states:
- name: Wait
  type: event
  onEvents:
  - eventRefs: [Tick]
    eventDataFilter: {toStateData: .tick}
    actions: [{functionRef: add, actionDataFilter: {toStateData: .seen}}]
  transition: Enough
- name: Enough
  type: switch
  dataConditions: [{condition: '${ (.seen | length) >= LENGTH }', end: true}]
  defaultCondition: {transition: Wait}
"""

CONFIGURATION = """
events:
  consumers:
  - {name: ticks, from: 'amqp://HOST', queue: QUEUE, declare: true, prefetch: 20}
"""


async def test_every_event_counts_once_whatever_is_killed(
    bench: Bench, rabbitmq: Server, topic: str, tmp_path: Path
) -> None:
    """A producer sends everything twice; the consumer and the worker are killed on the way."""
    swf, server, health = Place(tmp_path), bench.client.service_client.config.target_host, free_port()
    swf.write("counting.yaml", COUNTING.replace("ID", topic).replace("LENGTH", str(EVENTS)))
    swf.write("swf.yml", CONFIGURATION.replace("HOST", f"{HOST}:{rabbitmq.port}").replace("QUEUE", topic))
    common = ["counting.yaml", "--address", server, "--task-queue", topic]
    consume = ["consume", *common, "--config", "swf.yml", "--health", str(health)]
    events = [
        CloudEvent(f"{key}/{number}", "clock", f"tick-{topic}", number, {"key": f"k{key}"})
        for number in range(EVENTS)
        for key in range(KEYS)
    ]
    broker = BrokerAddress(url=f"amqp://{HOST}:{rabbitmq.port}", queue=topic, declare=True)
    producing = [asyncio.create_task(publish(broker, [each for each in events for _ in range(2)]))]
    with swf.running(*consume) as consumer, swf.running("worker", *common) as worker:
        await asyncio.to_thread(consumer.until, "consuming from")
        await _reached(bench, topic, 20)
        consumer.process.send_signal(signal.SIGKILL)
        worker.process.send_signal(signal.SIGKILL)
    await asyncio.gather(*producing)
    with swf.running(*consume) as consumer, swf.running("worker", *common):
        await asyncio.to_thread(consumer.until, "consuming from")
        await listed(bench.client, f"WorkflowType = 'counting-{topic}' AND ExecutionStatus = 'Completed'", KEYS)
        found = [each async for each in bench.client.list_workflows(f"WorkflowType = 'counting-{topic}'")]
        outputs: list[Any] = [await result(bench.client.get_workflow_handle(each.id)) for each in found]
        async with asyncio.timeout(60):
            while await asyncio.to_thread(answer_of, health, "readyz") != 200:
                await asyncio.sleep(0.1)
        ended = await asyncio.to_thread(consumer.stop, signal.SIGTERM)
    assert len(found) == KEYS
    assert [sorted(output["seen"]) for output in outputs] == [list(range(EVENTS))] * KEYS, json.dumps(outputs)
    assert (ended.code, ended.err.count("Traceback")) == (0, 0), ended.err


async def _reached(bench: Bench, topic: str, number: int) -> None:
    query = f"WorkflowId STARTS_WITH 'swf-events:counting-{topic}'"
    async with asyncio.timeout(60):
        while True:
            seen = 0
            async for each in bench.client.list_workflows(query):
                description = await bench.client.get_workflow_handle(each.id).describe()
                seen += description.history_length
            if seen >= number:
                return
            await asyncio.sleep(0.05)


DEVELOPMENT = """
events:
  consumers:
  - {name: ticks, from: 'nats://HOST', subject: SUBJECT}
  sinks:
  - {name: back, to: 'nats://HOST', subject: SUBJECT-back, mode: binary}
"""

ANSWERING = """
id: answering
version: '1.0'
specVersion: '0.8'
start: Wait
events: [{name: Asked, type: asked}, {name: Answered, type: answered, kind: produced}]
states:
- name: Wait
  type: event
  onEvents: [{eventRefs: [Asked]}]
  end: {produceEvents: [{eventRef: Answered, data: '${ .number * 7 }'}]}
"""


async def test_a_development_server_consumes_and_produces(jetstream: Server, topic: str, tmp_path: Path) -> None:
    swf, url = Place(tmp_path), f"nats://{HOST}:{jetstream.port}"
    swf.write("answering.yaml", ANSWERING)
    swf.write("swf.yml", DEVELOPMENT.replace("nats://HOST", url).replace("SUBJECT", topic))
    connection = await nats.connect(url)
    await connection.jetstream().add_stream(name=topic, subjects=[topic])
    answers = await connection.subscribe(f"{topic}-back")
    await connection.flush()
    ports = ["--port", str(free_port()), "--ui-port", str(free_port())]
    with swf.running("dev", "--config", "swf.yml", *ports) as dev:
        await asyncio.to_thread(dev.until, "consuming from")
        await publish(BrokerAddress(url=url, subject=topic), [CloudEvent("1", "test", "asked", {"number": 6})])
        answer = await answers.next_msg(timeout=60)
        assert answer.headers is not None
        ended = await asyncio.to_thread(dev.stop, signal.SIGTERM)
    await connection.close()
    assert (answer.data, answer.headers["ce-type"]) == (b"42", "answered")
    assert ended.code == 0, ended.err
