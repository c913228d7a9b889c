"""The worker: the process that interprets definitions and calls their functions."""

import contextlib
import gc
from dataclasses import dataclass, field
from typing import Any, Final

from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker, WorkerConfig, WorkflowRunner

from swf_temporal.expressions.guarding import guard
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.runtime.budgets import InstanceLimits
from swf_temporal.settings.deployment import Deployment
from swf_temporal.settings.worker import WorkerSettings
from swf_temporal.temporal.activities import Activities, Performer, Publisher
from swf_temporal.temporal.begun_tasks import BegunTasksRunner
from swf_temporal.temporal.converter import limit_of
from swf_temporal.temporal.endings import Endings
from swf_temporal.temporal.instance_signals import InstanceFinder
from swf_temporal.temporal.local_calls import LocalCallsInterceptor
from swf_temporal.temporal.metrics import count_instances
from swf_temporal.temporal.operator_options import OperatorOptions, OperatorOptionsInterceptor
from swf_temporal.temporal.places import PlaceActivities
from swf_temporal.temporal.search_attributes import RegisteredAttributes
from swf_temporal.temporal.variables import TemporalVariables, VariableStorage
from swf_temporal.temporal.versioning import deployment_config, versioned
from swf_temporal.temporal.workflows import ALL_WORKFLOWS

_USUAL: Final = WorkerSettings()
_DEADLOCK_TIMEOUT: Final = 9.5
"""Seconds by the clock for an activation. The server gives ten to the whole workflow task."""
_THRESHOLDS = 50_000, 4, 20
"""The thresholds of the garbage collector: new objects before a collection, and how often older generations follow."""


def tune_gc() -> None:
    """Prepare a process that is a worker or a gateway and nothing else, once everything is loaded.

    What is there now stays until the process ends, so the garbage collector need not look at it again and again; and
    workflows and requests make many small objects that live for a moment, so it need not look so often.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)


@dataclass(frozen=True, slots=True)
class Terms:
    """How definitions are run by a worker, whatever else it does."""

    deployment: Deployment | None = None
    """The version as which it serves, if workers have versions."""
    operator_options: OperatorOptions = field(default_factory=OperatorOptions)
    """What workflow code is told of the worker's settings."""
    chooses_local_calls: bool = False
    """Whether its performer makes calls locally for which the definition does not ask."""


def with_definitions(config: WorkerConfig, activities: Activities, terms: Terms) -> WorkerConfig:
    """Return *config* of a worker that, beside what it has, runs definitions, and has their *activities*."""
    guard.start()
    client = config["client"]
    count_instances(client)
    places = PlaceActivities(client)
    added: WorkerConfig = {
        "workflows": [*ALL_WORKFLOWS, *config.get("workflows", ())],
        "activities": [
            *activities.all,
            Endings(client).ending,
            InstanceFinder(client).find,
            places.tell,
            places.look,
            RegisteredAttributes(client).look,
            *config.get("activities", ()),
        ],
        "interceptors": [
            OperatorOptionsInterceptor(terms.operator_options),
            *([LocalCallsInterceptor()] if terms.chooses_local_calls else ()),
            *config.get("interceptors", ()),
        ],
        "unsandboxed_workflow_runner": BegunTasksRunner(
            versioned(config.get("unsandboxed_workflow_runner") or UnsandboxedWorkflowRunner(), terms.deployment),
            client.data_converter,
        ),
    }
    if config.get("deployment_config") is None and config.get("build_id") is None:
        added["deployment_config"] = deployment_config(terms.deployment)
    return {**config, **added}


def make_worker(  # noqa: PLR0913 - what may be said of a worker, half of it optional
    client: Client,
    catalogue: Catalogue,
    performer: Performer,
    publisher: Publisher,
    *,
    task_queue: str = _USUAL.task_queue,
    limits: InstanceLimits | None = None,
    runner: WorkflowRunner | None = None,
    variables: VariableStorage | None = None,
    deployment: Deployment | None = None,
    operator_options: OperatorOptions | None = None,
    chooses_local_calls: bool = False,
    **options: Any,
) -> Worker:
    """Return a worker for the definitions in *catalogue*, ready to be run; *options* are the SDK's."""
    activities = Activities(catalogue, limit_of(client.data_converter.payload_converter), limits or _USUAL.limits)
    activities.work_with(performer, publisher, variables or TemporalVariables(client, task_queue))
    config = WorkerConfig(
        client=client,
        task_queue=task_queue,
        workflow_runner=runner or UnsandboxedWorkflowRunner(),
        max_cached_workflows=_USUAL.max_cached_workflows,
        max_concurrent_activities=_USUAL.max_activities,
    )
    config.update(options)  # type: ignore[typeddict-item]  # they are of the same names
    terms = Terms(deployment, operator_options or OperatorOptions(), chooses_local_calls)
    worker = Worker(**with_definitions(config, activities, terms))
    allow_long_tasks(worker)
    return worker


def allow_long_tasks(worker: Worker) -> None:
    """Let *worker* interrupt an activation of a workflow later than the SDK does by itself, which tries it again then.

    The SDK has no option for that but its debugging mode. Where a release of it has no such attribute, its two seconds
    hold, and busy machines try more often.
    """
    with contextlib.suppress(AttributeError):
        inner: Any = worker._workflow_worker  # noqa: SLF001 - as said above
        if inner._deadlock_timeout_seconds is not None:  # noqa: SLF001 - as above
            inner._deadlock_timeout_seconds = _DEADLOCK_TIMEOUT  # noqa: SLF001 - as above
