"""How much a worker does at once: what the SDK's worker is told, and that it works so."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from temporalio.worker import PollerBehaviorAutoscaling, PollerBehaviorSimpleMaximum, WorkerTuner

from swf_temporal import Client, Registry, UsageError, Worker, WorkerSettings, load
from swf_temporal.sdk.worker import tuning_of

DEFINITION = load("""\
id: doubling
version: 1.0.0
specVersion: "0.8"
functions: [{name: double, type: custom}]
states:
  - name: Work
    type: operation
    actions:
      - {functionRef: {refName: double, arguments: {n: "${ .n }"}}, actionDataFilter: {toStateData: "${ .n }"}}
      - {functionRef: {refName: double, arguments: {n: "${ .n }"}}, actionDataFilter: {toStateData: "${ .n }"}}
    end: true
""")
FUNCTIONS = Registry()
SETTINGS: dict[str, dict[str, Any]] = {
    "fixed": {"max_cached_workflows": 10, "max_workflow_tasks": 3, "max_activities": 4, "max_local_activities": 5,
              "pollers": 2},
    "by resources": {"target_memory": 0.99, "target_cpu": 1.0, "max_activities": 4},
    "rates": {"pollers": "auto", "max_activity_rate": "6000/m", "max_queue_activity_rate": "500/s"},
}  # fmt: skip


@FUNCTIONS.custom
def double(n: int) -> int:
    return 2 * n


def test_fixed_slots() -> None:
    tuning = tuning_of(WorkerSettings(**SETTINGS["fixed"]))
    assert tuning == {
        "max_cached_workflows": 10, "max_concurrent_workflow_tasks": 3, "max_concurrent_activities": 4,
        "max_concurrent_local_activities": 5, "workflow_task_poller_behavior": PollerBehaviorSimpleMaximum(2),
        "activity_task_poller_behavior": PollerBehaviorSimpleMaximum(2), "max_activities_per_second": None,
        "max_task_queue_activities_per_second": None, "disable_eager_activity_execution": False,
    }  # fmt: skip


@pytest.mark.parametrize(("given", "targets"), [
    ({"target_memory": 0.7, "target_cpu": 0.9}, (0.7, 0.9)), ({"target_memory": 0.7}, (0.7, 1.0)),
    ({"target_cpu": 0.9}, (0.8, 0.9)),
])  # fmt: skip
def test_slots_by_resources(given: dict[str, Any], targets: tuple[float, float]) -> None:
    """With a target, the numbers are the most that there may be; the target that is not given leaves some memory."""
    tuning = tuning_of(WorkerSettings(max_workflow_tasks=3, max_activities=4, max_local_activities=5, **given))
    tuner: Any = tuning["tuner"]
    assert isinstance(tuner, WorkerTuner)
    suppliers: tuple[Any, ...] = (
        tuner._get_workflow_task_slot_supplier(),
        tuner._get_activity_task_slot_supplier(),
        tuner._get_local_activity_task_slot_supplier(),
    )
    assert [one.slot_config.maximum_slots for one in suppliers] == [3, 4, 5]
    assert {(one.tuner_config.target_memory_usage, one.tuner_config.target_cpu_usage) for one in suppliers} == {targets}
    assert not [name for name in tuning if name.startswith("max_concurrent")]


def test_rates_and_pollers() -> None:
    """Rates are those of a second, and pollers as many as are of use."""
    tuning = tuning_of(WorkerSettings(**SETTINGS["rates"]))
    assert (tuning["max_activities_per_second"], tuning["max_task_queue_activities_per_second"]) == (100, 500)
    assert tuning["disable_eager_activity_execution"]
    assert isinstance(tuning["activity_task_poller_behavior"], PollerBehaviorAutoscaling)
    assert tuning["activity_task_poller_behavior"] == tuning["workflow_task_poller_behavior"]


@pytest.mark.parametrize(("name", "value", "told"), [
    ("pollers", "1", "it must be a number, at least 2, or auto"),
    ("pollers", "many", "it must be a number, at least 2, or auto"),
    ("max_workflow_tasks", 1, "it must be at least 2"),
    ("max_local_activities", 0, "it must be at least 1"),
    ("target_memory", 80, "it must be a share above 0 and up to 1, such as 0.8"),
    ("target_cpu", 0, "it must be a share above 0 and up to 1, such as 0.8"),
    ("max_activity_rate", "100", "it must be a number of calls in a time, such as 100/s, 30/m or 5/10s"),
])  # fmt: skip
def test_what_cannot_be_is_told(name: str, value: object, told: str) -> None:
    """Of a program by the argument, of a file or a variable by their names, of a command by its option."""
    given: dict[str, Any] = {name: value}
    with pytest.raises(UsageError) as raised:
        WorkerSettings(**given)
    assert str(raised.value) == f"WorkerSettings({name}=…): {told}"
    with pytest.raises(UsageError) as raised:
        WorkerSettings.read({f"SWF_{name.upper()}": str(value)})
    assert str(raised.value) == f"SWF_{name.upper()} is '{value}'\n  {told}"
    with pytest.raises(UsageError) as raised:
        WorkerSettings.read({}, arguments=given)
    assert str(raised.value) == f"--{name.replace('_', '-')}: {told}"


def test_options_of_the_command_are_settings(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "swf_temporal.cli", "worker", "--pollers", "1", "--target-cpu", "2"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path)
    assert ended.returncode == 2
    assert "--pollers: it must be a number, at least 2, or auto" in ended.stderr
    assert "--target-cpu: it must be a share" in ended.stderr


@pytest.mark.temporal
async def test_instances_run_with_each_kind(client: Client) -> None:
    for number, (kind, given) in enumerate(SETTINGS.items()):
        settings = WorkerSettings(task_queue=f"tuned-{number}", **given)
        worker = Worker(client, definitions=[DEFINITION], functions=FUNCTIONS, settings=settings)
        async with worker:
            assert worker._worker is not None
            config: Any = worker._worker.config(active_config=True)
            assert {name: config[name] for name in tuning_of(settings) if name != "tuner"} == {
                name: value for name, value in tuning_of(settings).items() if name != "tuner"
            }
            assert (config["tuner"] is None) == (kind != "by resources")
            instance = await client.start(DEFINITION, {"n": 1}, task_queue=settings.task_queue)
            assert await instance.result() == {"n": 4}
