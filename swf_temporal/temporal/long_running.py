"""Children that survive the continue-as-new of their parent.

Theory of operation. An activity ends with its execution, and an execution's knowledge of its children is lost with it.
So a long-running call is made in a separate child workflow, and such a child, like a long-running sub-workflow, is
abandoned when its parent closes. While the parent stays in its execution, it waits for the child as for any other. The
next execution gets the list of children in progress from the run's record. It waits for each by an activity that checks
whether the child has ended (`temporal/endings.py`), and passes the outcome to the run as the engine would have.

What the engine does for children that are not abandoned when a parent closes is done here: a path that is cancelled
asks its child to cancel, and a run that ends asks those for which no path has resumed waiting.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from temporalio import workflow
from temporalio.exceptions import ActivityError, ChildWorkflowError, FailureError
from temporalio.workflow import ActivityCancellationType

from swf_temporal.base.data import JSON
from swf_temporal.runtime.host import FunctionCall, SubflowCall
from swf_temporal.runtime.joining import SuspendRequested, end_of
from swf_temporal.temporal.call_records import activity_facts
from swf_temporal.temporal.constants import ENDING
from swf_temporal.temporal.endings import ATTEMPT, POLICY, AwaitedRecord, EndingRecord, cause_of


async def ask_to_cancel(child_id: str) -> None:
    """Ask a child to cancel, whichever of its executions is running now.

    The SDK asks only the execution that was started: a child that has continued as new would never get the request.
    """
    with suppress(FailureError):  # it has ended
        await workflow.get_external_workflow_handle(child_id).cancel()


@dataclass(slots=True)
class _Child:
    record: AwaitedRecord
    handle: "workflow.ChildWorkflowHandle[Any, Any] | None" = None
    """None for a child that an earlier execution started."""
    looking: "asyncio.Future[dict[str, Any]] | None" = None
    """The activity that waits for its end."""


class LongRunningChildren:
    def __init__(self, records: Mapping[str, AwaitedRecord]) -> None:
        self._children = {call_id: _Child(record) for call_id, record in records.items()}

    def records(self) -> dict[str, AwaitedRecord]:
        """Return the records of the children in progress, for the next execution."""
        return {call_id: child.record for call_id, child in self._children.items()}

    def knows(self, call_id: str) -> bool:
        """Return whether the child of that call is in progress."""
        return call_id in self._children

    def begun(self, call: FunctionCall | SubflowCall, handle: "workflow.ChildWorkflowHandle[Any, Any]") -> None:
        """Record the child of *call* as in progress."""
        run, since = str(handle.first_execution_run_id), workflow.now().timestamp()
        record = AwaitedRecord(handle.id, run, since, call=isinstance(call, FunctionCall))
        self._children[call.id] = _Child(record, handle)

    async def result(self, call: FunctionCall | SubflowCall) -> JSON:
        """Return the result of the child of *call*. Raises ChildWorkflowError if it does not complete.

        A suspension only ends the wait. If the waiting path is cancelled, the child is asked to cancel.
        """
        child = self._children[call.id]
        is_suspended = False
        try:
            return await (self._of_this(call, child) if child.handle else self._of_earlier(call, child))
        except SuspendRequested:
            is_suspended = True
            raise
        finally:
            if not is_suspended:
                self._children.pop(call.id, None)

    async def end(self) -> None:
        """Ask the children still in progress to cancel: the run ends, and no path has resumed waiting for them."""
        children, self._children = self._children, {}
        for child in children.values():
            await self._cancel(child)

    async def _of_this(self, call: FunctionCall | SubflowCall, child: _Child) -> JSON:
        assert call.long_wait is not None  # noqa: S101 - for the type checker
        assert child.handle is not None  # noqa: S101 - as above
        try:
            return await call.long_wait(child.handle)  # type: ignore[no-any-return]  # JSON, as the child returns it
        except asyncio.CancelledError:
            await ask_to_cancel(child.handle.id)
            await end_of(child.handle)
            raise

    async def _of_earlier(self, call: FunctionCall | SubflowCall, child: _Child) -> JSON:
        assert call.long_wait is not None  # noqa: S101 - for the type checker
        looking = child.looking = child.looking or self._look(call, child.record)
        try:
            ending = EndingRecord.from_json(await call.long_wait(looking))
        except asyncio.CancelledError:
            await self._cancel(child)
            if isinstance(call, SubflowCall):
                with suppress(ActivityError):
                    await self._look(call, replace(child.record, since=workflow.now().timestamp()))
            raise
        return self._output(call, child.record, ending)

    def _look(self, call: FunctionCall | SubflowCall, record: AwaitedRecord) -> "asyncio.Future[dict[str, Any]]":
        """Begin to wait for the end of a child that this execution did not start."""
        return workflow.start_activity(
            ENDING,
            args=[record.to_json()],
            result_type=dict,
            start_to_close_timeout=ATTEMPT,
            retry_policy=POLICY,
            cancellation_type=ActivityCancellationType.TRY_CANCEL,
            **activity_facts(call),
        )

    async def _cancel(self, child: _Child) -> None:
        """Ask a child to cancel, and stop waiting for its end."""
        if child.looking is not None:
            child.looking.cancel()
            with suppress(ActivityError, asyncio.CancelledError):
                await child.looking
        await ask_to_cancel(child.record.id)

    def _output(self, call: FunctionCall | SubflowCall, record: AwaitedRecord, ending: EndingRecord) -> JSON:
        """Return the output of a child that has ended. Raises ChildWorkflowError, as the engine does, without one."""
        cause = cause_of(ending)
        if cause is None:
            return ending.output
        error = ChildWorkflowError(
            "Child Workflow execution failed",
            namespace=workflow.info().namespace,
            workflow_id=record.id,
            run_id=record.run,
            workflow_type=call.function.name if isinstance(call, FunctionCall) else call.workflow_id,
            initiated_event_id=0,
            started_event_id=0,
            retry_state=None,
        )
        raise error from cause
