"""Spans in a program that has a tracer provider of its own, and no variables of OpenTelemetry."""

import asyncio
import os
import subprocess
import sys

import pytest

from swf_temporal import Client

PROGRAM = '''
import asyncio
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from swf_temporal import Client, Worker, load

GREETING = load("""
id: greeting
version: 1.0.0
specVersion: "0.8"
functions: [{name: greet, type: custom}]
states:
  - {name: Greet, type: operation, actions: [{functionRef: greet}], end: true}
""")
exporter, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))

async def main():
    client = await Client.connect()
    async with Worker(client, definitions=[GREETING], functions={"greet": dict}, task_queue="own-provider"):
        with provider.get_tracer("program").start_as_current_span("request"):
            await (await client.start(GREETING, task_queue="own-provider")).result()
    spans = exporter.get_finished_spans()
    print(len({one.context.trace_id for one in spans}), *sorted(one.name for one in spans))

asyncio.run(main())
exporter.clear()
trace.set_tracer_provider(provider)
asyncio.run(main())
'''


@pytest.mark.temporal
async def test_the_spans_of_instances_are_there(client: Client) -> None:
    """They belong to the trace in which the program starts the instance; a provider that is not set gets none."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    environment["TEMPORAL_ADDRESS"] = client.address
    command = [sys.executable, "-c", PROGRAM]
    done = await asyncio.to_thread(
        subprocess.run, command, check=False, capture_output=True, text=True, env=environment, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "1 request",
        "1 RunActivity:greet RunWorkflow:greeting StartWorkflow:greeting State:Greet request",
    ]
