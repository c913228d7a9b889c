"""Sending events to the instances that they start, and to those that wait for them."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.errors import DefinitionsUnavailable, UsageError
from swf_temporal.events.routing import Route, hops_of, route
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.port import Definition
from swf_temporal.operations.client import Client
from swf_temporal.operations.event_recipients import Recipients
from swf_temporal.settings.values import MAX_HOPS
from swf_temporal.temporal.event_dispatch import Receipt, dispatch, send_to
from swf_temporal.temporal.tracing import sent


def latest_of(catalogue: Catalogue) -> list[Definition]:
    """Return the definitions among which events are routed: the latest version of each id."""
    return [catalogue.find(each) for each in dict.fromkeys(one.id for one in catalogue)]


@dataclass(frozen=True, slots=True)
class RoutesReply:
    """A server's answer about the instances that would get an event, or why no server was asked."""

    address: str | None = None
    """The server that answered; None if none was asked."""
    recipients: Recipients = field(default_factory=Recipients)
    reason: str | None = None
    """Why no server was asked."""


def facts_of(event: CloudEvent, route: Route, asked: RoutesReply) -> dict[str, Any]:
    """Return as JSON the route of *event*, and the instances that a server reported; null if none was asked."""
    was_queried = asked.address is not None
    return {
        "event": {"id": event.id, "source": event.source, "type": event.type},
        "starts": [
            {
                **_facts(one.definition, one.event),
                "key": None if one.key is None else dict(one.key),
                "instance": one.instance_id,
                "needs": [each.name for each in one.start.events] if one.start.join == "all" else [one.event],
            }
            for one in route.starts
        ],
        "awaited": [
            {
                **_facts(one.definition, one.event),
                "key": None if one.key is None else dict(one.key),
                "values": dict(one.values),
                "instance": one.instance_id,
            }
            for one in route.awaited
        ],
        "passed": [{**_facts(one.definition, one.event), "reason": one.reason} for one in route.passed],
        "server": {"address": asked.address, "asked": was_queried, "reason": asked.reason},
        "instances": [one.facts() for one in asked.recipients.instances] if was_queried else None,
        "notes": asked.recipients.notes,
    }


def text_of(event: CloudEvent, route: Route, asked: RoutesReply) -> str:
    """Return the route of *event* for people, a line for each definition and for each instance."""
    return "\n".join([*_route_lines(event, route), *_server_lines(route, asked)])


def _server_lines(route: Route, asked: RoutesReply) -> list[str]:
    if route.leads_nowhere:
        return []
    if asked.address is None:
        return [f"no server was queried for the instances that get it: {asked.reason}"]
    found = asked.recipients
    server = f"on the server at {asked.address}"
    lines = [f"{server}:" if found.instances else f"no instances {server}"]
    gets = {True: "gets it", False: "does not get it"}
    lines += [f"  {one.instance} {gets[one.gets]}: {one.reason}" for one in found.instances]
    return [*lines, *(f"  {note}" for note in found.notes)]


def _route_lines(event: CloudEvent, route: Route) -> list[str]:
    lines = []
    for start in route.starts:
        known = f", which is {start.instance_id}" if start.instance_id is not None else ""
        others = [repr(one.name) for one in start.start.events if one.name != start.event]
        needs = f", together with {' and '.join(others)}" if start.start.join == "all" else ""
        which = "an instance" if start.key is None else f"the instance with {_text_of(start.key)}"
        lines.append(f"starts {which} of {start.definition.id!r}{known}, as its event {start.event!r}{needs}")
    for one in route.awaited:
        if one.key is None:
            which = f"all running instances of {one.definition.id!r}"
        elif one.instance_id is None:
            which = f"the instances of {one.definition.id!r} that wait for it with {_text_of(one.values)}"
        else:
            which = f"the instance with {_text_of(one.key)} of {one.definition.id!r}, which is {one.instance_id}"
        lines.append(f"may be taken by {which}, as its event {one.event!r}")
    lines += [f"is ignored by {_place(one.definition, one.event)}: {one.reason}" for one in route.passed]
    if route.leads_nowhere:
        lines.insert(0, f"no definition consumes the event of type {event.type!r}")
    return lines


def _facts(definition: Definition, event: str | None) -> dict[str, Any]:
    return {"definition": definition.id, "version": definition.version, "event": event}


def _place(definition: Definition, event: str | None) -> str:
    return repr(definition.id) if event is None else f"{definition.id!r} as its event {event!r}"


def _text_of(key: Mapping[str, str]) -> str:
    return " and ".join(_pairs(key.items())) or "any values"


def _pairs(items: Iterable[tuple[str, str]]) -> list[str]:
    return [f"{name}={value}" for name, value in items]


INSTANCE: Final = "swfinstance"
"""The extension attribute by which an event names an instance, where the operator allows it."""

_log = logging.getLogger("swf.events")


async def send(  # noqa: PLR0913 - options of sending, most of them optional
    client: Client,
    event: CloudEvent,
    catalogue: Catalogue,
    task_queue: str,
    *,
    found: Route | None = None,
    instance: str | None = None,
    trusts_instance: bool = False,
    max_hops: int = MAX_HOPS,
) -> list[Receipt]:
    """Send *event* to the instances that it starts or reaches by *catalogue*; return a receipt for each.

    The server has it then; no worker has to run. Instances run the text that the catalogue has now. *found* is the
    route of the event, if it is known already. *instance* is the id of an additional recipient; where the sender may
    choose any instance (*trusts_instance*), the event may name it by its attribute `swfinstance`. An event does not
    reach a definition that it would start if that would be the next instance of a chain of *max_hops*.
    Raises UsageError if the event has no id, is too large, or is refused by the server, and DefinitionsUnavailable if
    it has no recipient, but some definitions could not be read.
    """
    if not event.id:
        raise UsageError(
            f"the event of type {event.type!r} has no id",
            "an event with an id and a source is taken once, however often it is sent",
        )
    named = instance
    if named is None and trusts_instance:
        attribute = event.attribute(INSTANCE)
        named = attribute if isinstance(attribute, str) and attribute else None
    found, stopped = within_chain(event, found or route(event, latest_of(catalogue)), max_hops)
    if stopped:
        names = ", ".join(stopped)
        _log.error("the event %r of type %r does not reach %s: %s", event.id, event.type, names, why_stopped(event))
    with sent(event):
        receipts = [] if named is None else [await send_to(client.temporal, event, named)]
        receipts += [Receipt(one, "stopped") for one in stopped]
        dispatched = await dispatch(
            client.temporal, event, found, catalogue.with_reachable, task_queue, named, client.mailbox_locks
        )
    receipts += dispatched
    if dispatched:
        await client.warn_if_unserved(task_queue)
    if catalogue.unreadable is not None and not any(map(is_sent, receipts)):
        raise DefinitionsUnavailable(catalogue.unreadable)
    return receipts


def within_chain(event: CloudEvent, found: Route, max_hops: int = MAX_HOPS) -> tuple[Route, list[str]]:
    """Return *found* without the definitions at which the chain of instances would get too long, and their ids.

    The event then starts nothing, and instances do not get it, either: left in a mailbox, it would start another.
    """
    if not found.starts or hops_of(event) < max_hops:
        return found, []
    stopped = list(dict.fromkeys(one.definition.id for one in found.starts))
    awaited = tuple(one for one in found.awaited if one.definition.id not in stopped)
    return replace(found, starts=(), awaited=awaited), stopped


def is_sent(receipt: Receipt) -> bool:
    return receipt.status not in ("unreachable", "stopped")


def why_stopped(event: CloudEvent) -> str:
    """Return why an event at the end of a chain starts nothing."""
    hops = hops_of(event)
    return f"it would start another instance, after a chain of {hops} that events have started"


def receipt_facts(receipt: Receipt) -> dict[str, Any]:
    return {"definition": receipt.definition, "instance": receipt.instance, "status": receipt.status}
