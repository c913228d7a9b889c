"""Virtual time for workflows on a real server.

Theory of operation. An instance of `_Instance` sits between the SDK and the interpreter. Jobs from the server and
commands to it pass through, and it replaces time, and nothing else:

- The interpreter gets virtual time.
- A timer is set on the server, but so late that it never fires. When it is due in virtual time, the interpreter gets
  the job that it fired, and the server the command to cancel it. Timeouts of activities and sub-workflows work alike.
- A signal sets the time, which is recorded in the history: so a replay has the same result.

Workflow tasks, activities and their attempts, sub-workflows, signals, cancellations and continue-as-new are the
SDK's own. A listener gets all jobs and commands, so that it is known what is in progress.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from temporalio.api.common.v1 import Payload
from temporalio.api.enums.v1 import RetryState, TimeoutType
from temporalio.api.failure.v1 import Failure
from temporalio.bridge.proto.child_workflow import ParentClosePolicy
from temporalio.bridge.proto.workflow_activation import WorkflowActivation, WorkflowActivationJob
from temporalio.bridge.proto.workflow_commands import WorkflowCommand
from temporalio.bridge.proto.workflow_completion import WorkflowActivationCompletion
from temporalio.client import Interceptor, OutboundInterceptor, StartWorkflowInput, WorkflowHandle
from temporalio.worker import UnsandboxedWorkflowRunner, WorkflowInstance, WorkflowInstanceDetails
from temporalio.workflow import Info

from swf_temporal.base.strict_json import read_written, write_json
from swf_temporal.simulation.clock import EPOCH, MICROSECOND
from swf_temporal.temporal.wrapping import WrappingInstance, WrappingRunner

CLOCK = "time passes"
"""The name of the signal that sets the time."""
NEVER = timedelta(days=10 * 365)
"""The interval after which the server would do by itself what is done here in virtual time."""
TOO_LATE = 2 * NEVER

CLOSING = (
    "complete_workflow_execution",
    "fail_workflow_execution",
    "cancel_workflow_execution",
    "continue_as_new_workflow_execution",
)

_BEGIN, _NOW, _PLACE = "virtual-begin", "virtual-now", "virtual-place"
_MILLISECOND = 1000
_EPOCH = int(EPOCH.timestamp()) * 1_000_000


class BeginningAt(Interceptor):
    """Starts workflows whose virtual time begins at another time than the default, recorded in their history."""

    def __init__(self, moment: datetime) -> None:
        self._begin = (moment - EPOCH) // MICROSECOND

    def intercept_client(self, next: OutboundInterceptor) -> OutboundInterceptor:  # noqa: A002 - the base class's word
        """Return an interceptor that adds the time to each start."""
        return _Starting(next, self._begin)


class _Starting(OutboundInterceptor):
    def __init__(self, following: OutboundInterceptor, begin: int) -> None:
        super().__init__(following)
        self._begin = begin

    async def start_workflow(self, input: StartWorkflowInput) -> WorkflowHandle[Any, Any]:  # noqa: A002 - as above
        input.headers = {**input.headers, _BEGIN: _payload(self._begin)}
        return await super().start_workflow(input)


@dataclass(frozen=True, slots=True)
class Issued:
    """A command of a workflow, with the time after which it is due."""

    command: WorkflowCommand
    after: int | None = None
    """Microseconds."""
    place: tuple[int, ...] = ()
    """The place of the sub-workflow, if it begins one."""


@dataclass(frozen=True, slots=True)
class ActivationReport:
    """The new jobs of one activation of a workflow, and the commands that it answered with."""

    workflow_id: str
    run_id: str
    jobs: Sequence[WorkflowActivationJob]
    issued: Sequence[Issued]
    is_closing: bool
    """Whether it has asked to be closed. The server may refuse if something arrived in between; then it repeats."""
    trace: Sequence[dict[str, Any]] | None = None
    """The trace of the execution, if it is a main one that asks to be closed."""


Listener = Callable[[ActivationReport], None]
"""Is called in the thread of a workflow, before the server gets the commands."""


class VirtualTime(WrappingRunner):
    def __init__(self, listener: Listener | None = None) -> None:
        """Make a runner that passes all jobs and commands to *listener*; a replay has none."""
        super().__init__(UnsandboxedWorkflowRunner())
        self._listener = listener

    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:
        return _Instance(super().create_instance(det), det.info, self._listener)


class _Instance(WrappingInstance):
    """One execution of a workflow. Its state only depends on its jobs, so a replay has the same."""

    def __init__(self, inner: WorkflowInstance, info: Info, listener: Listener | None) -> None:
        super().__init__(inner)
        self._info = info
        self._listener = listener
        self._begin = int(_decoded(info.headers.get(_BEGIN), 0))
        """Microseconds from the default start of virtual time to the start of this run."""
        self._now = int(_decoded(info.headers.get(_NOW), 0))
        self._place: tuple[int, ...] = tuple(_decoded(info.headers.get(_PLACE), ()))
        self._children = 0
        self._activities: dict[int, tuple[str, str]] = {}
        """The open activities: id and type of each."""
        self._timed_out: set[int] = set()
        """The activities that timed out, and whose cancellation the SDK has still to confirm."""
        self._is_closing = False
        self._kept: dict[int, list[WorkflowActivationJob]] = {}
        """News of sub-workflows, held until the signal delivers them: otherwise their order would be random."""
        self._delivered: list[list[WorkflowActivationJob]] = []
        """News of sub-workflows to deliver: first those that have begun, then one result after the other. Paths that
        wait for one reach their next wait before the next is delivered: otherwise their order would depend on how long
        the news takes through the interpreter."""
        self._fire_and_forget: set[int] = set()
        """The sub-workflows whose result is not awaited, though perhaps their start."""
        self._late: set[int] = set()
        """The sub-workflows that timed out, and are terminated for it."""

    def activate(self, act: WorkflowActivation) -> WorkflowActivationCompletion:
        """Let the workflow take its next step."""
        came = list(act.jobs)
        if any(job.HasField("query_workflow") or job.HasField("remove_from_cache") for job in came):
            act.timestamp.CopyFrom(self._timestamp())
            return self.inner.activate(act)
        own: list[WorkflowCommand] = []
        translated = [job for one in came for job in self._translated(one, own)]
        delivered, self._delivered = self._delivered, []
        act.timestamp.CopyFrom(self._timestamp())
        completion = WorkflowActivationCompletion()
        completion.successful.SetInParent()
        for jobs in ([translated] if translated else []) + delivered:
            del act.jobs[:]
            act.jobs.extend(jobs)
            step = self.inner.activate(act)
            if step.HasField("failed"):
                return step
            completion.MergeFrom(step)
            if any(command.WhichOneof("variant") in CLOSING for command in step.successful.commands):
                break
        for command in completion.successful.commands:
            if command.HasField("schedule_local_activity"):
                _put_off(command.schedule_local_activity.schedule_to_close_timeout)
        issued = [self._issued(command) for command in completion.successful.commands]
        for number, command in enumerate(own):
            completion.successful.commands.insert(number, command)
        if self._listener is not None and not act.is_replaying:
            trace = self._asked(act, "trace") if self._is_closing and not self._place else None
            self._listener(ActivationReport(self._info.workflow_id, act.run_id, came, issued, self._is_closing, trace))
        return completion

    def _asked(self, act: WorkflowActivation, query: str) -> Any:
        """Return the workflow's answer to a query. Asked later, the server would have the whole run replayed."""
        asking = WorkflowActivation(run_id=act.run_id, timestamp=act.timestamp, is_replaying=act.is_replaying)
        asking.history_length = act.history_length
        job = asking.jobs.add()
        job.query_workflow.query_id = job.query_workflow.query_type = query
        [answer] = self.inner.activate(asking).successful.commands
        return read_written(answer.respond_to_query.succeeded.response.data)

    def _timestamp(self) -> Timestamp:
        stamp = Timestamp()
        stamp.FromMicroseconds(_EPOCH + self._begin + self._now)
        return stamp

    # From the server

    def _translated(self, job: WorkflowActivationJob, own: list[WorkflowCommand]) -> Iterable[WorkflowActivationJob]:
        """Return the workflow's jobs in place of *job*; add to *own* the commands to the server that it requires."""
        if job.HasField("signal_workflow") and job.signal_workflow.signal_name == CLOCK:
            return self._time_passes(read_written(job.signal_workflow.input[0].data), own)
        if job.HasField("resolve_activity"):
            seq = job.resolve_activity.seq
            self._activities.pop(seq, None)
            if seq in self._timed_out:
                self._timed_out.remove(seq)
                return ()
        if job.HasField("resolve_child_workflow_execution_start"):
            start = job.resolve_child_workflow_execution_start
            # The SDK reports at once that a sub-workflow was cancelled before it was scheduled, without the server.
            if start.seq in self._fire_and_forget and not start.HasField("cancelled"):
                self._kept.setdefault(start.seq, []).append(job)
                return ()
        if job.HasField("resolve_child_workflow_execution"):
            seq = job.resolve_child_workflow_execution.seq
            self._kept.setdefault(seq, []).append(_late_child(job) if seq in self._late else job)
            return ()
        return (job,)

    def _time_passes(self, message: dict[str, Any], own: list[WorkflowCommand]) -> Iterable[WorkflowActivationJob]:
        self._now = message["now"]
        jobs = []
        for seq in message.get("timers", ()):
            job, command = WorkflowActivationJob(), WorkflowCommand()
            job.fire_timer.seq = command.cancel_timer.seq = seq
            jobs.append(job)
            own.append(command)
        for seq in message.get("activities", ()):
            if seq in self._activities:
                command = WorkflowCommand()
                command.request_cancel_activity.seq = seq
                jobs.append(_late_activity(seq, *self._activities[seq]))
                own.append(command)
                self._timed_out.add(seq)
        self._late.update(message.get("children", ()))
        delivered = [job for seq in message.get("deliver", ()) for job in self._kept.pop(seq, ())]
        begun = [job for job in delivered if job.HasField("resolve_child_workflow_execution_start")]
        results = [[job] for job in delivered if job.HasField("resolve_child_workflow_execution")]
        self._delivered += [begun, *results] if begun else results
        return jobs

    # To the server

    def _issued(self, command: WorkflowCommand) -> Issued:
        """Return what *command* asks for, with times for the server replaced by ones that never end."""
        after: int | None = None
        place: tuple[int, ...] = ()
        if command.HasField("start_timer"):
            after = _put_off(command.start_timer.start_to_fire_timeout)
        elif command.HasField("schedule_activity"):
            activity = command.schedule_activity
            self._activities[activity.seq] = activity.activity_id, activity.activity_type
            if activity.HasField("schedule_to_close_timeout"):
                after = _put_off(activity.schedule_to_close_timeout)
            if activity.HasField("heartbeat_timeout"):
                _put_off(activity.start_to_close_timeout)
        elif command.HasField("start_child_workflow_execution"):
            child = command.start_child_workflow_execution
            if child.HasField("workflow_execution_timeout"):
                after = _put_off(child.workflow_execution_timeout)
                child.ClearField("workflow_execution_timeout")
            if child.parent_close_policy != ParentClosePolicy.PARENT_CLOSE_POLICY_REQUEST_CANCEL:
                self._fire_and_forget.add(child.seq)
            self._children += 1
            place = (*self._place, self._children)
            self._hand_on(child.headers, place)
        elif command.WhichOneof("variant") in CLOSING:
            self._is_closing = True
            if command.HasField("continue_as_new_workflow_execution"):
                self._hand_on(command.continue_as_new_workflow_execution.headers, self._place)
        return Issued(command, after, place)

    def _hand_on(self, headers: Any, place: tuple[int, ...]) -> None:
        if self._begin:
            headers[_BEGIN].CopyFrom(_payload(self._begin))
        headers[_NOW].CopyFrom(_payload(self._now))
        headers[_PLACE].CopyFrom(_payload(list(place)))


def _put_off(duration: Duration) -> int:
    """Make *duration* practically infinite; return its microseconds. The shortest one stands for zero."""
    length: int = duration.ToMicroseconds()
    duration.FromTimedelta(NEVER)
    return 0 if length <= _MILLISECOND else length


def _late_activity(seq: int, activity_id: str, activity_type: str) -> WorkflowActivationJob:
    """Return the server's job for an activity that timed out."""
    job = WorkflowActivationJob()
    job.resolve_activity.seq = seq
    failure = job.resolve_activity.result.failed.failure
    failure.message = "activity ScheduleToClose timeout"
    failure.activity_failure_info.activity_id = activity_id
    failure.activity_failure_info.activity_type.name = activity_type
    failure.activity_failure_info.retry_state = RetryState.RETRY_STATE_TIMEOUT
    failure.cause.message = "activity ScheduleToClose timeout"
    failure.cause.timeout_failure_info.timeout_type = TimeoutType.TIMEOUT_TYPE_SCHEDULE_TO_CLOSE
    return job


def _late_child(job: WorkflowActivationJob) -> WorkflowActivationJob:
    """Return the server's job for a sub-workflow that timed out, where *job* says that it was terminated."""
    result = job.resolve_child_workflow_execution.result
    if not result.HasField("failed") or not result.failed.failure.cause.HasField("terminated_failure_info"):
        return job
    late = WorkflowActivationJob()
    late.CopyFrom(job)
    cause = Failure(message="child workflow timed out")
    cause.timeout_failure_info.timeout_type = TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE
    late.resolve_child_workflow_execution.result.failed.failure.cause.CopyFrom(cause)
    return late


def _decoded(payload: Payload | None, usual: Any) -> Any:
    return usual if payload is None else read_written(payload.data)


def _payload(value: Any) -> Payload:
    return Payload(metadata={"encoding": b"json/plain"}, data=write_json(value).encode())
