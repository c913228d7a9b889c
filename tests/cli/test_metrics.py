"""What a worker and a gateway export for Prometheus, and whether it is what the dashboard and the alerts ask for."""

import json
import re
import shutil
import signal
import subprocess
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import yaml
from temporalio.client import Client, WorkflowHandle

from tests.cli.conftest import Dev, Swf, free_port, listens, until
from tests.cli.test_gateway import asked
from tests.definitions import definition

pytestmark = pytest.mark.temporal

ROOT = Path(__file__).parents[2]
DASHBOARD, ALERTS = ROOT / "monitoring" / "dashboard.json", ROOT / "monitoring" / "alerts.yaml"
_OF_BROKERS = "sum by (consumer, result) (rate(swf_consumed_messages_total[$__rate_interval]))"
"""What a broker's messages come to is counted by the tests of consumers."""
_PROMTOOL = shutil.which("promtool")
_LAST = "temporal_workflow_task_execution_failed_total"
_NAME = re.compile(r"\b(?:swf|temporal)_\w+")
_EVENT = {"Content-Type": "application/cloudevents+json"}

COUNTED = definition("""\
id: counted
functions: [{name: fails, type: custom}, {name: slow, type: custom}]
retries: [{name: once, delay: PT0S, maxAttempts: 2}]
events: [{name: Go, type: go, source: shop}]
states:
  - name: Call
    type: operation
    actions: [{name: call, functionRef: fails, retryRef: once}]
    onErrors: [{errorRef: "*", transition: Again}]
    end: true
  - name: Again
    type: operation
    actions: [{subFlowRef: failing, retryRef: once}]
    onErrors: [{errorRef: "*", transition: Wait}]
    end: true
  - {name: Wait, type: event, onEvents: [{eventRefs: [Go]}], timeouts: {eventTimeout: PT0.1S}, transition: Late}
  - name: Late
    type: operation
    timeouts: {actionExecTimeout: PT0.1S}
    actions: [{name: call, functionRef: slow}]
    end: true
""")
FAILING = definition("""\
id: failing
functions: [{name: fails, type: custom}]
states: [{name: Call, type: operation, actions: [{functionRef: fails}], end: true}]
""")
FUNCTIONS = """\
import asyncio

from swf_temporal import Registry

registry = Registry()


@registry.custom("fails")
def fails():
    raise ValueError("no")


@registry.custom("slow")
async def slow():
    await asyncio.sleep(10)
"""


def asked_for() -> dict[str, set[str]]:
    """Return the expressions of the dashboard and the alerts, by where they are, with the metrics of each."""
    panels: Any = json.loads(DASHBOARD.read_text())["panels"]
    found = {f"{one['title']} {part['refId']}": part["expr"] for one in panels for part in one.get("targets", ())}
    groups: Any = yaml.safe_load(ALERTS.read_text())["groups"]
    found |= {rule["alert"]: rule["expr"] for group in groups for rule in group["rules"]}
    return {where: set(_NAME.findall(expression)) for where, expression in found.items()}


def exposed(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        text: str = answer.read().decode()
        return text


def scraped(port: int) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for name, labels in re.findall(r"^(\w+)(?:\{(.*)\})? ", exposed(port), re.MULTILINE):
        found.setdefault(name, set()).update(re.findall(r"(\w+)=\"", labels))
    return found


def check_exposition(*ports: int) -> None:
    """Have promtool read what is exposed: every metric has a type, and a name by the conventions."""
    for port in ports:
        command = [str(_PROMTOOL), "check", "metrics"]
        done = subprocess.run(command, input=exposed(port), check=False, capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stdout + done.stderr) == (0, "")


def buckets_of(metric: str, text: str) -> set[float]:
    return {float(bound) for bound in re.findall(rf'^{metric}_bucket{{.*le="([0-9.]+)"}}', text, re.MULTILINE)}


def _ask_prometheus(swf: Swf, *ports: int) -> None:
    """Let Prometheus scrape *ports*: every query of the dashboard has a value, and every rule is one."""
    targets = [f"127.0.0.1:{port}" for port in ports]
    config = {
        "global": {"scrape_interval": "1s"},
        "rule_files": [str(ALERTS)],
        "scrape_configs": [{"job_name": "swf", "static_configs": [{"targets": targets}]}],
    }
    swf.write("prometheus.yaml", json.dumps(config))
    at = f"127.0.0.1:{free_port()}"
    options = ["--config.file=prometheus.yaml", "--storage.tsdb.path=data", f"--web.listen-address={at}"]
    panels: Any = json.loads(DASHBOARD.read_text())["panels"]
    wanted = {part["expr"] for one in panels for part in one["targets"]} - {_OF_BROKERS}
    with swf.running(*options, command=["prometheus"]) as prometheus:
        prometheus.until("Server is ready")
        until(lambda: {one for one in wanted if not _value(at, one)}, lambda missing: not missing)


def _value(at: str, expression: str) -> list[Any]:
    for name, value in (("__rate_interval", "1m"), ("namespace", ".*"), ("definition", ".*")):
        expression = expression.replace(f"${name}", value)
    with urllib.request.urlopen(f"http://{at}/api/v1/query?{urlencode({'query': expression})}", timeout=10) as answer:
        result: list[Any] = json.loads(answer.read())["data"]["result"]
        return result


async def begin_newer(dev: Dev) -> WorkflowHandle[Any, Any]:
    """Begin an instance whose record only a newer release can read: its workflow tasks fail."""
    client = await Client.connect(dev.address)
    record = {"format": 99, "definitions": []}
    return await client.start_workflow("counted", args=[{}, record], id="newer", task_queue="counted")


async def test_every_metric_of_the_dashboard_and_the_alerts_exists(swf: Swf, dev: Dev) -> None:
    swf.write("defs/counted.yaml", COUNTED)
    swf.write("defs/failing.yaml", FAILING)
    swf.write("functions.py", FUNCTIONS)
    port, gateway_port = free_port(), free_port()
    at = ["--address", dev.address, "--task-queue", "counted"]
    serving = ["defs", "--functions", "functions.py", *at, "--metrics", str(port)]
    with swf.running("worker", *serving) as worker:
        worker.until("working for")
        started = r'^swf_instances_started_total{.*workflow_type="(\w+)"} 0$'
        assert re.findall(started, exposed(port), re.MULTILINE) == ["counted", "failing"]
        options = ["defs", "--port", "0", *at, "--metrics", str(gateway_port)]
        with swf.running("gateway", *options, stream="stdout") as gateway:
            url = gateway.until("http://").strip()
            status, told = asked(f"{url}/workflows/counted?wait=60", {})
            assert (status, told["status"]) == (200, "failed")
            assert not [one for one in (port, gateway_port) if listens(one, "127.0.0.2")]
            newer = await begin_newer(dev)
            asked(f"{url}/events", {"specversion": "1.0", "id": "1", "source": "shop", "type": "unknown"}, **_EVENT)
            found = scraped(gateway_port)
            of_worker = until(lambda: scraped(port), lambda seen: _LAST in seen)
            if _PROMTOOL is not None:
                check_exposition(port, gateway_port)
            for measured in ("swf_state_duration_seconds", "temporal_workflow_endtoend_latency_seconds"):
                assert [bound for bound in buckets_of(measured, exposed(port)) if 2 * 60 <= bound < 9 * 60]
            if shutil.which("prometheus"):
                _ask_prometheus(swf, port, gateway_port)
            await newer.terminate()
            found = {**found, **of_worker}
            gateway.stop(signal.SIGTERM)
        second = swf("worker", *serving)
        ended = worker.stop(signal.SIGTERM)
    assert ended.out == ""  # the core of the SDK logs as it does without metrics
    assert (second.code, f"metrics cannot be served at 127.0.0.1:{port}" in second.err) == (2, True)
    ours = {name for name in found if name.startswith("swf_")}
    missing = {where: names - found.keys() - {"swf_consumed_messages_total"} for where, names in asked_for().items()}
    assert not {where: names for where, names in missing.items() if names}
    page = (ROOT / "docs" / "metrics.md").read_text()
    documented = dict(re.findall(r"^\| `(swf_\w+)` \| (.*?) \|", page, re.MULTILINE))
    exported = {re.sub(r"_(bucket|sum|count)$", "", name) for name in ours}
    assert exported <= documented.keys() <= exported | {"swf_consumed_messages_total"}
    for name, labels in documented.items():
        there = found.get(name, found.get(f"{name}_count", set(re.findall(r"`(\w+)`", labels))))
        assert set(re.findall(r"`(\w+)`", labels)) <= there, name
    if _PROMTOOL is None:
        pytest.skip("NOT TRIED: there is no promtool to read what is exposed; `make brokers` installs it")
