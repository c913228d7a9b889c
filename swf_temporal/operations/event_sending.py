"""Sending events where they go: to the instances that they start, and to those that wait for them."""

import logging
from dataclasses import replace
from typing import Any, Final

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.errors import DefinitionsUnavailable, UsageError
from swf_temporal.events.routing.chains import hops_of
from swf_temporal.events.routing.routes import Route, route
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.operations.client import Client
from swf_temporal.operations.event_routes import latest_of
from swf_temporal.settings.values import MAX_HOPS
from swf_temporal.temporal.event_dispatch import Receipt, dispatch, send_to
from swf_temporal.temporal.tracing import continued

INSTANCE: Final = "swfinstance"
"""The extension attribute by which an event names an instance, where the operator lets it."""

_log = logging.getLogger("swf.events")


async def send(  # noqa: PLR0913 - what may be said of an event that is sent, most of it optional
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
    """Send *event* where it goes among the definitions of *catalogue*; return where that is.

    The server has it then; no worker need run. Instances run the text that the catalogue has now. *found* is the route
    of the event, where that is known already. *instance* is the id of one that is to get the event besides; where the
    sender may choose any instance (*trusts_instance*), the event may name it by its attribute `swfinstance`. An event
    does not reach a definition that it would start, where that would be the next instance of a chain of *max_hops*.
    Raises UsageError if the event has no id, is too large, or is refused by the server, and DefinitionsUnavailable if
    it goes nowhere, but some definitions could not be read.
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
    with continued({name: str(value) for name, value in event.attributes.items()}, "send event"):
        receipts = [] if named is None else [await send_to(client.temporal, event, named)]
        receipts += [Receipt(one, "stopped") for one in stopped]
        receipts += await dispatch(
            client.temporal, event, found, catalogue.with_reachable, task_queue, named, client.mailbox_locks
        )
    if catalogue.unreadable is not None and not any(map(is_sent, receipts)):
        raise DefinitionsUnavailable(catalogue.unreadable)
    return receipts


def within_chain(event: CloudEvent, found: Route, max_hops: int = MAX_HOPS) -> tuple[Route, list[str]]:
    """Return *found* without what ends here where the chain of instances is long, and the ids of these definitions.

    Then an event starts nothing, and instances do not get it, either: what they leave would start another.
    """
    if not found.starts or hops_of(event) < max_hops:
        return found, []
    stopped = list(dict.fromkeys(one.definition.id for one in found.starts))
    awaited = tuple(one for one in found.awaited if one.definition.id not in stopped)
    return replace(found, starts=(), awaited=awaited), stopped


def is_sent(receipt: Receipt) -> bool:
    return receipt.status not in ("unreachable", "stopped")


def why_stopped(event: CloudEvent) -> str:
    """Return why an event starts nothing that comes at the end of a chain."""
    hops = hops_of(event)
    return f"it would start another instance, after a chain of {hops} that events have started"


def receipt_facts(receipt: Receipt) -> dict[str, Any]:
    return {"definition": receipt.definition, "instance": receipt.instance, "status": receipt.status}
