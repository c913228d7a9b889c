"""Base classes for wrappers between the SDK and a workflow: a runner and an instance that delegate to another."""

from typing import Any

from temporalio.bridge.proto.workflow_activation import WorkflowActivation
from temporalio.bridge.proto.workflow_completion import WorkflowActivationCompletion
from temporalio.worker import WorkflowInstance, WorkflowInstanceDetails, WorkflowRunner
from temporalio.workflow import Info


class WrappingRunner(WorkflowRunner):
    """Runs workflows by *runner*."""

    def __init__(self, runner: WorkflowRunner) -> None:
        self.runner = runner

    def prepare_workflow(self, defn: Any) -> None:
        """Prepare a workflow class, once for a worker."""
        self.runner.prepare_workflow(defn)

    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:
        return self.runner.create_instance(det)

    def set_worker_level_failure_exception_types(self, types: Any) -> None:
        """Pass on which errors fail a run."""
        self.runner.set_worker_level_failure_exception_types(types)


class WrappingInstance(WorkflowInstance):
    """Delegates to *inner*: one execution of a workflow in the memory of a worker.

    Unless the data converter *is_contextual*, it omits the serialization context, which the SDK requests per payload.
    """

    def __init__(self, inner: WorkflowInstance, *, is_contextual: bool = True) -> None:
        self.inner = inner
        self._is_contextual = is_contextual

    def activate(self, act: WorkflowActivation) -> WorkflowActivationCompletion:
        """Let the workflow take its next step."""
        return self.inner.activate(act)

    def get_serialization_context(self, command_info: Any) -> Any:
        return self.inner.get_serialization_context(command_info) if self._is_contextual else None

    def get_external_store_context(self, command_info: Any) -> Any:
        return self.inner.get_external_store_context(command_info)

    def get_info(self) -> Info:
        return self.inner.get_info()

    def get_thread_id(self) -> int | None:
        return self.inner.get_thread_id()
