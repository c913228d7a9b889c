"""A workflow takes no step that no workflow task has begun.

Theory of operation. A worker is given a query as a task, with the events that have been added to the history since the
last workflow task, or with the whole history where it has not the instance in memory. The last of them may be newer
than any workflow task: a signal, a timer that has fired, a call that has ended. The SDK gives such an event to the
workflow at once, with the time of the last workflow task and its answer to whether to continue as new, and without what
else comes until the next workflow task begins. What the workflow does then is recorded as done by that task: a replay
has the task's own time and answer and all that came, decides otherwise, and the instance is stuck.

The SDK does not say for which task it gives an event, but the time tells: it is that of the workflow task before,
though the history has grown. Such a step is refused: the query fails, the instance is dropped, and it is read again
when its workflow task begins. Our clients ask again then (`temporal/querying.py`).
"""

from typing import Final

from temporalio.bridge.proto.workflow_activation import WorkflowActivation, WorkflowActivationJob
from temporalio.bridge.proto.workflow_completion import WorkflowActivationCompletion
from temporalio.converter import DataConverter
from temporalio.worker import WorkflowInstance, WorkflowInstanceDetails, WorkflowRunner

from swf_temporal.temporal.converter import is_contextual
from swf_temporal.temporal.querying import ASK_AGAIN
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
