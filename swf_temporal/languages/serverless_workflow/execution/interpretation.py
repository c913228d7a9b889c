"""How does one running workflow get from its first state to its end?

Theory of operation. `walk` runs states from a given one until one of them ends; it is re-entrant, so that
compensation and the state that runs before a timeout are walks of their own. Everything that waits asks the host.

Progress. Every walk, state, branch, iteration and action writes down how far it is, in a frame of plain JSON that
belongs to it; frames nest as the paths of execution do. Asked to suspend, the interpretation lets no path take
another step: waits end at once, calls in flight are waited for and their results written down, and `run` returns
Suspended with the frames and what else must survive. An interpretation made with such a record walks the same way
again; whatever its frame says is done is not done again, and what was waited for is waited for until the same
moment as before.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from swf_temporal.cloud_event import CloudEvent
from swf_temporal.data import JSON
from swf_temporal.errors import WorkflowFault
from swf_temporal.languages.serverless_workflow.execution.compensation import compensate, while_undoing
from swf_temporal.languages.serverless_workflow.execution.correlation import belongs, demanded, fixed_by, kept
from swf_temporal.languages.serverless_workflow.execution.events import is_like, produce_all
from swf_temporal.languages.serverless_workflow.execution.execution_timeout import Expired, run_in_time
from swf_temporal.languages.serverless_workflow.execution.lane import Frame, Lane
from swf_temporal.languages.serverless_workflow.execution.parameters import for_run, has_open_parameters
from swf_temporal.languages.serverless_workflow.execution.program import Program
from swf_temporal.languages.serverless_workflow.execution.progress import innermost_walk, latest_data, walk_under_way
from swf_temporal.languages.serverless_workflow.execution.run_state import Left, left_by_error, run_state
from swf_temporal.languages.serverless_workflow.model.states import End, State, Transition
from swf_temporal.runtime.host import (
    Completed,
    ContinuedAs,
    Happening,
    Host,
    Instance,
    Limit,
    Outcome,
    Suspended,
    TraceEntry,
)
from swf_temporal.runtime.inbox import Inbox
from swf_temporal.runtime.joining import MISSING, SuspendRequested, within

STATES_WITHOUT_PAUSE = 200
"""After how many states in a row the host may take stock."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a walk ended, and with which data."""

    data: JSON
    end: End


class Interpretation:
    """One running workflow."""

    def __init__(
        self,
        program: Program,
        host: Host,
        data: JSON,
        instance: Instance,
        progress: dict[str, Any] | None = None,
        limit: Limit | None = None,
    ) -> None:
        """Make an instance that begins with *data*, or goes on from *progress*.

        *limit* takes the place of the workflow's own timeout: a `continueAs` may set it.
        """
        record = progress or {}
        self.program = program
        self.host = host
        self.input: JSON = record.get("input", data)
        self.inbox = Inbox(record.get("inbox"))
        self.error: JSON = record.get("error")
        self.record: list[str] = list(record.get("compensation", ()))
        self.fixed: dict[str, JSON] = kept(record.get("correlation", {}))
        self.frame: Frame = record.get("frame", {})
        self.limit = Limit.from_json(record.get("limit")) or limit
        self.numbers: dict[str, int] = dict(record.get("numbers", {}))
        self._started: float = record.get("started", host.now().timestamp())
        self._instance = instance
        self._suspending = False
        self._sleeping: dict[asyncio.Task[None], None] = {}
        self._about: dict[str, JSON] | None = None
        self._walked = 0
        self.last_moment: float | None = None
        """After which no further state is begun, but to finish undoing."""
        self.undoing = False
        """Whether what was done is being undone."""
        self.awaited: dict[int, tuple[str, list[str], float | None]] = {}
        """What is waited for now: in which state, which events, until when."""

    # From outside

    async def run(self) -> Outcome:
        """Run to the end, or until suspended. Raises the WorkflowFault that the workflow failed with."""
        if not self.frame:
            self._note(Happening.WORKFLOW_STARTED, self.program.workflow.id)
        try:
            self._set_parameters()
            outcome = await run_in_time(self)
        except SuspendRequested:
            return Suspended(self._progress())
        except WorkflowFault as fault:
            self._note(Happening.WORKFLOW_FAILED, fault.name, code=fault.code, message=fault.message)
            raise
        match outcome:
            case Completed():
                self._note(Happening.WORKFLOW_COMPLETED, self.program.workflow.id)
            case ContinuedAs():
                self._note(Happening.WORKFLOW_CONTINUED, outcome.workflow_id)
        return outcome

    def deliver(self, event: CloudEvent) -> bool:
        """Take in an event. Never waits; returns False for an event that was taken in before."""
        return self.inbox.deliver(event)

    def suspend(self) -> None:
        """Ask every path to stop before its next step."""
        if not self._suspending:
            self._suspending = True
            self.inbox.interrupt()
            for task in list(self._sleeping):
                task.cancel()

    def awaits(self, event: CloudEvent) -> bool:
        """Tell whether a path of this instance waits for an event like *event*."""
        return self.inbox.is_awaited(event)

    @property
    def semantics(self) -> int:
        """The number of the reading that this run began with: see `runtime/semantics.py`."""
        return self.program.semantics

    @property
    def is_cancelled(self) -> bool:
        """Whether it was cancelled, and undoes what it did."""
        return "cancelled" in self.frame

    @property
    def is_expired(self) -> bool:
        """Whether the workflow's time was over before it ended."""
        return "expired" in self.frame

    @property
    def is_over(self) -> bool:
        """Whether the last moment has passed."""
        return self.last_moment is not None and self.time() >= self.last_moment

    @property
    def state(self) -> str | None:
        """The state that is running now."""
        name: str | None = innermost_walk(self.frame).get("state")
        return name

    @property
    def data(self) -> JSON:
        """The data that the running state began with."""
        data: JSON = innermost_walk(self.frame).get("data", self.input)
        return data

    @property
    def latest_data(self) -> JSON:
        """The data as the actions of the running state have left it."""
        return latest_data(walk_under_way(self.frame), self.input)

    # For lanes

    def time(self) -> float:
        """Return the host's time as seconds of the epoch."""
        return self.host.now().timestamp()

    def gate(self) -> None:
        """Pass, unless a suspension was asked for: called before every step that does something outside."""
        if self._suspending:
            raise SuspendRequested

    def number(self, what: str) -> str:
        """Return an id for *what* that was never given before in this run."""
        number = self.numbers[what] = self.numbers.get(what, 0) + 1
        return f"{what}#{number}"

    async def time_out_at(self, moment: float, why: str) -> None:
        """Wait until *moment*. A suspension does not end the wait: while calls in flight finish, their time runs."""
        remaining = moment - self.time()
        if remaining > 0:
            await self.host.sleep(timedelta(seconds=remaining), why)

    async def sleep_until(self, moment: float, why: str) -> None:
        """Wait until *moment*; a suspension ends the wait."""
        self.gate()
        remaining = moment - self.time()
        if remaining <= 0:
            return
        self._walked = 0
        sleeping = self.host.sleep(timedelta(seconds=remaining), why)
        task = asyncio.get_running_loop().create_task(sleeping)
        self._sleeping[task] = None
        try:
            await task
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if self._suspending and not (current and current.cancelling()):
                raise SuspendRequested from None
            raise
        finally:
            del self._sleeping[task]

    def is_starting(self, state: State) -> bool:
        """Tell whether *state* is where the instance, or a round of one that is kept active, starts: none led there."""
        is_first = state.name == self.program.workflow.start_state and "moved" not in self.frame.get("walk", {})
        return is_first and not self.undoing and not self.is_expired

    def may_take(self, ref: str, event: CloudEvent, lane: Lane) -> bool:
        """Tell whether *event* is one that *ref* defines, and belongs to this instance."""
        definition = self.program.event(ref)
        values = demanded(definition, lambda value: lane.fill(value, self.data))
        return is_like(definition, event) and belongs(definition, event, self.fixed, values, self.semantics)

    async def wait_for_event(
        self, refs: Sequence[str], deadline: float | None, lane: Lane
    ) -> tuple[int, CloudEvent] | None:
        """Return the first event to come that one of *refs* defines, and which; None if *deadline* comes first."""
        definitions = [self.program.event(ref) for ref in refs]
        # Once, and here: what fails where an event is delivered fails for whoever sends it.
        values = [demanded(definition, lambda value: lane.fill(value, self.data)) for definition in definitions]

        def which(event: CloudEvent) -> int:
            for index, definition in enumerate(definitions):
                if is_like(definition, event) and belongs(definition, event, self.fixed, values[index], self.semantics):
                    return index
            return -1

        event = self.inbox.take(lambda event: which(event) >= 0)
        while event is None or (index := which(event)) < 0:
            if event is not None:
                # In the moment in which it was handed over another path took one that fixed an attribute.
                self.inbox.hand_over(event)
            self.gate()
            if "awaited" not in lane.frame:
                lane.frame["awaited"] = True
                lane.note(Happening.EVENT_AWAITED, ", ".join(refs))
            event = await self._next_event(lambda event: which(event) >= 0, refs, deadline, lane)
            if event is None:
                del lane.frame["awaited"]
                lane.note(Happening.EVENT_TIMED_OUT, ", ".join(refs))
                return None
        lane.frame.pop("awaited", None)
        self.fixed.update(fixed_by(definitions[index], event))
        lane.note(Happening.EVENT_TAKEN, refs[index], type=event.type, source=event.source, data=event.data)
        return index, event

    async def _next_event(
        self, accepts: Any, refs: Sequence[str], deadline: float | None, lane: Lane
    ) -> CloudEvent | None:
        self._walked = 0
        waiting = id(accepts)
        self.awaited[waiting] = (lane.state.name, list(refs), deadline)
        try:
            if deadline is None:
                return await self.inbox.wait(accepts)
            why = f"waiting for {', '.join(refs)}"
            got = await within(self.inbox.wait(accepts), self.time_out_at(deadline, why))
            return None if got is MISSING else got
        finally:
            del self.awaited[waiting]

    # Walking

    async def walk(self, start: str, data: JSON, frame: Frame) -> Ended:
        """Run states from *start* on until one of them ends."""
        name: str = frame.get("state", start)
        data = frame.get("data", data)
        while True:
            frame["state"], frame["data"] = name, data
            self.gate()
            if "run" not in frame and self.is_over and not self.undoing:
                raise Expired
            self._walked += 1
            if self._walked >= STATES_WITHOUT_PAUSE:
                self._walked = 0
                await self.host.breathe()
            state = self.program.state(name)
            run = frame.get("run")
            if run is None:
                run = frame["run"] = {}
            lane = Lane(self, state, run, self.variables(), name)
            left = await run_state(state, data, lane)
            if not self.undoing and left.completed and state.compensated_by is not None and "recorded" not in run:
                run["recorded"] = True
                self.record.append(name)
            data, leaving = await self._leave(state, left, lane)
            lane.note(Happening.STATE_LEFT, name)
            del frame["run"]
            if isinstance(leaving, End):
                return Ended(data, leaving)
            name = leaving.next_state
            frame["moved"] = True

    async def _leave(self, state: State, left: Left, lane: Lane) -> tuple[JSON, Transition | End]:
        """Do what leaving a state asks for, in the order of the specification: compensate, then produce events.

        Return the data, and which way it was left: what cannot be produced is an error of the state like any other.
        """
        leaving = while_undoing(left.leaving) if self.undoing else left.leaving
        if not (leaving.compensate or leaving.produce_events):
            return left.data, leaving
        # The way that handles an error knows of it.
        lane = lane.with_variables({"WORKFLOW": self.variables()["WORKFLOW"]})
        data = left.data
        if leaving.compensate:
            data = await compensate(data, lane)
        if leaving.produce_events:
            try:
                await produce_all(leaving.produce_events, data, lane)
            except WorkflowFault as fault:
                if not left.completed:
                    raise
                instead = left_by_error(state, fault, data, lane)
                if lane.frame.pop("recorded", False) and self.record:
                    self.record.pop()
                return await self._leave(state, instead, lane)
        return data, leaving

    def variables(self) -> dict[str, JSON]:
        """Return the variables that a state begins with."""
        if self._about is None:
            self._about = {
                **self.program.about,
                "instanceId": self._instance.instance_id,
                "runId": self._instance.run_id,
                "startTime": self._started,
                "input": self.input,
            }
        about = self._about if self.error is None else {**self._about, "error": self.error}
        return {"WORKFLOW": about, "CONST": self.program.constants, "__now": self.time()}

    def note_timeout(self) -> None:
        """Take note that the workflow's time is over."""
        self._note(Happening.WORKFLOW_TIMED_OUT, self.program.workflow.id)

    def _set_parameters(self) -> None:
        """Evaluate the workflow's own parameters where they are expressions; their time is that of the start."""
        if has_open_parameters(self.program.workflow):
            self.program = for_run(self.program, self.input, {**self.variables(), "__now": self._started})
            self._about = None

    def _note(self, kind: Happening, name: str, **detail: JSON) -> None:
        self.host.note(TraceEntry(kind, "", "", name, self.host.now(), detail))

    def _progress(self) -> dict[str, Any]:
        """Return all that must survive a suspension, as plain JSON."""
        record: dict[str, Any] = {
            "frame": self.frame,
            "input": self.input,
            "started": self._started,
            "inbox": self.inbox.to_json(),
            "numbers": self.numbers,
            "correlation": self.fixed,
            "compensation": self.record,
            "error": self.error,
            "limit": None if self.limit is None else self.limit.to_json(),
        }
        return {key: value for key, value in record.items() if value not in ({}, [], None) or key == "input"}
