"""Worker Deployments: workers that say which version they are, so that the server decides which of them gets a run.

A worker without a deployment takes whatever comes on its task queue. One with a
deployment takes nothing until its version is made the current one, or ramps: `temporal worker deployment` does that.
"""

from collections.abc import Mapping
from dataclasses import replace

from temporalio.api.workflowservice.v1 import DescribeWorkerDeploymentRequest
from temporalio.client import Client
from temporalio.common import VersioningBehavior, WorkerDeploymentVersion
from temporalio.service import RPCError
from temporalio.worker import WorkerDeploymentConfig, WorkflowInstance, WorkflowInstanceDetails, WorkflowRunner

from swf_temporal import __version__
from swf_temporal.settings.deployment import Deployment, Versioning
from swf_temporal.temporal.delayed_events import DELAYED_EVENT
from swf_temporal.temporal.mailbox_records import MAILBOX
from swf_temporal.temporal.place_records import PLACES
from swf_temporal.temporal.variables import TYPE as VARIABLES
from swf_temporal.temporal.wrapping import WrappingRunner

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
