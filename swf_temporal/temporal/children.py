"""Sub-workflows, fire-and-forget calls, and instances started by workflows in code, as child workflows."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from typing import Any, Final, TypedDict, TypeVar

from temporalio import workflow
from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue, WorkflowIDReusePolicy
from temporalio.exceptions import ChildWorkflowError, FailureError
from temporalio.workflow import ChildWorkflowCancellationType, ParentClosePolicy

from swf_temporal.base.arguments import check_each, check_text, kind_of
from swf_temporal.base.client_errors import InvalidInputError
from swf_temporal.base.data import JSON, json_from
from swf_temporal.base.errors import UsageError
from swf_temporal.base.strict_json import NotJSON
from swf_temporal.languages.loading import of_definitions
from swf_temporal.languages.port import Definition
from swf_temporal.runtime.budgets import Budget, InstanceLimits
from swf_temporal.runtime.host import FunctionCall, SubflowCall
from swf_temporal.runtime.ids import id_of_child
from swf_temporal.runtime.joining import end_of, heeding_cancellation
from swf_temporal.temporal.call_records import (
    OwnerRecord,
    child_facts,
    fault_of_call,
    fault_of_child,
    fault_of_start,
    record_of,
)
from swf_temporal.temporal.long_running import LongRunningChildren, ask_to_cancel
from swf_temporal.temporal.outgoing import Outgoing, check_together
from swf_temporal.temporal.records import Lineage, Pin, Pinned, StartRecord, catalogue_of, origin_of, pin_of, pinned


class ChildWorkflow(TypedDict):
    """The arguments of the SDK's `execute_child_workflow` and `start_child_workflow` that make it an instance."""

    workflow: str
    args: list[Any]


def as_child_workflow(
    definition: Definition | str, data: object = None, *, sub_workflows: Iterable[Definition] = ()
) -> ChildWorkflow:
    """Return the arguments with which a workflow written in code starts an instance of *definition* as its child.

        output = await workflow.execute_child_workflow(**as_child_workflow(ORDER, {"item": "pen"}), id="order-1")

    Given a Definition, the child keeps it and *sub_workflows*, whatever the workers serve later; given an id, it runs
    the definition that the workers have. Raises InvalidInputError if *data* is not JSON, and UsageError if
    *definition* is neither.
    """
    if isinstance(definition, str):
        check_text("the id of a definition", definition)
    elif not isinstance(definition, Definition):
        raise UsageError(f"a child is a Definition or the id of one, and this is {kind_of(definition)}", "see `load`")
    sub_workflows = list(sub_workflows)
    check_each("sub_workflows", sub_workflows, "a Definition", lambda one: isinstance(one, Definition))
    try:
        given: Any = {} if data is None else json_from(data)
    except NotJSON as error:
        raise InvalidInputError(f"the input of a workflow is one JSON value: {error}") from None
    if isinstance(definition, str):
        return ChildWorkflow(workflow=definition, args=[given])
    pin = pin_of(pinned([definition, *sub_workflows]), definition.version).to_json()
    return ChildWorkflow(workflow=definition.id, args=[given, pin])


T = TypeVar("T")
REUSE: Final = WorkflowIDReusePolicy.TERMINATE_IF_RUNNING
"""Only a run that was reset meets the ids of its children again: it terminates them, and starts them anew."""
_CLOSE_POLICIES: Final = {"terminate": ParentClosePolicy.TERMINATE, "abandon": ParentClosePolicy.ABANDON}


class Children:
    def __init__(
        self, pin: Pin, outgoing: Outgoing, budget: Budget, limits: Callable[[], Awaitable[InstanceLimits]]
    ) -> None:
        self._pin = pin
        self._outgoing = outgoing
        self._budget = budget
        self._limits = limits
        self._info = workflow.info()
        self._origin = origin_of(pin)
        self._first = pin.lineage.first or self._info.run_id
        # Each run of a cron schedule uses the same ids, and leaves alone the children that the run before left running.
        self._reuse = WorkflowIDReusePolicy.ALLOW_DUPLICATE if self._info.cron_schedule else REUSE
        self._latest: tuple[Pin, Payload] | None = None
        """The pin of the sub-workflow that was started last, and its payload."""
        self._ending_with_this: list[asyncio.Future[Any]] = []
        self.long_running = LongRunningChildren(pin.outlasting)
        self.parts_for_child: Callable[[], dict[str, JSON]] = dict
        """Returns the initial records of the parts of a sub-workflow that is waited for."""

    def are_to_end(self) -> bool:
        """Return whether there are children that end with this execution, without being waited for."""
        self._ending_with_this = [child for child in self._ending_with_this if not child.done()]
        return bool(self._ending_with_this)

    def id_of(self, child: str) -> str:
        """Return the workflow id of *child*, its id within this run; it is the same in all executions of the run."""
        return id_of_child(self._info.workflow_id, self._origin, child)

    async def run(self, call: SubflowCall, thread: dict[str, str]) -> JSON:
        """Run the sub-workflow, whose variables are those of *thread*; return its output.

        Raises UnknownDefinition if the run does not carry its definition.
        """
        if call.fire_and_forget:
            return await self._run(call, thread)
        with self._budget.waiting_for_child():
            return await self._run(call, thread)

    async def _run(self, call: SubflowCall, thread: dict[str, str]) -> JSON:
        parent = self._pin
        definitions = tuple(parent.definitions)
        definition = catalogue_of(definitions).find(call.workflow_id, call.version)
        handle: workflow.ChildWorkflowHandle[Any, Any] | None = None
        if not self.long_running.knows(call.id):
            numbers = await self._numbers_of(call)
            needed = reachable_from(call.workflow_id, call.version, definitions)
            pin = Pin(list(needed), call.version, StartRecord(numbers=numbers), semantics=parent.semantics)
            pin.lineage = Lineage(thread, parent.lineage.hops, is_part=True, first=self._first)
            pin.lineage.variables = dict(call.variables)
            if not call.fire_and_forget:
                pin.parts = self.parts_for_child()
            if parent.again is not None and call.id in parent.again.children:
                pin, call = parent.again.children.pop(call.id), replace(call, data=None)
            handle = await self._start(call.workflow_id, call, pin)
        if handle is not None and call.fire_and_forget:
            self._outgoing.detached(handle)
            if call.parent_close_policy == "terminate":
                self._ending_with_this.append(handle)
            return None
        try:
            return await self._result(call, handle)
        except ChildWorkflowError as error:
            raise fault_of_child(
                error,
                call.workflow_id,
                cancelled=definition.cancellation(by_parent=False),
                state_word=definition.words.state,
            ) from None

    async def call(self, call: FunctionCall, source: str) -> JSON:
        """Make a call that survives continue-as-new, in a separate workflow, and return its result."""
        handle: workflow.ChildWorkflowHandle[Any, Any] | None = None
        if not self.long_running.knows(call.id):
            handle = await self._start(call.function.name, *self._alone(call, source))
        try:
            return await self._result(call, handle)
        except ChildWorkflowError as error:
            raise fault_of_call(error, call.action) from None

    async def _result(
        self, call: FunctionCall | SubflowCall, handle: "workflow.ChildWorkflowHandle[Any, Any] | None"
    ) -> JSON:
        """Return the result of a child; *handle* is None if an earlier execution started it."""
        number = self._outgoing.begun(call.id, is_long_running=call.long_wait is not None)
        try:
            if handle is not None and call.long_wait is None:
                return await output_of(handle)
            if handle is not None:
                self.long_running.begun(call, handle)
            return await self.long_running.result(call)
        finally:
            self._outgoing.ended(number)
            self._budget.waited()

    async def detach(self, call: FunctionCall, source: str) -> None:
        """Run a fire-and-forget call in a separate workflow: an activity would end with this one."""
        self._outgoing.detached(await self._start(call.function.name, *self._alone(call, source)))

    def _alone(self, call: FunctionCall, source: str) -> tuple[SubflowCall, Pin]:
        """Return the sub-workflow that makes *call* and nothing else, and its pin."""
        record = record_of(call, source)
        if call.long_wait is not None:
            record.owner = OwnerRecord(self._info.workflow_id, self._info.first_execution_run_id)
        lineage = Lineage(is_part=True, first=self._first)
        pin = Pin(self._pin.definitions, call=record, lineage=lineage, semantics=self._pin.semantics)
        child = SubflowCall(
            id=call.id,
            workflow_id=call.function.name,
            version=None,
            data=None,
            state=call.state,
            action=call.action,
            priority=call.priority,
            long_wait=call.long_wait,
            fire_and_forget=call.fire_and_forget,
            parent_close_policy="abandon",
        )
        return child, pin

    async def _numbers_of(self, call: SubflowCall) -> dict[str, int]:
        """Return the sub-workflow's share of the budget. Raises WorkflowFault if it is used up."""
        budget = self._budget
        if call.fire_and_forget:
            if budget.asks_for_executions:
                budget.check_executions(await self._limits())
            return budget.of_detached()
        if budget.asks_for_depth:
            budget.check_depth(await self._limits())
        spread = budget.spread(call.workflow_id)
        if budget.asks_for_descendants(spread):
            budget.check_descendants(call.workflow_id, spread, await self._limits())
        return budget.of_child(spread)

    async def _start(self, workflow_type: str, call: SubflowCall, pin: Pin) -> "workflow.ChildWorkflowHandle[Any, Any]":
        data, record = self._outgoing.written(call.data), self._written(pin)
        await self._outgoing.in_turn(data, record, starts_child=True)
        check_together([len(data.data), len(record.data)], self._outgoing.limit)
        policy = ParentClosePolicy.REQUEST_CANCEL
        if call.fire_and_forget or call.long_wait is not None:
            policy = _CLOSE_POLICIES[call.parent_close_policy]
        child: workflow.ChildWorkflowHandle[Any, Any] | None = None

        @heeding_cancellation
        async def start() -> "workflow.ChildWorkflowHandle[Any, Any]":
            nonlocal child
            child = await workflow.start_child_workflow(
                workflow_type,
                args=[RawValue(data), RawValue(record)],
                id=self.id_of(call.id),
                execution_timeout=call.timeout,
                id_reuse_policy=self._reuse,
                parent_close_policy=policy,
                cancellation_type=ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
                memo=call.request or None,
                **child_facts(call),
            )
            return child

        try:
            with self._outgoing.starting():
                return await start()
        except FailureError as error:
            raise fault_of_start(error, workflow_type) from None
        except asyncio.CancelledError:
            if child is not None:  # the SDK has waited for its start, and has asked only its first execution to cancel
                await ask_to_cancel(child.id)
                if not call.fire_and_forget:
                    await end_of(child)
            raise

    def _written(self, pin: Pin) -> Payload:
        """Return the payload of *pin*; sub-workflows of the same kind share one."""
        if self._latest is None or self._latest[0] != pin:
            self._latest = pin, self._outgoing.written(pin.to_json())
        return self._latest[1]


async def output_of(child: "workflow.ChildWorkflowHandle[Any, T]") -> T:
    """Return the result of *child*. If the waiting path is cancelled, cancel the child and wait until it has ended.

    Raises ChildWorkflowError if it does not complete.
    """
    try:
        await end_of(child)
    except asyncio.CancelledError:
        await ask_to_cancel(child.id)
        await end_of(child)
        raise
    return child.result()


@of_definitions
def reachable_from(workflow_id: str, version: str | None, definitions: tuple[Pinned, ...]) -> tuple[Pinned, ...]:
    """Return the part of *definitions* that an instance of *workflow_id*, which is one of them, may need."""
    catalogue = catalogue_of(definitions)
    sources = [one.source for one in catalogue.with_reachable(catalogue.find(workflow_id, version))]
    needed = {(source.text, source.name) for source in sources}
    return tuple(one for one in definitions if (one.text, one.name) in needed)
