"""The decision whether a worker accepts a run that brings its own definition.

A client that may start a workflow can bring a definition, and so choose what is called. A worker may accept only the
definitions that it serves itself. This is checked once, by a local activity, when a run begins, and the answer is in
the history. So an instance continues with the text that it began with, whatever its worker serves by then; and a
history without the check, of a worker without this setting, replays as it is.

Later executions of the run, and its sub-workflows, carry the result, and are not checked again. The engine identifies
these, so no client can pose as one: a client can write anything into the record of a run, but cannot make the run the
continuation or the child of another. Our mailboxes, which clients feed, start children, too. They make the records of
these themselves, without `inherited`, so such a child is checked.

An instance that an operator restarts begins in the middle. The worker itself finds out what it carries there.
"""

from dataclasses import fields
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError

from swf_temporal.base.errors import UnknownDefinition
from swf_temporal.temporal import summaries
from swf_temporal.temporal.instance_part import Part, operator_options
from swf_temporal.temporal.markers import is_recorded
from swf_temporal.temporal.records import CARRIED, LOOK_UP, NOT_CARRIED, Pin, Pinned, Wanted
from swf_temporal.text.origin import Source

_LIMIT = timedelta(seconds=30)
_CARRIED_LIMIT = timedelta(minutes=10)
"""The time limit for replaying a history."""
_ASKED = "known-definitions-only"
"""The marker in the history of a run whose definitions were checked."""
_HOW = "this worker runs only definitions that it serves (--known-definitions-only)"


class KnownDefinitions(Part):
    async def admit(self) -> None:
        """Check the definitions, if the worker is set to. Raises UnknownDefinition for one that it does not serve."""
        pin = self.instance.pin
        brings = bool(pin.definitions) or pin.call is not None or pin.progress is not None or _has_forged_parts(pin)
        # This worker's setting counts for a run that begins; otherwise the marker records that of its first worker.
        if brings and _begins(pin) and is_recorded(_ASKED, wanted=operator_options().only_known):
            await _check_known(pin)


async def _check_known(pin: Pin) -> None:
    """Have the worker look up the definitions of *pin*. Raises UnknownDefinition if it does not serve one of them.

    The worker also says where they were read from: documents are found relative to that.
    """
    if pin.again is not None and pin.call is None:
        await _find_carried(pin, pin.again.wanted)
    elif pin.call is not None or pin.progress is not None or _has_forged_parts(pin):
        what = "one call of a function" if pin.call is not None else "the middle of a run"
        raise UnknownDefinition(f"a run cannot begin with {what}: {_HOW}")
    digests = [Source(one.text, one.name).digest for one in pin.definitions]
    names = await workflow.execute_local_activity(
        LOOK_UP,
        args=[digests],
        result_type=list[str | None],
        start_to_close_timeout=_LIMIT,
        summary=summaries.ASKING_FOR_SERVED,
    )
    known = []
    for one, digest, name in zip(pin.definitions, digests, names, strict=True):
        if name is None:
            raise UnknownDefinition(
                f"the definition sent with the input as {one.name!r} (SHA-256 {digest[:12]}…) is not served here, "
                f"and {_HOW}; start the instance by the id of its definition, or serve exactly this text"
            )
        known.append(Pinned(one.text, name, digest))
    pin.definitions = known


async def _find_carried(pin: Pin, wanted: Wanted) -> None:
    """Fill *pin* with what the instance carried by its history, whatever the restarting client wrote."""
    try:
        found = await workflow.execute_activity(
            CARRIED,
            args=[wanted.to_json()],
            result_type=dict,
            start_to_close_timeout=_CARRIED_LIMIT,
            summary=summaries.FINDING_CARRIED,
        )
    except ActivityError as error:
        if isinstance(error.cause, ApplicationError) and error.cause.type == NOT_CARRIED:
            raise UnknownDefinition(f"the instance cannot continue: {error.cause.message}; {_HOW}") from None
        raise
    carried = Pin.from_json(found)
    for one in fields(pin):
        setattr(pin, one.name, getattr(carried, one.name))


def _has_forged_parts(pin: Pin) -> bool:
    """Tell whether a client wrote what the parts of an instance carry; mailboxes write it for their children."""
    return bool(pin.parts) and workflow.info().parent is None


def _begins(pin: Pin) -> bool:
    """Return whether the run begins here, as opposed to continuing another execution of ours.

    The engine itself restarts a run, with the same input, by its own retries and by cron.
    """
    info = workflow.info()
    is_given_on = info.continued_run_id is not None and info.attempt == 1 and not info.cron_schedule
    is_part = info.parent is not None and pin.lineage.is_part
    return not is_part and not is_given_on
