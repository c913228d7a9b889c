"""Measures and limits how long a worker spends on one activation of a workflow.

Theory of operation. The engine calls a workflow by *activations*: in each it does all that it can do without waiting.
The SDK gives one two seconds, and the server ten for the whole workflow task; what takes longer is broken off and tried
again, for ever, and the run looks as if it hung. Four rules prevent that:

- A run asks `seconds` between its steps, and yields when its activation has lasted long (`Pacing.yield_if_long`).
- One step that takes more than `LIMIT` of processor time, that of helper processes included, fails its run: an
  exception is raised where the step is. It is processor time, since a busy machine should not fail a run.
- Loading a definition is a step that is tried again several times instead: each attempt keeps what it has compiled.
- An activation that takes too long by the clock alone is broken off and tried again, and fails its run after the third
  time. The SDK's own limit, two seconds by the clock, is set beyond that.
"""

import ctypes
import threading  # noqa: TID251 - it watches activations, from outside of them
import time  # noqa: TID251 - likewise
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any, Final

from temporalio.bridge.proto.workflow_activation import WorkflowActivation
from temporalio.bridge.proto.workflow_completion import WorkflowActivationCompletion
from temporalio.worker import UnsandboxedWorkflowRunner, WorkflowInstance, WorkflowInstanceDetails
from temporalio.workflow import Info

from swf_temporal.errors import PayloadTooLarge, StepTooLong
from swf_temporal.guarding.spending import spent_here
from swf_temporal.temporal.held_memory import HeldMemory, held_too_much
from swf_temporal.temporal.replay_markers import Markers
from swf_temporal.temporal.signal_batches import WORTH_MERGING, TakesBatches, merge_signals

LIMIT: Final = 3.0
"""Seconds of processor time for one step."""
CLOCK_LIMIT: Final = 8.0
"""Seconds by the clock for an activation. The server gives ten to the whole workflow task."""
SDK_LIMIT: Final = 9.5
_ATTEMPTS: Final = 3
_ATTEMPTS_TO_LOAD: Final = 8
"""Of loading a definition, where an attempt has compiled so many expressions that a further one may finish."""
_MANY_EXPRESSIONS: Final = 100
"""How many expressions an attempt compiles at least for another to be made."""
_REPLAY: Final = 3
"""How many times as long a replay may take: what was possible once has to be possible again."""
_LONG_TEXT: Final = 1 << 16
"""Characters of a definition from which on it counts as memory that a run holds."""
_OF_TEXT: Final = 60
"""Bytes of memory that a character of a definition takes at most."""
_PAUSE: Final = 0.2
_MAX_REMEMBERED: Final = 1_000


class ActivationTooLong(Exception):  # noqa: N818 - named for what it is about
    """The machine is busy: the workflow task is to be tried again."""


class _Stretch:
    """An activation that is under way."""

    __slots__ = (
        "_act", "_answers_before", "_helpers", "_helpers_before", "_made_before", "_processor", "began", "has_batches",
        "is_interrupted", "is_loading", "is_replaying", "markers", "memory", "run_id", "thread",
    )  # fmt: skip

    def __init__(self, act: WorkflowActivation, run_id: str, memory: HeldMemory, markers: Markers) -> None:
        self.run_id = run_id
        self.memory = memory
        self.markers = markers
        self._act = act
        self.thread = threading.get_ident()
        self.began = time.perf_counter()
        self.is_interrupted = False
        self.is_replaying = act.is_replaying
        self._processor: float | None = None
        """What the thread had used when this was first looked at: nearly all have ended by then."""
        self._helpers = spent_here()
        self._helpers_before = self._helpers.seconds
        self._made_before = self._helpers.made
        self._answers_before = self._helpers.answers
        self.has_batches = False
        """Whether each value of a signal is a signal of its own: see `signal_batches.py`."""
        self.is_loading = False
        """Whether a definition is being loaded."""

    @property
    def attempts(self) -> int:
        """How often it may be made where it takes more processor time than a step may.

        The expressions of a definition are compiled once: where they are many, a further attempt comes further.
        """
        has_come_far = self.is_loading and self._helpers.answers - self._answers_before >= _MANY_EXPRESSIONS
        return _ATTEMPTS_TO_LOAD if has_come_far else 1

    def has_loaded(self) -> None:
        """Count from now on: what follows is a step of its own."""
        self.is_loading = False
        self._processor, self._helpers_before = None, self._helpers.seconds

    @property
    def made(self) -> int:
        """Bytes of data that were made or read."""
        return self._helpers.made - self._made_before

    @property
    def given(self) -> int:
        """Bytes that the run is started with, where this activation starts it."""
        jobs = self._act.jobs
        if not jobs or not jobs[0].HasField("initialize_workflow"):  # it comes first
            return 0
        return sum(len(one.data) for one in jobs[0].initialize_workflow.arguments)

    def has_grown(self, marker: str) -> bool:
        """Tell whether the run may hold much more than it did; a replay, whether a *marker* of that kind may say so."""
        if self.is_replaying:
            return marker in self.markers.kinds
        return self.memory.has_grown(self.run_id, self._helpers.made - self._made_before)

    def is_step(self) -> bool:
        """Tell whether it is a step of the run. After each that is broken off, the engine has the run removed."""
        return not any(job.HasField("remove_from_cache") or job.HasField("query_workflow") for job in self._act.jobs)

    def is_removal(self) -> bool:
        """Tell whether the run is removed from the worker's memory."""
        return any(job.HasField("remove_from_cache") for job in self._act.jobs)

    def is_too_long(self) -> bool:
        if self._processor is None:
            self._processor = self._thread_seconds()
        used = self._thread_seconds() - self._processor + self._helpers.seconds - self._helpers_before
        return used > LIMIT * (_REPLAY if self.is_replaying else 1)

    def is_late(self) -> bool:
        return time.perf_counter() - self.began > CLOCK_LIMIT

    def _thread_seconds(self) -> float:
        if not hasattr(time, "pthread_getcpuclockid"):
            return 0.0
        return time.clock_gettime(time.pthread_getcpuclockid(self.thread))


class _Here(threading.local):
    stretch: _Stretch | None = None


here = _Here()
"""The activation that runs in this thread. What a run asks for at every step is asked here without a call between."""


def seconds() -> float:
    """Return for how many seconds by the clock the activation has lasted that runs in this thread; 0 if none does."""
    return 0.0 if here.stretch is None else time.perf_counter() - here.stretch.began


def has_batches() -> bool:
    """Tell whether each value of a signal in the activation that runs in this thread is a signal of its own."""
    return here.stretch is not None and here.stretch.has_batches


def excess(roots: Callable[[], Iterable[object]]) -> PayloadTooLarge | None:
    """Return the fault of the run whose activation runs in this thread, if its data, at *roots*, are too large to hold.

    Raises NoRoom where it has to wait until other runs of the worker hold less.
    """
    stretch = here.stretch
    if stretch is None:
        return None
    memory = stretch.memory
    size = memory.weigh(stretch.run_id, stretch.made, roots)
    if size > memory.of_one:
        return held_too_much(memory.of_one)
    if size:
        memory.check_room(stretch.run_id)
    return None


def holds_definition(definition: str, length: int) -> None:
    """Take note that the run whose activation runs in this thread holds a definition, of so long a text."""
    stretch = here.stretch
    if stretch is not None and length >= _LONG_TEXT:
        stretch.memory.share(stretch.run_id, definition, length * _OF_TEXT)


def loading() -> "_Loading":
    """Load a definition: what takes longer than a step may is tried again, and goes on from what was compiled."""
    return _Loading()


class _Loading:
    __slots__ = ("_stretch",)

    def __init__(self) -> None:
        self._stretch = here.stretch

    def __enter__(self) -> None:
        if self._stretch is not None:
            self._stretch.is_loading = True

    def __exit__(self, *_: object) -> None:
        if self._stretch is not None:
            self._stretch.has_loaded()


class WatchedWorkflows(UnsandboxedWorkflowRunner):
    """Runs workflows, and breaks off what takes too long."""

    def __init__(self, memory: HeldMemory | None = None, *, tells_context: bool = True) -> None:
        self.memory = memory or HeldMemory()
        """What the workflows hold."""
        self.tells_context = tells_context
        """Whether the converter is told what a payload belongs to. The SDK asks six times for each call of a run."""
        self._running: dict[int, _Stretch] = {}
        self._late: OrderedDict[str, int] = OrderedDict()
        """How often each of the latest runs was broken off."""
        self._lock = threading.Lock()
        self._watcher: threading.Thread | None = None

    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:
        """Return the workflow, watched."""
        return _Watched(super().create_instance(det), self, det)

    def begin(self, stretch: _Stretch, given: int) -> None:
        """Watch an activation, which starts its run with so many bytes."""
        here.stretch = stretch
        self.memory.begin(stretch.run_id, given)
        with self._lock:
            self._running[stretch.thread] = stretch
            if self._watcher is None:
                self._watcher = threading.Thread(target=self._watch, name="swf-activations", daemon=True)
                self._watcher.start()

    def end(self, stretch: _Stretch) -> None:
        """Watch it no more."""
        here.stretch = None
        self.memory.end(stretch.run_id, stretch.made)
        if self.memory.counts(stretch.run_id) and stretch.is_removal():
            self.memory.forget(stretch.run_id)
        with self._lock:
            self._running.pop(stretch.thread, None)
            if self._late and stretch.run_id in self._late and not stretch.is_interrupted and stretch.is_step():
                del self._late[stretch.run_id]
        if self.memory.is_littered and not stretch.is_removal():
            self.memory.collect_garbage()  # not sooner: the engine lets go of a run that is removed after this

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
            self._break_off(stretch, stretch.attempts)
        elif stretch.is_late():
            self._break_off(stretch, max(stretch.attempts, _ATTEMPTS))

    def _break_off(self, stretch: _Stretch, most: int) -> None:
        """Have the workflow task tried again, or the run fail where that is the attempt number *most*."""
        self._late[stretch.run_id] = attempts = self._late.pop(stretch.run_id, 0) + 1
        if len(self._late) > _MAX_REMEMBERED:
            self._late.popitem(last=False)
        _raise_in(stretch, StepTooLong if attempts >= most else ActivationTooLong)


class _Watched(WorkflowInstance):
    """A workflow whose activations are watched."""

    def __init__(self, inner: WorkflowInstance, runner: WatchedWorkflows, details: WorkflowInstanceDetails) -> None:
        self._inner = inner
        self._runner = runner
        self._run_id = details.info.run_id
        # Interceptors want to see each signal.
        self._merges_signals = not details.interceptor_classes and issubclass(details.defn.cls, TakesBatches)
        self._markers = Markers()
        self._is_new = True

    def activate(self, act: WorkflowActivation) -> WorkflowActivationCompletion:
        """Let the workflow take its next step."""
        runner = self._runner
        stretch = _Stretch(act, self._run_id, runner.memory, self._markers)
        if stretch.is_replaying:
            for job in act.jobs:
                if job.HasField("notify_has_patch"):
                    self._markers.add(job.notify_has_patch.patch_id)
        if self._merges_signals and len(act.jobs) >= WORTH_MERGING:
            stretch.has_batches = merge_signals(act)
        given, self._is_new = stretch.given if self._is_new else 0, False
        runner.begin(stretch, given)
        try:
            return self._inner.activate(act)
        finally:
            runner.end(stretch)

    def get_serialization_context(self, command_info: Any) -> Any:
        """Return what the workflow says, if a converter uses it."""
        return self._inner.get_serialization_context(command_info) if self._runner.tells_context else None

    def get_external_store_context(self, command_info: Any) -> Any:
        """Return what the workflow says."""
        return self._inner.get_external_store_context(command_info)

    def get_info(self) -> Info:
        """Return what the workflow says."""
        return self._inner.get_info()

    def get_thread_id(self) -> int | None:
        """Return what the workflow says."""
        return self._inner.get_thread_id()


def _raise_in(stretch: _Stretch, exception: type[BaseException]) -> None:
    stretch.is_interrupted = True
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(stretch.thread), ctypes.py_object(exception))
