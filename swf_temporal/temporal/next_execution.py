"""The arguments of the next execution of a run, when this one continues as new."""

from dataclasses import replace
from typing import Any, NamedTuple, NoReturn

from temporalio import workflow
from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue

from swf_temporal.base.data import JSON
from swf_temporal.base.records import nested
from swf_temporal.base.weighing import json_size
from swf_temporal.runtime.host import ContinuedAs
from swf_temporal.runtime.outputs import Front
from swf_temporal.runtime.performing import ONE_RUN
from swf_temporal.runtime.run import Run
from swf_temporal.temporal.call_records import CallRecord
from swf_temporal.temporal.converter import limit_of
from swf_temporal.temporal.first_runs import origin_of
from swf_temporal.temporal.host import TemporalHost
from swf_temporal.temporal.records import Pin, StartRecord
from swf_temporal.temporal.sizes import check_fits


class Carried(NamedTuple):
    """A run as it goes on in another execution."""

    progress: dict[str, Any]
    pin: Pin
    record: RawValue
    """What the next execution is to know."""
    parts: list[RawValue]
    """What stands beside the record, since it does not change."""
    size: int
    """The size of the record, in bytes."""
    most: int
    """What one payload holds."""

    def begin(self) -> NoReturn:
        workflow.continue_as_new(args=[None, self.record, *self.parts], initial_versioning_behavior=_onto())


def carried(run: Run, pin: Pin, host: TemporalHost, **facts: Any) -> Carried:
    """Return what *run* goes on with, with events that came since it was suspended. *facts* are others of the pin.

    These include what its parts carry over.
    """
    progress = host.with_budget(run.progress())
    numbers = [part for front in nested(run.execution.frame, Front) for part in front.parts]
    parts = [RawValue(payload) for payload in host.parts.of(numbers)] if numbers else []
    if numbers:
        progress = {**progress, "parts": numbers}
    following = _following(pin, progress=progress, outlasting=host.outlasting.records(), **facts)
    payload, size, most = _written(following.to_json())
    return Carried(progress, following, RawValue(payload), parts, size, most)


def begin_other(to: ContinuedAs, run: Run, pin: Pin, host: TemporalHost, parts: dict[str, JSON]) -> NoReturn:
    """Start the execution that the definition asks for, with the events that were not taken yet."""
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


def checked(value: Any) -> RawValue:
    """Return *value* as it is sent, if one payload holds it. Raises PayloadTooLarge."""
    payload, size, most = _written(value)
    check_fits(size, ONE_RUN, most)
    return RawValue(payload)


def _written(value: Any) -> tuple[Payload, int, int]:
    """Return the payload of *value*, its size, and what one holds: an empty one and about its size if that is less."""
    converter = workflow.payload_converter()
    most = limit_of(converter)
    if (least := json_size(value)) > most:
        return Payload(), least, most
    payload = converter.to_payload(value)
    return payload, len(payload.data), most


def _following(pin: Pin, **changes: Any) -> Pin:
    """Return what the next execution of *pin*'s run has beside these *changes*: no beginning, progress or children."""
    first = pin.lineage.first or workflow.info().run_id
    lineage = replace(pin.lineage, first=first, origin=origin_of(pin))
    of_the_run = replace(pin, start=StartRecord(), progress=None, call=None, lineage=lineage, outlasting={})
    return replace(of_the_run, **changes)


def _onto() -> workflow.ContinueAsNewVersioningBehavior | None:
    """Return by which rule the next execution finds its workers, where they are of versions of a deployment.

    A pinned run that continues as new leaves its version for the current one: what it carries is readable by any.
    """
    if workflow.info().is_target_worker_deployment_version_changed():
        return workflow.ContinueAsNewVersioningBehavior.AUTO_UPGRADE
    return None
