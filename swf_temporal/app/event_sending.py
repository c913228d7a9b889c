"""Sending events where they go: to the instances that they start, and to those that wait for them."""

from typing import Any, Final

from swf_temporal.app.client import Client
from swf_temporal.app.event_routes import latest_of
from swf_temporal.cloud_event import CloudEvent
from swf_temporal.errors import UsageError
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.routing.routes import route
from swf_temporal.temporal.event_dispatch import Receipt, dispatch, send_to

INSTANCE: Final = "swfinstance"
"""The extension attribute by which an event names an instance, where the operator lets it."""


async def send(
    client: Client,
    event: CloudEvent,
    catalogue: Catalogue,
    task_queue: str,
    *,
    instance: str | None = None,
    trusts_instance: bool = False,
) -> list[Receipt]:
    """Send *event* where it goes among the definitions of *catalogue*; return where that is.

    The server has it then; no worker need run. Instances run the text that the catalogue has now. *instance* is the id
    of one that is to get the event besides; where the sender may choose any instance (*trusts_instance*), the event
    may name it by its attribute `swfinstance`. Raises UsageError if the event has no id, is too large, or is refused
    by the server.
    """
    if not event.id:
        raise UsageError(
            f"the event of type {event.type!r} has no id",
            "with an id and a source, it is taken once however often sent",
        )
    named = instance
    if named is None and trusts_instance:
        attribute = event.attribute(INSTANCE)
        named = attribute if isinstance(attribute, str) and attribute else None
    receipts = [] if named is None else [await send_to(client.temporal, event, named)]
    found = route(event, latest_of(catalogue))
    return receipts + await dispatch(client.temporal, event, found, catalogue.with_reachable, task_queue, named)


def receipt_facts(receipt: Receipt) -> dict[str, Any]:
    """Return *receipt* as JSON."""
    return {"definition": receipt.definition, "instance": receipt.instance, "status": receipt.status}
