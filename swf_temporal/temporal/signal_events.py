"""The events that signals and updates carry, and whether the definition ever takes such an event."""

from collections.abc import Mapping
from typing import Any

from temporalio.exceptions import ApplicationError

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.base.grammar import counted
from swf_temporal.events.routing import never_taken
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.port import Definition
from swf_temporal.runtime.correlation import DEFAULT_SOURCE, is_like
from swf_temporal.runtime.run import Run
from swf_temporal.temporal.constants import AWAITED, EVENT, EVENT_REFUSED
from swf_temporal.text.suggestions import did_you_mean


class NotTakenError(ValueError):
    """An event that an instance never takes; the message continues after the id of the instance."""

    def __init__(self, reason: str, hint: str | None = None) -> None:
        self.hint = hint
        super().__init__(reason)


class NoRoomError(Exception):
    """An event that an instance cannot keep now, but may take later; the message continues after its id."""


def event_of_signal(name: str, value: JSON, definition: Definition) -> CloudEvent:
    """Return the event that the signal *name* carries.

    `event` carries a CloudEvent. A signal named after an event definition, or after the type of one, carries the
    event's data; since it was sent to this very instance, it need not carry the attributes that correlate it. A
    CloudEvent is taken as one under any name. Raises ValueError saying what is wrong.
    """
    if name == EVENT or (isinstance(value, dict) and {"specversion", "type"} <= value.keys()):
        if not isinstance(value, dict):
            raise ValueError("it does not carry a CloudEvent, which is a JSON object")
        return CloudEvent.from_json(value)
    meant = next((event for event in definition.events if event.name == name), None)
    if meant is None:
        meant = next((event for event in definition.events if event.type == name), None)
    if meant is None:
        known = ", ".join(event.name for event in definition.events) or "none"
        raise ValueError(f"the workflow defines no event of that name; it defines {known}")
    return CloudEvent(
        id="",
        source=meant.source or DEFAULT_SOURCE,
        type=meant.type or meant.name,
        data=value,
        is_addressed=True,
    )


def check_form(event: Any) -> None:
    """Raise NotTakenError unless *event* is a CloudEvent, or has the `name` of an event and its `data`."""
    if not isinstance(event, dict):
        raise NotTakenError("takes CloudEvents, and this is not a JSON object")
    name = _name_in(event)
    if name is not None and not isinstance(name, str):
        raise NotTakenError("takes no event whose 'name' is not a text")
    if name is None:
        try:
            CloudEvent.from_json(event)
        except ValueError as error:
            raise NotTakenError(f"takes CloudEvents, and this is not one: {error}") from None


def event_of_update(event: Any, definition: Definition) -> CloudEvent:
    """Return the event that an update carries. Raises NotTakenError."""
    check_form(event)
    name = _name_in(event)
    if name is None:
        return CloudEvent.from_json(event)
    if all(name not in (one.name, one.type) for one in definition.events):
        names = [one.name for one in definition.consumed_events]
        raise NotTakenError(f"has no event called {name!r}", _question(name, names, "events called"))
    return event_of_signal(name, event.get("data"), definition)


def refuse_unawaited(given: Mapping[str, Any], event: CloudEvent, run: Run) -> None:
    """Raise NotTakenError if *given* must be taken at once, and nothing waits for *event* now."""
    if given.get(AWAITED) is True and _name_in(given) is not None and not run.awaits(event):
        raise NotTakenError(f"does not wait for the event {given['name']!r} now", "`swf tasks` lists what is awaited")


def refuse_never_taken(event: CloudEvent, workflow: Definition, catalogue: Catalogue) -> None:
    """Raise NotTakenError if neither *workflow* takes events like *event*, nor one that it may continue as.

    If it cannot know, because *catalogue* lacks a definition, the event is not refused.
    """
    continued = list(catalogue.continuations(workflow))
    if any(one is None for one in continued):
        return
    definitions = (workflow, *filter(None, continued))
    consumed = [(one, each) for each in definitions for one in each.consumed_events]
    reasons = [never_taken(event, one, each) for one, each in consumed if is_like(one, event)]
    if None in reasons:
        return
    if reasons:
        raise NotTakenError(
            f"never takes this event of type {event.type!r}: {' and '.join(dict.fromkeys(filter(None, reasons)))}",
            "correct its attributes, or send it by its name in the definition, which needs none",
        )
    sources = sorted({one.source for one, _ in consumed if one.type == event.type and one.source})
    if sources:
        wanted = " or ".join(map(repr, sources))
        raise NotTakenError(
            f"takes events of type {event.type!r} whose source is {wanted} only, and this one's is {event.source!r}"
        )
    if any(is_like(one, event) for each in definitions for one in each.events if one.kind == "produced"):
        raise NotTakenError(f"produces events of type {event.type!r} and takes none")
    types = sorted({one.type for one, _ in consumed if one.type})
    raise NotTakenError(
        f"takes no event of type {event.type!r}", _question(event.type, types, "events of these types:")
    )


def refused(reason: str, hint: str | None = None) -> ApplicationError:
    """Return the failure of an update without a valid event, or with one that is never taken."""
    return ApplicationError(reason, *([] if hint is None else [hint]), type=EVENT_REFUSED)


def refuse_more(event: CloudEvent, run: Run, most: int) -> None:
    """Raise NoRoomError if *run* would have to keep *event*, and already keeps events of *most* bytes."""
    inbox = run.inbox
    if inbox.size >= most and not run.awaits(event):
        raise NoRoomError(
            f"keeps {counted(len(inbox.kept), 'event')} that no state has taken yet, {inbox.size:,} bytes in all; "
            "it keeps no more until some are taken"
        )


def _name_in(event: Mapping[str, Any]) -> Any:
    return event["name"] if "type" not in event and "name" in event else None


def _question(word: str, known: list[str], which: str) -> str:
    return did_you_mean(word, known) or (f"it takes {which} {', '.join(known)}" if known else "it takes no events")
