"""What the rules of `monitoring/alerts.yaml` see, as Prometheus evaluates them."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ALERTS = Path(__file__).parents[2] / "monitoring" / "alerts.yaml"
PROMTOOL = shutil.which("promtool")
RULES = [rule["alert"] for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]]

FAILURES = {
    "SwfInstancesFail": 'swf_instances_ended_total{workflow_type="w",result="failed",error="CallFailed"',
    "SwfLimitReached": 'swf_instances_ended_total{workflow_type="w",result="failed",error="StepLimitExceeded"',
    "SwfDeadLetters": 'swf_consumed_messages_total{consumer="c",result="dead-lettered"',
}
"""Series of the alerts that a single failure raises at once, without the end of their labels."""
_WINDOW = {"SwfLimitReached": 60}
"""For how many minutes a failure raises the alert, if not 15."""

_BUSY = 'temporal_worker_task_slots_available{task_queue="q",worker_type="ActivityWorker"}'
_SECONDS = "_schedule_to_start_latency_seconds_bucket"
SUSTAINED: dict[str, dict[str, str]] = {
    "SwfCallsFail": {'swf_failed_attempts_total{activity_type="f",again="false"}': "0+12x60"},
    "SwfWorkflowTasksFail": {'temporal_workflow_task_execution_failed_total{workflow_type="w"}': "_x5 1+1x55"},
    "SwfWorkersAreBusy": {_BUSY: "0x60"},
    "SwfTasksWait": {
        f'temporal_workflow_task{_SECONDS}{{task_queue="q",le="1"}}': "0x60",
        f'temporal_workflow_task{_SECONDS}{{task_queue="q",le="10"}}': "0+5x60",
        f'temporal_workflow_task{_SECONDS}{{task_queue="q",le="+Inf"}}': "0+5x60",
    },
    "SwfCallsWait": {
        f'temporal_activity{_SECONDS}{{task_queue="q",le="1"}}': "0x60",
        f'temporal_activity{_SECONDS}{{task_queue="q",le="10"}}': "0+5x60",
        f'temporal_activity{_SECONDS}{{task_queue="q",le="+Inf"}}': "0+5x60",
    },
    "SwfServerRequestsFail": {'temporal_request_failure_total{operation="PollActivityTaskQueue"}': "0+120x60"},
    "SwfMessagesAreHeld": {'swf_consumed_messages_total{consumer="c",result="held"}': "_x5 1+1x55"},
    "SwfGatewayFails": {
        'swf_gateway_request_duration_seconds_count{operation="GET /x",status="200"}': "0+90x60",
        'swf_gateway_request_duration_seconds_count{operation="GET /x",status="503"}': "0+10x60",
    },
}
"""Series of the alerts for what lasts, by minute: they raise the alert when an hour is over."""

pytestmark = pytest.mark.skipif(PROMTOOL is None, reason="NOT TRIED: there is no promtool; `make brokers` installs it")


def check(folder: Path, series: dict[str, str], expected: dict[int, set[str]]) -> None:
    """Have promtool evaluate all rules on *series*: exactly those alerts are firing at each minute of *expected*."""
    asked = [
        {
            "expr": 'count by (alertname) (ALERTS{alertstate="firing"})',
            "eval_time": f"{minute}m",
            "exp_samples": [{"labels": f'{{alertname="{name}"}}', "value": 1} for name in sorted(names)],
        }
        for minute, names in expected.items()
    ]
    given = [{"series": name, "values": values} for name, values in series.items()]
    tests: Any = [{"interval": "1m", "input_series": given, "promql_expr_test": asked}]
    file = folder / "test.yaml"
    file.write_text(json.dumps({"rule_files": [str(ALERTS)], "evaluation_interval": "1m", "tests": tests}))
    command = [str(PROMTOOL), "test", "rules", str(file)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("alert", FAILURES)
@pytest.mark.parametrize(("before", "values"), [
    (set(), "_x100 1x100"),
    (set(), "0x99 1x100"),
    (set(), "5x99 6x100"),
    (set(), "5x99 1x100"),
    (set(), "5x95 stale _x3 1x100"),
    (set(), "5x20 stale _x78 1x100"),
    (set(), "5x20 stale _x78 5x100"),
], ids=[
    "the first of all", "the first of what begins with 0", "one more", "the counter is reset",
    "the worker was away for minutes", "the worker was away for long", "as many as before the worker was away",
])  # fmt: skip
def test_a_single_failure_is_seen(alert: str, before: set[str], values: str, tmp_path: Path) -> None:
    """By the next evaluation; what failed before raises nothing any more, and neither does this, later."""
    expected = {alert} | ({"SwfInstancesFail"} if alert == "SwfLimitReached" else set())
    later = 101 + _WINDOW.get(alert, 15) + 5
    check(tmp_path, {f"{FAILURES[alert]}}}": values}, {99: before, 101: expected, later: set()})


@pytest.mark.parametrize("alert", FAILURES)
def test_the_first_failure_of_another_worker_is_seen(alert: str, tmp_path: Path) -> None:
    expected = {alert} | ({"SwfInstancesFail"} if alert == "SwfLimitReached" else set())
    series = {f'{FAILURES[alert]},instance="a"}}': "5x200", f'{FAILURES[alert]},instance="b"}}': "_x100 1x100"}
    check(tmp_path, series, {99: set(), 101: expected})


@pytest.mark.parametrize("alert", FAILURES)
@pytest.mark.parametrize("values", ["0x200", "5x99 0x100", "5x95 stale _x3 0x100"], ids=[
    "nothing ever fails", "the counter is reset", "the worker starts again",
])  # fmt: skip
def test_nothing_is_seen_without_a_failure(alert: str, values: str, tmp_path: Path) -> None:
    check(tmp_path, {f"{FAILURES[alert]}}}": values}, {99: set(), 101: set(), 110: set()})


@pytest.mark.parametrize("alert", SUSTAINED)
def test_what_lasts_is_seen(alert: str, tmp_path: Path) -> None:
    check(tmp_path, SUSTAINED[alert], {60: {alert}})


def test_every_rule_is_tried() -> None:
    assert FAILURES.keys() | SUSTAINED.keys() == set(RULES)
