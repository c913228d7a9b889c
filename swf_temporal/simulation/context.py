"""The context of a simulation: its instances, and the clock, functions, events and definitions that they share."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON, json_from
from swf_temporal.base.errors import WorkflowFault, unforeseen
from swf_temporal.base.strict_json import NotJSON, json_of
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.port import Definition
from swf_temporal.runtime.budgets import Budget
from swf_temporal.runtime.host import (
    SEMANTICS,
    Completed,
    ContinuedAs,
    InstanceIdentity,
    SubflowCall,
    Suspended,
    TraceEntry,
    TraceKind,
    request_in,
)
from swf_temporal.runtime.performing import ONE_RUN, check_size, size_of
from swf_temporal.runtime.retrying import JitterSource, jitter_of
from swf_temporal.runtime.run import Program, Run
from swf_temporal.simulation.clock import EPOCH, PLACE, StateHistory, Steps, VirtualLoop, outside_any_loop
from swf_temporal.simulation.host import SimulatedHost
from swf_temporal.simulation.result import SimulatedInstance, Simulation, Status, error_of, last_answers, last_metadata
from swf_temporal.simulation.variables import VariableStore

if TYPE_CHECKING:
    from swf_temporal.simulation.services.calling_thread import CallingThread


class SimulationContext:
    """The state of one simulation, whose instances share clock, functions, events and definitions."""

    start_time: datetime = EPOCH
    """When the run begins."""
    cancel_after: timedelta | None = None
    """When it is cancelled from outside."""
    semantics: int = SEMANTICS
    """The semantics number that runs begin with."""
    on_trace: Callable[[Run, TraceEntry], None] | None = None
    """Called for each trace entry of each instance: tests can suspend one there."""

    def __init__(
        self,
        workflows: Sequence[Definition],
        functions: Mapping[str, Any],
        events: Sequence[CloudEvent],
        secrets: Mapping[str, JSON],
        *,
        early: Sequence[CloudEvent] = (),
        cancelling: bool = False,
        stub_services: "CallingThread | None" = None,
    ) -> None:
        """Prepare one run.

        *events* are delivered when they are awaited, *early* when the run starts. With *cancelling* the run is
        cancelled when it waits for an event that does not come. Functions without an entry are really called by
        *stub_services*, which are closed at the end.
        """
        self.first = workflows[0]
        self.catalogue = Catalogue(reversed(workflows))
        self.functions = functions
        self.secrets = secrets
        self.stub_services = stub_services
        self.produced: list[CloudEvent] = []
        self.calls: list[tuple[str, JSON]] = []
        self.delays: list[tuple[str, timedelta]] = []
        self.ignored_errors: list[WorkflowFault] = []
        self.assertion: AssertionError | None = None
        """The first that a function raised: it belongs to a test, and is raised even if the definition handles it."""
        self.variables = VariableStore({}, workflows)
        self.memo: Mapping[str, JSON] = {}
        """The memo of the first instance."""
        self.broken: Mapping[str, str] = {}
        """The definitions that are there and cannot run, by their ids, and what is wrong with each."""
        self.steps = Steps()
        self.instances: list[SimulatedInstance] = []
        """The instances that others started; one that has not ended is waiting."""
        self.logs: list[JSON] = []
        self.trace: list[TraceEntry] = []
        self.resumed: Callable[[dict[str, Any]], dict[str, Any]] = lambda progress: progress
        """Called with the record of a suspended instance; returns the one from which it continues."""
        self.jitter: Callable[[str], JitterSource] = jitter_of
        """Returns the jitter of the call with a given key; scenarios and tests may replace it."""
        self._given = tuple(events)
        self._events = list(events)
        self._early = list(early)
        self._cancelling = cancelling
        self._programs: dict[str, Program] = {}
        self._instances: dict[str, tuple[tuple[int, ...], Run]] = {}
        """The running instances by their ids, with their places."""
        self._shared: dict[str, tuple[Mapping[str, str], Mapping[str, JSON], Mapping[str, JSON]]] = {}
        """By the ids of instances: what `InstanceIdentity` has of their callers."""
        self.environment: Mapping[str, str] = {}
        """The variables of the environment that definitions see."""
        self._last: Run | None = None
        """The latest execution of the first instance."""
        self._detached: list[asyncio.Task[None]] = []
        self._ids = 0
        self._loop = VirtualLoop(self._deliver_next, self._on_deadlock)
        self._main: asyncio.Task[JSON] | None = None
        self._deadlocked = False

    def run(self, data: object) -> Simulation:
        """Run the first definition to its end, or until nothing can happen any more."""
        return outside_any_loop(lambda: self._run(data))

    def _run(self, data: object) -> Simulation:
        loop = self._loop
        loop.begin_at(self.start_time)
        try:
            main = self._main = loop.create_task(self._run_first(data))
            if self.cancel_after is not None:
                loop.call_later(self.cancel_after.total_seconds(), main.cancel)
            status: Status = "completed"
            output: JSON = None
            fault: WorkflowFault | None = None
            try:
                output = loop.run_until_complete(main)
            except WorkflowFault as failed:
                status, fault = "failed", failed
            except asyncio.CancelledError:
                status = "waiting" if self._deadlocked else "cancelled"
                fault = None if self._deadlocked else self.first.cancellation(by_parent=False)
            elapsed = loop.now() - loop.begin
            self._finish()
            if self.assertion is not None:
                raise self.assertion
            return self._simulation(status, output, fault, elapsed)
        finally:
            if self.stub_services is not None:
                self.stub_services.close()
            loop.end_rest()
            loop.close()

    async def _run_first(self, given: object) -> JSON:
        first = self.first
        try:
            data = json_of(first.input_of(given if isinstance(given, bytes) else json_from(given)))
        except NotJSON as error:
            raise WorkflowFault(f"the input of a workflow is one JSON value: {error}", name="WrongInput") from None
        self._shared[first.id] = {}, request_in(self.memo), {}
        return await self.run_instance(first.id, first.version, data, first.id)

    async def run_child(
        self, call: SubflowCall, instance_id: str, place: tuple[int, ...], numbers: Mapping[str, int]
    ) -> JSON:
        """Run an instance that another one started, and record its outcome."""
        workflow_id, version = call.workflow_id, call.version
        number = len(self.instances)
        self.instances.append(SimulatedInstance(workflow_id, "waiting"))
        try:
            self._shared[instance_id] = call.thread, call.request, call.variables
            output = await self.run_instance(workflow_id, version, call.data, instance_id, place, numbers)
        except WorkflowFault as fault:
            self.instances[number] = SimulatedInstance(workflow_id, "failed", error_of(fault))
            raise
        except asyncio.CancelledError:
            if not self._deadlocked:
                error = self.catalogue.find(workflow_id, version).cancellation(by_parent=True)
                outcome = None if error is None else error_of(error)
                self.instances[number] = SimulatedInstance(workflow_id, "cancelled", outcome)
            raise
        self.instances[number] = SimulatedInstance(workflow_id, "completed")
        return output

    def spread(self, event: CloudEvent) -> None:
        """Deliver *event* to all instances that wait for one like it, or else to the first that will."""
        hearing = [run for _, run in sorted(self._instances.values(), key=itemgetter(0)) if run.awaits(event)]
        for run in hearing:
            self._loop.call_soon(run.deliver, event)
        if not hearing:
            self._events.append(event)

    def terminate(self, instance_id: str) -> None:
        """Keep an instance that is about to be terminated from compensating: only a cancelled one does."""
        running = self._instances.get(instance_id)
        if running is not None:
            running[1].execution.abandon()

    async def run_instance(
        self,
        workflow_id: str,
        version: str | None,
        data: JSON,
        instance_id: str,
        place: tuple[int, ...] = (),
        numbers: Mapping[str, int] | None = None,
    ) -> JSON:
        """Run one instance to its end, through as many executions as it continues as."""
        PLACE.set(place)
        execution = ContinuedAs(workflow_id, version, data)
        course = StateHistory()
        while True:
            course.begin(execution.workflow_id)
            budget = Budget(execution.workflow_id, numbers or {})
            outcome = await self._run_execution(execution, instance_id, course, budget)
            check_size(size_of(outcome.output if isinstance(outcome, Completed) else outcome.data), ONE_RUN)
            if isinstance(outcome, Completed):
                return outcome.output
            execution = outcome

    async def _run_execution(
        self, execution: ContinuedAs, instance_id: str, course: StateHistory, budget: Budget
    ) -> Completed | ContinuedAs:
        definition = self.catalogue.find(execution.workflow_id, execution.version)
        program = self._program(definition)
        host = SimulatedHost(self, self._loop, instance_id, definition.source.name, course, budget)
        host.shares_events = definition.shares_events
        try:
            return await self._interpret(program, host, execution)
        finally:
            host.end_children()

    async def _interpret(
        self, program: Program, host: SimulatedHost, execution: ContinuedAs
    ) -> Completed | ContinuedAs:
        instance_id = host.instance_id
        # An instance that is started without data gets an empty object.
        data, limit = {} if execution.data is None else execution.data, execution.limit
        progress: dict[str, Any] | None = None if execution.inbox is None else {"inbox": execution.inbox.to_json()}
        events, self._early = self._early, []
        while True:
            instance = InstanceIdentity(instance_id, host.run_id, *self._shared[instance_id])
            run = Run(program, host, data, instance, progress, limit)
            self._instances[instance_id] = (PLACE.get(), run)
            self._last = run if instance_id == self.first.id else self._last
            while events:
                run.deliver(events.pop(0))
            try:
                outcome = await run.run()
            except RecursionError as error:
                raise unforeseen(error, run.execution.state) from error
            finally:
                del self._instances[instance_id]
            if not isinstance(outcome, Suspended):
                return outcome
            progress = self.resumed(outcome.progress)

    def new_id(self) -> str:
        """Return the next of a series of ids, the same in every simulation."""
        self._ids += 1
        return f"sim-{self._ids}"

    def add_trace(self, host: SimulatedHost, entry: TraceEntry) -> None:
        """Record a trace entry of any instance."""
        if host.instance_id == self.first.id:
            self.trace.append(entry)
        if entry.kind is TraceKind.LOGGED:
            self.logs.append(entry.detail["value"])
        instance = self._instances.get(host.instance_id)
        if instance is not None and self.on_trace is not None:
            self.on_trace(instance[1], entry)

    def data_of(self, host: SimulatedHost) -> JSON:
        """Return the data with which the running state of the instance of *host* began."""
        running = self._instances.get(host.instance_id)
        return None if running is None else running[1].execution.data

    def detach(self, work: Callable[[], Coroutine[Any, Any, None]], place: tuple[int, ...]) -> asyncio.Task[None]:
        """Run *work* in parallel to everything else, as an instance with that place."""

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
        """End the instances that wait for something that will never happen."""
        self._deadlocked = not self._cancelling
        if self._deadlocked:
            # A run that only waits was not cancelled, so it does not compensate.
            for _, run in self._instances.values():
                run.execution.abandon()
        if self._main is not None:
            self._main.cancel()

    def _answers(self) -> dict[str, JSON]:
        """Return the answers to the queries of the first definition, as far as it has any."""
        answers: dict[str, JSON] = {}
        for name in sorted(self.first.queries):
            with suppress(LookupError):
                if self._last is not None:
                    answers[name] = self._last.execution.answer(name)
        return answers

    def _finish(self) -> None:
        """Run the instances that outlive the main one to their ends."""
        while pending := [task for task in self._detached if not task.done()]:
            self._main = pending[0]  # cancelled if nothing can happen any more
            self._loop.run_until_complete(asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED))

    def _simulation(self, status: Status, output: JSON, fault: WorkflowFault | None, elapsed: timedelta) -> Simulation:
        return Simulation(
            status=status,
            output=output,
            error=None if fault is None else error_of(fault),
            produced_events=tuple(event.to_json() for event in self.produced),
            trace=tuple(self.trace),
            elapsed=elapsed,
            calls=tuple(self.calls),
            requests=tuple(self.stub_services.recorded.requests) if self.stub_services else (),
            unanswered=tuple(self.stub_services.recorded.unanswered) if self.stub_services else (),
            delays=tuple(self.delays),
            variables=self.variables.as_given(self.first.id),
            logs=tuple(self.logs),
            metadata=last_metadata(self.trace),
            answers={**last_answers(self.trace), **self._answers()},
            instances=tuple(self.instances),
            untaken_events=tuple(one.to_json() for one in self._given if one in self._events),
            fault=fault,
            definition=self.first,
        )
