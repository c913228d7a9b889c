"""What runs add to the metrics of the SDK."""

from typing import Any

from temporalio.client import Client
from temporalio.runtime import MetricBuffer, Runtime, TelemetryConfig

from swf_temporal import CallFailed
from swf_temporal.data import JSON
from swf_temporal.temporal import client as swf
from swf_temporal.temporal.converter import CONVERTER
from tests.temporal.conftest import Bench, define


async def test_failed_actions_are_counted_by_function_and_error(bench: Bench) -> None:
    """Once, whatever the number of attempts."""
    metrics = MetricBuffer(10_000)
    measured = Bench(bench.server)
    measured.client = await Client.connect(
        bench.client.service_client.config.target_host,
        namespace=bench.client.namespace,
        data_converter=CONVERTER,
        runtime=Runtime(telemetry=TelemetryConfig(metrics=metrics)),
    )

    def work(_: JSON) -> JSON:
        raise CallFailed(code=409, message="no seat")

    failing: Any = {
        "name": "Book",
        "type": "operation",
        "actions": [{"name": "seat", "functionRef": "work", "retryRef": "Once"}],
        "onErrors": [{"errorRef": "*", "transition": "Nap"}],
        "end": True,
    }
    nap: Any = {"name": "Nap", "type": "sleep", "duration": "PT0.01S", "end": True}
    retries: Any = [{"name": "Once", "delay": "PT0S", "maxAttempts": 2}]
    definition = define(failing, nap, retries=retries, functions=({"name": "work", "type": "custom"},))
    async with measured.worker(definition, work=work) as worker:
        handle = await worker.start({})
        await swf.result(handle)
    counted = [update for update in metrics.retrieve_updates() if update.metric.name == "swf_failed_actions"]
    assert [update.value for update in counted] == [1]
    assert {key: counted[0].attributes[key] for key in ("state", "action", "function", "error")} == {
        "state": "Book",
        "action": "seat",
        "function": "work",
        "error": "CallFailed",
    }
