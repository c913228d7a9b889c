"""Workflows that make one call and nothing else: one that was invoked `async`, or one that may outlast an execution.

One that a run waits for ends with the run, however that ends: the server does not see to it, since such a workflow has
to survive the execution that began it. So it looks from time to time whether the run has ended.

Attempts at an activity of another worker may each add to the history. Such a workflow continues as new between two of
them when its history has become long, as any other run does.
"""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Final

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError
from temporalio.exceptions import CancelledError as EngineCancelled
from temporalio.workflow import ActivityCancellationType

from swf_temporal.base.data import JSON
from swf_temporal.runtime.host import Attempts, CallAttempts, Timer
from swf_temporal.runtime.joining import MISSING, within
from swf_temporal.temporal import summaries
from swf_temporal.temporal.call_records import CallRecord, OwnerRecord, call_of
from swf_temporal.temporal.constants import ENDING
from swf_temporal.temporal.endings import ATTEMPT, POLICY, AwaitedRecord
from swf_temporal.temporal.host import TemporalHost
from swf_temporal.temporal.next_execution import continue_call
from swf_temporal.temporal.records import Pin

WATCH_AFTER: Final = timedelta(minutes=1)
"""How long a call is under way before the run that waits for it is looked for: most calls end before."""


async def make_call(record: CallRecord, host: TemporalHost, *, watches: bool) -> JSON:
    """Make the call of *record*, and return its result. Raises an error where the run that waits for it has ended."""
    name = workflow.info().workflow_type
    call = replace(call_of(record, activity_id=name, state=name), attempts=_attempts(record, host.pin))
    if record.owner is None or not watches:
        return await host.invoke(call)
    result = await within(host.invoke(call), _end_of(record.owner))
    if result is MISSING:
        raise ApplicationError("the run that waited for this call has ended", type="NotAwaited", non_retryable=True)
    return result


async def _end_of(owner: OwnerRecord) -> None:
    """Wait until the run has ended that waits for the call."""
    await workflow.sleep(WATCH_AFTER, summary=summaries.LOOKING_FOR_CALLER)
    awaited = AwaitedRecord(owner.id, owner.run, workflow.now().timestamp(), brief=True)
    try:
        await workflow.execute_activity(
            ENDING,
            args=[awaited.to_json()],
            start_to_close_timeout=ATTEMPT,
            retry_policy=POLICY,
            cancellation_type=ActivityCancellationType.TRY_CANCEL,
            summary=summaries.LOOKING_FOR_CALLER,
        )
    except ActivityError as error:
        if isinstance(error.cause, EngineCancelled):
            raise asyncio.CancelledError from None
        raise


def _attempts(record: CallRecord, pin: Pin) -> Attempts:
    """Return how attempts at the call of *record* are kept; *pin* is what the workflow was started with."""
    latest = record.attempts

    def keep(made: CallAttempts) -> None:
        nonlocal latest
        latest = made

    async def pause(until: float, timer: Timer) -> None:
        if latest is not None and workflow.info().is_continue_as_new_suggested():
            continue_call(replace(record, attempts=latest), pin)
        await _pause(until, timer)

    return Attempts(record.attempts, keep, pause)


async def _pause(until: float, timer: Timer) -> None:
    remaining = until - workflow.now().timestamp()
    if remaining > 0:
        await workflow.sleep(timedelta(seconds=remaining), summary=summaries.of_timer(timer))
