"""Metrics of instances and calls, beside those of Temporal's SDK, whose runtime exports both.

Those of instances are derived from their trace, and counted once, not again on replay. Beside the labels that the SDK
adds (`namespace`, `task_queue`, `workflow_type`, which is the id of the definition) there are names from definitions
and functions, and no data.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.common import MetricCounter, MetricHistogramTimedelta, MetricMeter
from temporalio.runtime import Runtime

from swf_temporal.base.errors import TimedOut, WorkflowFault
from swf_temporal.languages.port import Definition
from swf_temporal.runtime.host import TraceEntry, TraceKind
from swf_temporal.temporal.instance_log import fault_in
from swf_temporal.temporal.instance_part import Ending, Instance, Part

if TYPE_CHECKING:
    from swf_temporal.temporal.host import TemporalHost

STARTED, ENDED = "swf_instances_started", "swf_instances_ended"
STATES, ACTIONS, WAITS = "swf_state_duration", "swf_action_duration", "swf_wait_duration"
FAILED_ACTIONS, FAILED_ATTEMPTS = "swf_failed_actions", "swf_failed_attempts"
RETRIES, TIMEOUTS, EVENTS = "swf_retries", "swf_timeouts", "swf_events"

_EVENTS: Final[Mapping[TraceKind, str]] = {
    TraceKind.EVENT_AWAITED: "awaited",
    TraceKind.EVENT_TAKEN: "taken",
    TraceKind.EVENT_TIMED_OUT: "timed-out",
    TraceKind.EVENT_GIVEN_BACK: "given-back",
    TraceKind.EVENT_REFUSED: "refused",
    TraceKind.EVENT_PRODUCED: "produced",
}
_ENDS: Final[Mapping[TraceKind, tuple[TraceKind, str]]] = {
    TraceKind.STATE_LEFT: (TraceKind.STATE_LEFT, "completed"),
    TraceKind.ERROR_CAUGHT: (TraceKind.STATE_LEFT, "failed"),
    TraceKind.ACTION_COMPLETED: (TraceKind.ACTION_COMPLETED, "completed"),
    TraceKind.ACTION_FAILED: (TraceKind.ACTION_COMPLETED, "failed"),
    TraceKind.EVENT_TAKEN: (TraceKind.EVENT_TAKEN, "taken"),
    TraceKind.EVENT_TIMED_OUT: (TraceKind.EVENT_TAKEN, "timed-out"),
}
"""By the entry that ends a state, an action or a wait, the usual such entry, and the result."""
_DURATIONS: Final[Mapping[TraceKind, tuple[str, str]]] = {
    TraceKind.STATE_LEFT: (STATES, "States that were left, by result, and how long they took"),
    TraceKind.ACTION_COMPLETED: (ACTIONS, "Actions that ended, by result, and how long they took"),
    TraceKind.EVENT_TAKEN: (WAITS, "Waits for events that ended, by result, and how long they took"),
}
"""The histograms, with their descriptions, by the usual entry at the end of what they measure."""
_STARTED: Final = "Instances that were started"
_ENDED: Final = "Instances that ended, by result"
_RETRIED: Final[Mapping[TraceKind, str]] = {TraceKind.STATE_RETRIED: "state", TraceKind.ACTION_RETRIED: "action"}
_TIMEOUTS: Final = "Timeouts of the definition that were over"
_MAX_BEGUN: Final = 10_000
"""The maximum number of states, actions and waits in progress whose start is remembered."""
_MAX_NAMES: Final = 1000
"""The maximum number of values of a label in a process, besides `other`: each is kept until the process ends."""

_Labels = tuple[tuple[str, str], ...]
_Key = tuple[TraceKind, str, str]
"""The entry that ends a state, an action or a wait, the lane, and the name."""
_Begun = tuple[datetime, _Labels]

_MAX_KEPT: Final = 10_000
"""The number of counters with labels, and of histograms, to cache: making one takes longer than counting."""

_meter: MetricMeter | None = None
"""The meter for instances; None if no worker of the process exports metrics."""


def meter_of(client: Client) -> MetricMeter:
    """Return the meter of the process of *client*."""
    return (client.service_client.config.runtime or Runtime.default()).metric_meter


def count_instances(client: Client) -> None:
    """From now on, count what happens in instances, if the process of *client* exports metrics."""
    global _meter  # noqa: PLW0603 - one for the process, as its exporter is
    if (meter := meter_of(client)) is not MetricMeter.noop:
        _meter = meter


def begin_counters(client: Client, task_queue: str, definitions: Iterable[Definition]) -> None:
    """Begin the counters of instances of *definitions*, so that their first increase is seen as one."""
    if _meter is not None:
        for one in definitions:
            labels = (("namespace", client.namespace), ("task_queue", task_queue), ("workflow_type", one.id))
            version = ("version", one.version or "")
            _counter(_meter, STARTED, _STARTED, (*labels, version)).add(0)
            _counter(_meter, ENDED, _ENDED, (*labels, version, ("result", "completed"), ("error", ""))).add(0)


@lru_cache(_MAX_KEPT)
def _counter(meter: MetricMeter, name: str, description: str, labels: _Labels) -> MetricCounter:
    return meter.create_counter(name, description).with_additional_attributes(dict(labels))


@lru_cache(_MAX_KEPT)
def _histogram(meter: MetricMeter, name: str, description: str, labels: _Labels) -> MetricHistogramTimedelta:
    histogram = meter.create_histogram_timedelta(name, description, "duration")
    return histogram.with_additional_attributes(dict(labels))


class _Names:
    """The names that a label has had."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def bounded(self, name: str) -> str:
        if name not in self._known:
            if len(self._known) >= _MAX_NAMES:
                return "other"
            self._known.add(name)
        return name


_states, _actions, _functions, _errors = _Names(), _Names(), _Names(), _Names()


class InstanceMetrics(Part):
    """Counts what happens in an execution of an instance."""

    def __init__(self, instance: Instance) -> None:
        super().__init__(instance)
        self._is_asked = _meter is not None
        self._labels = _labels_of(workflow.info()) if self._is_asked else ()
        self._version = ("version", "")
        self._begun: dict[_Key, _Begun] = {}

    @property
    def notes(self) -> bool:
        """Whether metrics are recorded."""
        return self._is_asked

    def begin(self, definition: Definition, host: "TemporalHost") -> None:  # noqa: ARG002 - as the others
        """Count the start of an instance, but not its continuation."""
        self._version = ("version", definition.version or "")
        if not self.instance.is_continued:
            self._count(STARTED, _STARTED, self._version)

    async def end(self, ending: Ending) -> None:
        """Count how the execution ends; one that continues as new has not ended."""
        if ending.failure is not None:
            self._ended(ending.how, fault_in(ending.failure).name)
        elif ending.how != "continued":
            self._ended(ending.how)

    def _ended(self, result: str, error: str = "") -> None:
        if result in {"failed", "cancelled"}:
            for key in [one for one in self._begun if one[0] is TraceKind.STATE_LEFT]:
                self._end(key, result, workflow.now())
        if not self.instance.is_call:
            labels = self._version, ("result", result), ("error", _errors.bounded(error))
            self._count(ENDED, _ENDED, *labels)

    def kept(self, *, is_new: bool) -> None:
        """Count an event that no state waits for: it is kept, or is a duplicate."""
        self._count_event("kept" if is_new else "duplicate")

    def note(self, entry: TraceEntry) -> None:
        """Count what an entry reports."""
        kind = entry.kind
        if kind in _EVENTS:
            self._note_event(entry)
        elif kind is TraceKind.STATE_ENTERED:
            self._begin(TraceKind.STATE_LEFT, entry, ("state", _states.bounded(entry.state)))
        elif kind is TraceKind.ACTION_STARTED:
            function = _functions.bounded(str(entry.detail.get("function", "")))
            labels = ("state", _states.bounded(entry.state)), ("function", function)
            self._begin(TraceKind.ACTION_COMPLETED, entry, *labels)
        elif kind in _ENDS:
            if kind is TraceKind.ERROR_CAUGHT:
                self._count_timeout("state", entry.name)
            elif kind is TraceKind.ACTION_FAILED:
                self._count_failed_action(entry)
            of, result = _ENDS[kind]
            self._end(_key(of, entry), result, entry.at)
        elif kind in _RETRIED:
            self._count(RETRIES, "Further attempts at states and actions", ("of", _RETRIED[kind]))
        elif kind is TraceKind.WORKFLOW_TIMED_OUT:
            self._count(TIMEOUTS, _TIMEOUTS, ("of", "workflow"))
        elif kind is TraceKind.WORKFLOW_CONTINUED:
            self._ended("continued")

    def _note_event(self, entry: TraceEntry) -> None:
        self._count_event(_EVENTS[entry.kind])
        if entry.kind is TraceKind.EVENT_AWAITED:
            self._begin(TraceKind.EVENT_TAKEN, entry, ("state", _states.bounded(entry.state)))
        elif entry.kind in _ENDS:
            of, result = _ENDS[entry.kind]
            self._end(_key(of, entry), result, entry.at)

    def _begin(self, until: TraceKind, entry: TraceEntry, *labels: tuple[str, str]) -> None:
        if len(self._begun) >= _MAX_BEGUN:
            self._begun.clear()  # interrupted ones never end
        self._begun[_key(until, entry)] = (entry.at, labels)

    def _end(self, key: _Key, result: str, ended: datetime) -> None:
        begun = self._begun.pop(key, None)
        if begun is not None:  # else it began in an earlier execution
            at, labels = begun
            self._measure(key[0], ended - at, *labels, ("result", result))

    def _measure(self, of: TraceKind, taken: timedelta, *labels: tuple[str, str]) -> None:
        if _meter is not None and not workflow.unsafe.is_replaying():
            name, description = _DURATIONS[of]
            _histogram(_meter, name, description, self._labels + labels).record(taken)

    def _count(self, name: str, description: str, *labels: tuple[str, str]) -> None:
        if _meter is not None and not workflow.unsafe.is_replaying():
            _counter(_meter, name, description, self._labels + labels).add(1)

    def _count_event(self, result: str) -> None:
        description = "Events that instances await, take, keep, refuse, give back and produce"
        self._count(EVENTS, description, ("result", result))

    def _count_timeout(self, of: str, error: str) -> None:
        if error == TimedOut.__name__:
            self._count(TIMEOUTS, _TIMEOUTS, ("of", of))

    def _count_failed_action(self, entry: TraceEntry) -> None:
        error = str(entry.detail["error"])
        self._count_timeout("action", error)
        self._count(
            FAILED_ACTIONS,
            "Actions that failed for good",
            ("state", _states.bounded(entry.state)),
            ("action", _actions.bounded(entry.name)),
            ("function", _functions.bounded(str(entry.detail.get("function", "")))),
            ("error", _errors.bounded(error)),
        )


def _labels_of(info: workflow.Info) -> _Labels:
    """Return the labels that the SDK adds to metrics of workflow code."""
    return ("namespace", info.namespace), ("task_queue", info.task_queue), ("workflow_type", info.workflow_type)


def _key(of: TraceKind, entry: TraceEntry) -> _Key:
    return of, entry.lane, entry.name if of is TraceKind.ACTION_COMPLETED else entry.state


def count_failed_attempt(fault: WorkflowFault, *, is_tried_again: bool) -> None:
    """Count an attempt at a call that failed; in an activity."""
    labels = {
        "workflow_type": activity.info().workflow_type or "",
        "error": _errors.bounded(fault.name),
        "again": str(is_tried_again).lower(),
    }
    counter = activity.metric_meter().create_counter(FAILED_ATTEMPTS, "Attempts at calls that failed")
    counter.add(1, labels)
