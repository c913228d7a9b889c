"""The worker: the process that interprets definitions and calls their functions.

Deployments. A worker without a deployment takes any task of its task queue. One with a deployment takes none until its
version is made current, or ramps: `temporal worker deployment` does that.

Queries between workflow tasks. A worker gets a query as a task, with the events added to the history since the last
workflow task, or with the whole history if it does not have the instance in memory. The last of these events may be
newer than any workflow task: a signal, a fired timer, the end of a call. The SDK passes such an event to the workflow
at once, with the time and the continue-as-new suggestion of the last workflow task, and without the events that arrive
before the next one begins. What the workflow does then is recorded as done by that next task: a replay uses that task's
own time and suggestion and all events, decides differently, and the instance is stuck.

The SDK does not say to which task an event belongs, but the time reveals it: it has not changed since the previous
workflow task, though the history has grown. Such a step is refused: the query fails, the instance is evicted, and it
is loaded again when its workflow task begins. Our clients then repeat the query (`temporal/statuses.py`).
"""

import contextlib
import gc
from collections.abc import Callable, Mapping
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
"""The jobs that report a history event. An update does not: the server passes it only with a workflow task."""


class BegunTasksRunner(WrappingRunner):
    """Runs workflows like another runner, except for steps that no workflow task has begun."""

    def __init__(self, runner: WorkflowRunner, converter: DataConverter) -> None:
        super().__init__(runner)
        self._is_contextual = is_contextual(converter)

    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:
        return _Instance(super().create_instance(det), is_contextual=self._is_contextual)


class _Instance(WrappingInstance):
    _time = -1
    """The time of the last workflow task in which it has taken a step, in nanoseconds."""
    _length = 0
    """The number of events in its history at that time."""

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
"""The deployment name under which workers without one show their release."""
_BEHAVIOURS = {Versioning.PINNED: VersioningBehavior.PINNED, Versioning.AUTO_UPGRADE: VersioningBehavior.AUTO_UPGRADE}
_ALWAYS = dict.fromkeys((VARIABLES, DELAYED_EVENT, MAILBOX, PLACES), VersioningBehavior.AUTO_UPGRADE)
"""Our workflows that may outlive any version."""


def deployment_config(deployment: Deployment | None) -> WorkerDeploymentConfig:
    """Return the SDK's configuration of a worker's version; without a *deployment* the version is only shown."""
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
    """Runs workflows like another runner, with a different versioning behaviour for some types.

    The SDK would take it from the workflow's class, which is shared by all definitions, and by all workers of a
    process: those without a deployment must not set it.
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
    """Return the runner for a worker of *deployment*: *runner*, or one that applies its versioning exceptions."""
    return runner if deployment is None else VersioningRunner(runner, deployment.versioning_of)


async def what_is_left(client: Client, deployment: Deployment) -> str | None:
    """Return what remains to be done until the server gives all work to *deployment*; None if nothing."""
    command = (
        "temporal worker deployment set-current-version"
        f" --deployment-name {deployment.name} --build-id {deployment.build_id}"
    )
    request = DescribeWorkerDeploymentRequest(namespace=client.namespace, deployment_name=deployment.name)
    try:
        described = await client.workflow_service.describe_worker_deployment(request)
    except RPCError:  # the server learns of a deployment from its first worker, perhaps only now
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
"""The wall-clock time limit of an activation, in seconds. The server gives ten to the whole workflow task."""
_THRESHOLDS = 50_000, 4, 20
"""The garbage collector's thresholds: new objects before a collection, and the frequency for older generations."""


def tune_gc() -> None:
    """Tune the garbage collector of a process that is only a worker or a gateway, once everything is loaded.

    Existing objects stay until the process ends, so the collector need not scan them repeatedly; and workflows and
    requests make many small, short-lived objects, so it need not run so often.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)


@dataclass(frozen=True, slots=True)
class Terms:
    """The settings by which a worker runs definitions, beside its other work."""

    deployment: Deployment | None = None
    """The version of the worker, if workers have versions."""
    operator_options: OperatorOptions = field(default_factory=OperatorOptions)
    """The settings of the worker that workflow code can access."""
    chooses_local_calls: bool = False
    """Whether its performer makes calls locally without the definition asking for it."""


def with_definitions(config: WorkerConfig, activities: Activities, terms: Terms) -> WorkerConfig:
    """Return *config* of a worker extended to run definitions, with their *activities*."""
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
    environment: Callable[[str], Mapping[str, str]] = lambda _: {},
    **options: Any,
) -> Worker:
    """Return a worker for the definitions in *catalogue*, ready to be run; *options* are the SDK's."""
    limit = limit_of(client.data_converter.payload_converter)
    activities = Activities(catalogue, limit, limits or _USUAL.limits, environment)
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
    """Let *worker* interrupt a workflow's activation later than the SDK does by default; it is then retried.

    The SDK has no option for that but its debugging mode. If a release of it lacks the attribute, its two seconds
    apply, and busy machines retry more often.
    """
    with contextlib.suppress(AttributeError):
        inner: Any = worker._workflow_worker  # noqa: SLF001 - as said above
        if inner._deadlock_timeout_seconds is not None:  # noqa: SLF001 - as above
            inner._deadlock_timeout_seconds = _DEADLOCK_TIMEOUT  # noqa: SLF001 - as above
