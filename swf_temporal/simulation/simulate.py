"""Runs a definition in this process, in virtual time, with the events and answers that it is given."""

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from swf_temporal.cloud_event import CloudEvent
from swf_temporal.data import JSON, NotJSON, json_of
from swf_temporal.errors import FatalFault, UsageError, WorkflowFault
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.port import Definition
from swf_temporal.loading import load
from swf_temporal.runtime.host import Completed, ContinuedAs, Instance, Suspended, TraceEntry
from swf_temporal.runtime.performing import ONE_RUN, check_size, size_of
from swf_temporal.runtime.retrying import JitterSource, jitter_of
from swf_temporal.runtime.run import Program, Run
from swf_temporal.runtime.semantics import SEMANTICS
from swf_temporal.simulation.circles import Course
from swf_temporal.simulation.clock import EPOCH, PLACE, VirtualLoop
from swf_temporal.simulation.host import SimulatedHost

if TYPE_CHECKING:
    from swf_temporal.simulation.services.outside import StubServices

Source: TypeAlias = str | os.PathLike[str] | Mapping[str, Any] | Definition
"""A definition: a path, a text, a mapping, or one that was loaded."""
Status = Literal["completed", "failed", "waiting", "cancelled"]


@dataclass(frozen=True, slots=True)
class SimulationError:
    """What a simulated run failed with."""

    name: str
    code: str
    message: str
    state: str | None = None
    action: str | None = None


@dataclass(frozen=True, slots=True)
class Simulation:
    """What came of a simulated run."""

    status: Status
    """`waiting` means that the run waits for an event that was not sent."""
    output: JSON
    error: SimulationError | None
    produced_events: tuple[dict[str, JSON], ...]
    """The events that the run produced, as CloudEvents, in order."""
    trace: tuple[TraceEntry, ...]
    elapsed: timedelta
    """Virtual time from start to end."""
    calls: tuple[tuple[str, JSON], ...] = ()
    """Every attempt to call a function: its name and the arguments."""
    requests: tuple[dict[str, JSON], ...] = ()
    """What the services of a scenario were asked."""
    unanswered: tuple[str, ...] = ()
    """What the scenario has no service or no answer for."""
    delays: tuple[tuple[str, timedelta], ...] = ()
    """Every pause before a further attempt at a call: the function's name, and how long it was."""
    fault: WorkflowFault | None = field(default=None, compare=False)


def simulate(
    definition: Source,
    input: JSON = None,  # noqa: A002 - the specification's word
    *,
    events: Iterable[Mapping[str, Any]] = (),
    functions: Mapping[str, Any] | None = None,
    definitions: Iterable[Source] = (),
    secrets: Mapping[str, JSON] | None = None,
) -> Simulation:
    """Run *definition* in this process, in virtual time, touching nothing outside.

    *definition* is a path, a text or a mapping. *functions* maps the name of a function to its result, or to a
    callable that is given the arguments and returns the result; it may raise `CallFailed(code=…, message=…)`.
    *events* are CloudEvents as mappings; each is delivered when the instance awaits one like it, so their order
    matters only between those that are alike. *definitions* are sub-workflows. *secrets* is what `$SECRETS` holds.
    All of them are JSON: a result that is not fails its call, and an input the run, as on Temporal.

    Raises InvalidDefinition if a definition cannot run, and UsageError if an event is none that can be sent. A run that
    fails does not raise: see `Simulation.error`.
    """
    workflows = [_loaded(one) for one in (definition, *definitions)]
    world = SimulationContext(workflows, functions or {}, events_of(events), secrets or {})
    return world.run(input)


def events_of(events: Iterable[Mapping[str, Any]], series: str = "event") -> list[CloudEvent]:
    """Return *events* as CloudEvents; those without an id get one of the *series*. UsageError names a wrong one."""
    return [_event(event, number, series) for number, event in enumerate(events, start=1)]


class SimulationContext:
    """All that belongs to one simulation: its instances share clock, functions, events and definitions."""

    def __init__(
        self,
        workflows: Sequence[Definition],
        functions: Mapping[str, Any],
        events: Sequence[CloudEvent],
        secrets: Mapping[str, JSON],
        *,
        early: Sequence[CloudEvent] = (),
        cancelling: bool = False,
        outside: "StubServices | None" = None,
    ) -> None:
        """Make a world for one run.

        *events* are delivered when they are awaited, *early* when the run starts. With *cancelling* the run is
        cancelled when it waits for an event that does not come. *outside*, functions that have no entry are really
        called; it is closed at the end.
        """
        self.first = workflows[0]
        self.catalogue = Catalogue(reversed(workflows))
        self.functions = functions
        self.secrets = secrets
        self.outside = outside
        self.produced: list[CloudEvent] = []
        self.calls: list[tuple[str, JSON]] = []
        self.delays: list[tuple[str, timedelta]] = []
        self.ignored_errors: list[WorkflowFault] = []
        self.states = 0
        """How many states were entered, in all instances."""
        self.trace: list[TraceEntry] = []
        self.on_trace: Callable[[Run, TraceEntry], None] | None = None
        """Is told of every trace entry of every instance: where a test suspends one."""
        self.resumed: Callable[[dict[str, Any]], dict[str, Any]] = lambda progress: progress
        """Is given the record of a suspended instance, and returns the one that it goes on with."""
        self.semantics = SEMANTICS
        """The reading that runs begin with: where a test asks for an earlier one."""
        self.jitter: Callable[[str], JitterSource] = jitter_of
        """The jitter of the attempts of the call with that key: where a scenario or a test decides it."""
        self._events = list(events)
        self._early = list(early)
        self._cancelling = cancelling
        self._programs: dict[str, Program] = {}
        self._instances: dict[str, tuple[tuple[int, ...], Run]] = {}
        """By their ids, with their places."""
        self._detached: list[asyncio.Task[None]] = []
        self._ids = 0
        self._loop = VirtualLoop(self._deliver_next, self._on_deadlock)
        self._main: asyncio.Task[JSON] | None = None
        self._standing = False

    def run(self, data: JSON) -> Simulation:
        """Run the first definition to its end, or until it can go no further."""
        return _outside_any_loop(lambda: self._run(data))

    def _run(self, data: JSON) -> Simulation:
        loop = self._loop
        try:
            main = self._main = loop.create_task(self._run_first(data))
            status: Status = "completed"
            output: JSON = None
            fault: WorkflowFault | None = None
            try:
                output = loop.run_until_complete(main)
            except WorkflowFault as failed:
                status, fault = "failed", failed
            except asyncio.CancelledError:
                status = "waiting" if self._standing else "cancelled"
            elapsed = loop.now() - EPOCH
            self._finish()
            return self._simulation(status, output, fault, elapsed)
        finally:
            if self.outside is not None:
                self.outside.close()
            loop.close()

    async def _run_first(self, data: JSON) -> JSON:
        first = self.first
        try:
            data = json_of(data)
        except NotJSON as error:
            raise WorkflowFault(f"the input of a workflow is one JSON value: {error}", name="WrongInput") from None
        return await self.run_instance(first.id, first.version, data, first.id)

    async def run_instance(
        self,
        workflow_id: str,
        version: str | None,
        data: JSON,
        instance_id: str,
        place: tuple[int, ...] = (),
    ) -> JSON:
        """Run one instance to its end, through as many executions as it continues as."""
        PLACE.set(place)
        execution = ContinuedAs(workflow_id, version, data)
        course = Course()
        while True:
            course.begin(execution.workflow_id)
            outcome = await self._run_execution(execution, instance_id, course)
            check_size(size_of(outcome.output if isinstance(outcome, Completed) else outcome.data), ONE_RUN)
            if isinstance(outcome, Completed):
                return outcome.output
            execution = outcome

    async def _run_execution(self, execution: ContinuedAs, instance_id: str, course: Course) -> Completed | ContinuedAs:
        definition = self.catalogue.find(execution.workflow_id, execution.version)
        program = self._program(definition)
        host = SimulatedHost(self, self._loop, instance_id, definition.source.name, course)
        try:
            return await self._interpret(program, host, execution)
        finally:
            host.end_children()

    async def _interpret(
        self, program: Program, host: SimulatedHost, execution: ContinuedAs
    ) -> Completed | ContinuedAs:
        instance_id = host.instance_id
        # Whoever starts an instance without data gives it an object that has none.
        data, limit = {} if execution.data is None else execution.data, execution.limit
        progress: dict[str, Any] | None = None
        events = [*execution.events, *self._early]
        self._early = []
        while True:
            instance = Instance(instance_id, self.new_id())
            run = Run(program, host, data, instance, progress, limit)
            self._instances[instance_id] = (PLACE.get(), run)
            while events:
                run.deliver(events.pop(0))
            try:
                outcome = await run.run()
            except RecursionError as error:
                text = f"{type(error).__name__}: {error} (a bug in swf-temporal)"
                raise FatalFault(text, name="InternalError", state=run.execution.state) from error
            finally:
                del self._instances[instance_id]
            if not isinstance(outcome, Suspended):
                return outcome
            progress = self.resumed(outcome.progress)

    def new_id(self) -> str:
        """Return the next of a series of ids, the same in every simulation."""
        self._ids += 1
        return f"sim-{self._ids}"

    def noted(self, host: SimulatedHost, entry: TraceEntry) -> None:
        """Take note of what happened in any instance."""
        if host.instance_id == self.first.id:
            self.trace.append(entry)
        instance = self._instances.get(host.instance_id)
        if instance is not None and self.on_trace is not None:
            self.on_trace(instance[1], entry)

    def data_of(self, host: SimulatedHost) -> JSON:
        """Return what the state began with that runs in the instance of *host*."""
        running = self._instances.get(host.instance_id)
        return None if running is None else running[1].execution.data

    def detach(self, work: Callable[[], Coroutine[Any, Any, None]], place: tuple[int, ...]) -> asyncio.Task[None]:
        """Do *work* beside everything else, as an instance of that place."""

        async def at_its_place() -> None:
            PLACE.set(place)
            await work()

        task = self._loop.create_task(at_its_place())
        self._detached.append(task)
        return task

    def _program(self, definition: Definition) -> Program:
        if definition.digest not in self._programs:
            self._programs[definition.digest] = definition.language.prepare(definition, self.semantics)
        return self._programs[definition.digest]

    def _deliver_next(self) -> bool:
        """Deliver the first event that is awaited now."""
        for index, event in enumerate(self._events):
            for _, run in sorted(self._instances.values(), key=itemgetter(0)):
                if run.awaits(event):
                    del self._events[index]
                    self._loop.call_soon(run.deliver, event)
                    return True
        return False

    def _on_deadlock(self) -> None:
        """End what waits for something that will never come."""
        self._standing = not self._cancelling
        if self._standing:
            # Nobody cancels a run that only waits, so it undoes nothing.
            for _, run in self._instances.values():
                run.execution.abandon()
        if self._main is not None:
            self._main.cancel()

    def _finish(self) -> None:
        """Let what outlives the main instance come to its end."""
        while pending := [task for task in self._detached if not task.done()]:
            self._main = pending[0]  # cancelled if nothing can happen any more
            self._loop.run_until_complete(asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED))

    def _simulation(self, status: Status, output: JSON, fault: WorkflowFault | None, elapsed: timedelta) -> Simulation:
        error = None
        if fault is not None:
            error = SimulationError(fault.name, fault.code, fault.message, fault.state, fault.action)
        return Simulation(
            status=status,
            output=output,
            error=error,
            produced_events=tuple(event.to_json() for event in self.produced),
            trace=tuple(self.trace),
            elapsed=elapsed,
            calls=tuple(self.calls),
            requests=tuple(self.outside.heard.requests) if self.outside else (),
            unanswered=tuple(self.outside.heard.unanswered) if self.outside else (),
            delays=tuple(self.delays),
            fault=fault,
        )


def _loaded(definition: Source) -> Definition:
    return definition if isinstance(definition, Definition) else load(definition)


def _event(event: Mapping[str, Any], number: int, series: str) -> CloudEvent:
    try:
        given: Any = json_of(event)
        return CloudEvent.from_json(given, default_id=f"{series}-{number}")
    except ValueError as error:
        raise UsageError(f"{series} {number}: {error}") from None


def _outside_any_loop(work: Callable[[], Simulation]) -> Simulation:
    """Do *work*, which runs an event loop, in a thread of its own if this one is running a loop already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    results: list[Simulation] = []
    failures: list[BaseException] = []

    def target() -> None:
        try:
            results.append(work())
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            failures.append(error)

    thread = threading.Thread(target=target, name="simulation", daemon=True)
    thread.start()
    thread.join()
    if failures:
        raise failures[0]
    return results[0]
