"""How long a worker is at work for one workflow at once: what is measured, and what ends it.

Theory of operation. The engine calls a workflow by *activations*: in each it does all that it can do without waiting.
The SDK gives one two seconds, and the server ten for the whole workflow task; what takes longer is broken off and tried
again, for ever, and the run looks as if it hung. Three things stand against that:

- A run asks `seconds` between its steps, and yields when its activation has lasted long (`Run.give_way`).
- One step that takes more than `LIMIT` of processor time, that of helper processes included, fails its run: an
  exception is raised where the step is. It is processor time, since a busy machine should not fail a run.
- An activation that takes too long by the clock alone is broken off and tried again, and fails its run after the third
  time. The SDK's own limit, two seconds by the clock, is set beyond that.
"""

import contextlib
import ctypes
import threading
import time
from collections import OrderedDict
from typing import Any, Final

from temporalio.bridge.proto.workflow_activation import WorkflowActivation
from temporalio.bridge.proto.workflow_completion import WorkflowActivationCompletion
from temporalio.worker import UnsandboxedWorkflowRunner, Worker, WorkflowInstance, WorkflowInstanceDetails
from temporalio.workflow import Info

from swf_temporal.errors import StepTooLong
from swf_temporal.guarding.guard import spent_here

LIMIT: Final = 3.0
"""Seconds of processor time for one step."""
CLOCK_LIMIT: Final = 8.0
"""Seconds by the clock for an activation. The server gives ten to the whole workflow task."""
SDK_LIMIT: Final = 9.5
_ATTEMPTS: Final = 3
_REPLAY: Final = 3
"""How many times as long a replay may take: what was possible once has to be possible again."""
_PAUSE: Final = 0.2
_MAX_REMEMBERED: Final = 1_000


class ActivationTooLong(Exception):  # noqa: N818 - named for what it is about
    """The machine is busy: the workflow task is to be tried again."""


class _Stretch:
    """An activation that is under way."""

    def __init__(self, run_id: str, *, is_replaying: bool, counts: bool) -> None:
        self.run_id = run_id
        self.counts = counts
        """Whether it is a step of the run. After each that is broken off, the engine has the run removed."""
        self.thread = threading.get_ident()
        self.began = time.perf_counter()
        self.is_interrupted = False
        self._factor = _REPLAY if is_replaying else 1
        self._clock = time.pthread_getcpuclockid(self.thread) if hasattr(time, "pthread_getcpuclockid") else None
        self._processor = self._thread_seconds()
        self._helpers = spent_here()
        self._helpers_before = self._helpers.seconds

    def is_too_long(self) -> bool:
        used = self._thread_seconds() - self._processor + self._helpers.seconds - self._helpers_before
        return used > LIMIT * self._factor

    def is_late(self) -> bool:
        return time.perf_counter() - self.began > CLOCK_LIMIT

    def _thread_seconds(self) -> float:
        return 0.0 if self._clock is None else time.clock_gettime(self._clock)


class _Here(threading.local):
    stretch: _Stretch | None = None


_here = _Here()


def seconds() -> float:
    """Return for how many seconds by the clock the activation has lasted that runs in this thread; 0 if none does."""
    return 0.0 if _here.stretch is None else time.perf_counter() - _here.stretch.began


class WatchedWorkflows(UnsandboxedWorkflowRunner):
    """Runs workflows, and breaks off what takes too long."""

    def __init__(self) -> None:
        self._running: dict[int, _Stretch] = {}
        self._late: OrderedDict[str, int] = OrderedDict()
        """How often each of the latest runs was broken off."""
        self._lock = threading.Lock()
        self._watcher: threading.Thread | None = None

    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:
        """Return the workflow, watched."""
        return _Watched(super().create_instance(det), self)

    def begin(self, stretch: _Stretch) -> None:
        """Watch an activation."""
        _here.stretch = stretch
        with self._lock:
            self._running[stretch.thread] = stretch
            if self._watcher is None:
                self._watcher = threading.Thread(target=self._watch, name="swf-activations", daemon=True)
                self._watcher.start()

    def end(self, stretch: _Stretch) -> None:
        """Watch it no more."""
        _here.stretch = None
        with self._lock:
            self._running.pop(stretch.thread, None)
            if stretch.counts and not stretch.is_interrupted:
                self._late.pop(stretch.run_id, None)

    def _watch(self) -> None:
        idle = 0
        while True:
            time.sleep(_PAUSE)
            with self._lock:
                for stretch in self._running.values():
                    if not stretch.is_interrupted:
                        self._look_at(stretch)
                idle = 0 if self._running else idle + 1
                if idle * _PAUSE > SDK_LIMIT:
                    self._watcher = None
                    return

    def _look_at(self, stretch: _Stretch) -> None:
        if stretch.is_too_long():
            _raise_in(stretch, StepTooLong)
        elif stretch.is_late():
            self._late[stretch.run_id] = attempts = self._late.pop(stretch.run_id, 0) + 1
            if len(self._late) > _MAX_REMEMBERED:
                self._late.popitem(last=False)
            _raise_in(stretch, StepTooLong if attempts >= _ATTEMPTS else ActivationTooLong)


class _Watched(WorkflowInstance):
    """A workflow whose activations are watched."""

    def __init__(self, inner: WorkflowInstance, runner: WatchedWorkflows) -> None:
        self._inner = inner
        self._runner = runner

    def activate(self, act: WorkflowActivation) -> WorkflowActivationCompletion:
        """Let the workflow take its next step."""
        counts = not any(job.HasField("remove_from_cache") or job.HasField("query_workflow") for job in act.jobs)
        stretch = _Stretch(act.run_id, is_replaying=act.is_replaying, counts=counts)
        self._runner.begin(stretch)
        try:
            return self._inner.activate(act)
        finally:
            self._runner.end(stretch)

    def get_serialization_context(self, command_info: Any) -> Any:
        """Return what the workflow says."""
        return self._inner.get_serialization_context(command_info)

    def get_external_store_context(self, command_info: Any) -> Any:
        """Return what the workflow says."""
        return self._inner.get_external_store_context(command_info)

    def get_info(self) -> Info:
        """Return what the workflow says."""
        return self._inner.get_info()

    def get_thread_id(self) -> int | None:
        """Return what the workflow says."""
        return self._inner.get_thread_id()


def set_sdk_limit(worker: Worker) -> None:
    """Let *worker* break activations off later than the SDK does by itself.

    The SDK has no option for that but its debugging mode, which runs workflows on the thread of the event loop. Where a
    release of it has no such attribute, its two seconds hold, and busy machines try some tasks more often.
    """
    with contextlib.suppress(AttributeError):
        inner: Any = worker._workflow_worker  # noqa: SLF001 - as said above
        if inner._deadlock_timeout_seconds is not None:  # noqa: SLF001 - as above
            inner._deadlock_timeout_seconds = SDK_LIMIT  # noqa: SLF001 - as above


def _raise_in(stretch: _Stretch, exception: type[BaseException]) -> None:
    stretch.is_interrupted = True
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(stretch.thread), ctypes.py_object(exception))
