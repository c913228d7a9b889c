"""The worker: the process that interprets definitions and calls their functions.

Deployments. A worker without a deployment takes whatever comes on its task queue. One with a deployment takes nothing
until its version is made the current one, or ramps: `temporal worker deployment` does that.

Queries between workflow tasks. A worker is given a query as a task, with the events that have been added to the history
since the last workflow task, or with the whole history where it has not the instance in memory. The last of them may be
newer than any workflow task: a signal, a timer that has fired, a call that has ended. The SDK gives such an event to
the workflow at once, with the time of the last workflow task and its answer to whether to continue as new, and without
what else comes until the next workflow task begins. What the workflow does then is recorded as done by that task: a
replay has the task's own time and answer and all that came, decides otherwise, and the instance is stuck.

The SDK does not say for which task it gives an event, but the time tells: it is that of the workflow task before,
though the history has grown. Such a step is refused: the query fails, the instance is dropped, and it is read again
when its workflow task begins. Our clients ask again then (`temporal/statuses.py`).
"""

import contextlib
import gc
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from temporalio.api.workflowservice.v1 import DescribeWorkerDeploymentRequest
from temporalio.bridge.proto.workflow_activation import WorkflowActivation, WorkflowActivationJob
from temporalio.bridge.proto.workflow_completion import WorkflowActivationCompletion
from temporalio.client import Client
from temporalio.common import VersioningBehavior, WorkerDeploymentVersion
from temporalio.converter import DataConverter
from temporalio.service import RPCError
from temporalio.worker import (
    UnsandboxedWorkflowRunner,
    Worker,
    WorkerConfig,
    WorkerDeploymentConfig,
    WorkflowInstance,
    WorkflowInstanceDetails,
    WorkflowRunner,
)

from swf_temporal import __version__
from swf_temporal.expressions.guarding import guard
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.runtime.budgets import InstanceLimits
from swf_temporal.settings.worker import Deployment, Versioning, WorkerSettings
from swf_temporal.temporal.activities import Activities, Performer, Publisher
from swf_temporal.temporal.converter import is_contextual, limit_of
from swf_temporal.temporal.endings import Endings
from swf_temporal.temporal.instance_part import OperatorOptions, OperatorOptionsInterceptor
from swf_temporal.temporal.instance_signals import InstanceFinder
from swf_temporal.temporal.local_calls import LocalCallsInterceptor
from swf_temporal.temporal.mailbox_records import MAILBOX
from swf_temporal.temporal.metrics import count_instances
from swf_temporal.temporal.place_records import PLACES
from swf_temporal.temporal.places import PlaceActivities
from swf_temporal.temporal.publishing import DELAYED_EVENT
from swf_temporal.temporal.search_attributes import RegisteredAttributes
from swf_temporal.temporal.statuses import ASK_AGAIN
from swf_temporal.temporal.variables import TYPE as VARIABLES
from swf_temporal.temporal.variables import TemporalVariables, VariableStorage
from swf_temporal.temporal.workflows import ALL_WORKFLOWS
from swf_temporal.temporal.wrapping import WrappingInstance, WrappingRunner

_EVENTS: Final = frozenset(
    {
        "signal_workflow",
        "fire_timer",
        "resolve_activity",
        "resolve_child_workflow_execution_start",
        "resolve_child_workflow_execution",
        "resolve_signal_external_workflow",
        "resolve_request_cancel_external_workflow",
        "resolve_nexus_operation_start",
        "resolve_nexus_operation",
        "cancel_workflow",
    }
)
"""What is told of an event in the history. An update is not: the server hands it to a workflow task alone."""


class BegunTasksRunner(WrappingRunner):
    """Runs workflows as another runner does, without the steps that no workflow task has begun."""

    def __init__(self, runner: WorkflowRunner, converter: DataConverter) -> None:
        super().__init__(runner)
        self._is_contextual = is_contextual(converter)

    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:
        return _Instance(super().create_instance(det), is_contextual=self._is_contextual)


class _Instance(WrappingInstance):
    _time = -1
    """The time of the last workflow task of which it has taken a step, in nanoseconds."""
    _length = 0
    """The number of events in its history then."""

    def activate(self, act: WorkflowActivation) -> WorkflowActivationCompletion:
        """Let the workflow take its next step, if a workflow task has begun it."""
        if not _is_query(act):
            time, length = act.timestamp.ToNanoseconds(), act.history_length
            has_grown = time == self._time and length > self._length
            if has_grown and not act.is_replaying and any(map(_is_event, act.jobs)):
                refused = WorkflowActivationCompletion()
                refused.failed.failure.message = ASK_AGAIN
                return refused
            self._time, self._length = time, length
        return super().activate(act)


def _is_query(act: WorkflowActivation) -> bool:
    return any(job.HasField("query_workflow") for job in act.jobs)


def _is_event(job: WorkflowActivationJob) -> bool:
    return job.WhichOneof("variant") in _EVENTS and not job.resolve_activity.is_local


_UNVERSIONED = "swf-temporal"
"""The name under which workers without a deployment show their release."""
_BEHAVIOURS = {Versioning.PINNED: VersioningBehavior.PINNED, Versioning.AUTO_UPGRADE: VersioningBehavior.AUTO_UPGRADE}
_ALWAYS = dict.fromkeys((VARIABLES, DELAYED_EVENT, MAILBOX, PLACES), VersioningBehavior.AUTO_UPGRADE)
"""Workflows of ours that may outlive every version."""


def deployment_config(deployment: Deployment | None) -> WorkerDeploymentConfig:
    """Return what the engine is told of the version of a worker; without a *deployment* it is only shown."""
    if deployment is None:
        return WorkerDeploymentConfig(
            version=WorkerDeploymentVersion(deployment_name=_UNVERSIONED, build_id=__version__),
            use_worker_versioning=False,
        )
    return WorkerDeploymentConfig(
        version=WorkerDeploymentVersion(deployment_name=deployment.name, build_id=deployment.build_id),
        use_worker_versioning=True,
        default_versioning_behavior=_BEHAVIOURS[deployment.versioning],
    )


class VersioningRunner(WrappingRunner):
    """Runs workflows as another runner does; those of some types have a versioning behaviour of their own.

    The SDK would ask the workflow's class, which is one for all definitions, and for all workers of a process: those
    without a deployment must not say anything of the kind.
    """

    def __init__(self, runner: WorkflowRunner, versioning_of: Mapping[str, Versioning]) -> None:
        super().__init__(runner)
        self._behaviours = {one: _BEHAVIOURS[versioning] for one, versioning in versioning_of.items()} | _ALWAYS

    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:
        behaviour = self._behaviours.get(det.info.workflow_type)
        if behaviour is not None:
            det = replace(det, defn=replace(det.defn, versioning_behavior=behaviour))
        return super().create_instance(det)


def versioned(runner: WorkflowRunner, deployment: Deployment | None) -> WorkflowRunner:
    """Return what runs workflows on a worker of *deployment*: *runner*, or one that knows its exceptions."""
    return runner if deployment is None else VersioningRunner(runner, deployment.versioning_of)


async def what_is_left(client: Client, deployment: Deployment) -> str | None:
    """Return what is to be done before the server gives work to *deployment*; None if there is nothing."""
    command = (
        "temporal worker deployment set-current-version"
        f" --deployment-name {deployment.name} --build-id {deployment.build_id}"
    )
    request = DescribeWorkerDeploymentRequest(namespace=client.namespace, deployment_name=deployment.name)
    try:
        described = await client.workflow_service.describe_worker_deployment(request)
    except RPCError:  # the server learns of a deployment by its first worker, perhaps only now
        return f"it gets work once it is the current version: {command}"
    routing = described.worker_deployment_info.routing_config
    current, ramping = routing.current_deployment_version.build_id, routing.ramping_deployment_version.build_id
    if current == deployment.build_id:
        return None
    if ramping == deployment.build_id:
        share = f"{routing.ramping_version_percentage:g} %"
        return f"it gets {share} of the new instances; to give it all of them: {command}"
    if not current:
        return f"no version is the current one: workers without a deployment get the work until {command}"
    return f"the current version is {current}; to let this one take over: {command}"


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
