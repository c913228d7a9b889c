"""The arguments of the next execution of a run, when this one continues as new.

A call that a run waits for ends with the run, however that ends. The server does not ensure it, since the workflow of
such a call has to survive the execution that started it. So it checks from time to time whether the run has ended.

Attempts at an activity of another worker may each add to the history. Such a workflow continues as new between two of
them when its history has become long, as any other run does.
"""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final, NamedTuple, NoReturn, Self

from temporalio import workflow
from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue
from temporalio.exceptions import ActivityError, ApplicationError
from temporalio.exceptions import CancelledError as EngineCancelled
from temporalio.workflow import ActivityCancellationType

from swf_temporal.base.accounting import json_size
from swf_temporal.base.data import JSON
from swf_temporal.base.records import nested
from swf_temporal.runtime.host import Attempts, CallAttempts, ContinuedAs, Timer
from swf_temporal.runtime.joining import MISSING, within
from swf_temporal.runtime.performing import ONE_RUN
from swf_temporal.runtime.progress import Front
from swf_temporal.runtime.run import Run
from swf_temporal.temporal import summaries
from swf_temporal.temporal.call_records import CallRecord, OwnerRecord, call_of
from swf_temporal.temporal.constants import ENDING
from swf_temporal.temporal.converter import limit_of
from swf_temporal.temporal.endings import ATTEMPT, POLICY, AwaitedRecord
from swf_temporal.temporal.host import TemporalHost
from swf_temporal.temporal.outgoing import check_fits
from swf_temporal.temporal.records import Pin, StartRecord, origin_of


class Carried(NamedTuple):
    """A run, as carried over to its next execution."""

    progress: dict[str, Any]
    pin: Pin
    record: RawValue
    """The record for the next execution."""
    parts: list[RawValue]
    """The parts that are passed beside the record, since they do not change."""
    size: int
    """The size of the record, in bytes."""
    most: int
    """The size limit of one payload."""

    def begin(self) -> NoReturn:
        workflow.continue_as_new(args=[None, self.record, *self.parts], initial_versioning_behavior=_onto())


def carried(run: Run, pin: Pin, host: TemporalHost, **facts: Any) -> Carried:
    """Return what *run* carries over, including events received since it was suspended. *facts* are other pin fields.

    These include the records of its parts.
    """
    progress = host.with_budget(run.progress())
    numbers = [part for front in nested(run.execution.frame, Front) for part in front.parts]
    parts = [RawValue(payload) for payload in host.parts.of(numbers)] if numbers else []
    if numbers:
        progress = {**progress, "parts": numbers}
    following = _following(pin, progress=progress, outlasting=host.long_running.records(), **facts)
    payload, size, most = Written.of(following.to_json())
    return Carried(progress, following, RawValue(payload), parts, size, most)


def begin_other(to: ContinuedAs, run: Run, pin: Pin, host: TemporalHost, parts: dict[str, JSON]) -> NoReturn:
    """Continue as the definition that *to* names, with the events that were not taken yet."""
    following = _following(
        pin,
        version=to.version,
        start=StartRecord(
            inbox=run.inbox.record(), numbers=host.budget.over(run.numbers, host.budget.of_next()), limit=to.limit
        ),
        again=None,
        parts=parts,
    )
    args = [checked(to.data), checked(following.to_json())]
    workflow.continue_as_new(workflow=to.workflow_id, args=args, initial_versioning_behavior=_onto())


def continue_call(record: CallRecord, pin: Pin) -> NoReturn:
    """Start the next execution of a workflow that makes the call of *record* and nothing else."""
    following = checked(replace(pin, call=record).to_json())
    workflow.continue_as_new(args=[None, following], initial_versioning_behavior=_onto())


class Written(NamedTuple):
    """A value as it is sent."""

    payload: Payload
    """Empty if the value is larger than the limit."""
    size: int
    """Its size in bytes; about that if it is larger than the limit."""
    most: int
    """The limit."""

    @classmethod
    def of(cls, value: Any) -> Self:
        converter = workflow.payload_converter()
        most = limit_of(converter)
        if (least := json_size(value)) > most:
            return cls(Payload(), least, most)
        payload = converter.to_payload(value)
        return cls(payload, len(payload.data), most)

    def checked(self) -> RawValue:
        """Return it ready to be sent, if it fits into one payload. Raises PayloadTooLarge."""
        check_fits(self.size, ONE_RUN, self.most)
        return RawValue(self.payload)


def checked(value: Any) -> RawValue:
    """Return *value* ready to be sent, if it fits into one payload. Raises PayloadTooLarge."""
    return Written.of(value).checked()


def _following(pin: Pin, **changes: Any) -> Pin:
    """Return the pin of the next execution of *pin*'s run: with these *changes*, but no start, progress or children."""
    first = pin.lineage.first or workflow.info().run_id
    lineage = replace(pin.lineage, first=first, origin=origin_of(pin))
    of_the_run = replace(pin, start=StartRecord(), progress=None, call=None, lineage=lineage, outlasting={})
    return replace(of_the_run, **changes)


def _onto() -> workflow.ContinueAsNewVersioningBehavior | None:
    """Return the versioning rule of the next execution, if the workers have versions of a deployment.

    A pinned run that continues as new moves to the current version: any version can read what it carries.
    """
    if workflow.info().is_target_worker_deployment_version_changed():
        return workflow.ContinueAsNewVersioningBehavior.AUTO_UPGRADE
    return None


WATCH_AFTER: Final = timedelta(minutes=1)
"""The time in progress after which a call checks for the run that waits for it: most calls end before."""


async def make_call(record: CallRecord, host: TemporalHost, *, watches: bool) -> JSON:
    """Make the call of *record*, and return its result. Raises an error if the run that waits for it has ended."""
    name = workflow.info().workflow_type
    call = replace(call_of(record, activity_id=name, state=name), attempts=_attempts(record, host.pin))
    if record.owner is None or not watches:
        return await host.invoke(call)
    result = await within(host.invoke(call), _end_of(record.owner))
    if result is MISSING:
        raise ApplicationError("the run that waited for this call has ended", type="NotAwaited", non_retryable=True)
    return result


async def _end_of(owner: OwnerRecord) -> None:
    """Wait until the run that waits for the call has ended."""
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
    """Return the attempts at the call of *record*, with their storage; *pin* is what the workflow was started with."""
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
