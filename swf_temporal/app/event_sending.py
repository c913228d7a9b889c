"""Sending events where they go: to the instances that they start, and to those that wait for them."""

from typing import Any

from swf_temporal.app.client import Client
from swf_temporal.app.event_routes import latest_of
from swf_temporal.cloud_event import CloudEvent
from swf_temporal.errors import UsageError
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.routing.routes import route
from swf_temporal.temporal.event_dispatch import Receipt, dispatch


async def send(client: Client, event: CloudEvent, catalogue: Catalogue, task_queue: str) -> list[Receipt]:
    """Send *event* where it goes among the definitions of *catalogue*; return where that is.

    The server has it then; no worker need run. Instances run the text that the catalogue has now. Raises UsageError if
    the event has no id, is too large, or is refused by the server.
    """
    if not event.id:
        raise UsageError(
            f"the event of type {event.type!r} has no id",
            "with an id and a source, it is taken once however often sent",
        )
    found = route(event, latest_of(catalogue))
    return await dispatch(client.temporal, event, found, catalogue.with_reachable, task_queue)


def receipt_facts(receipt: Receipt) -> dict[str, Any]:
    """Return *receipt* as JSON."""
    return {"definition": receipt.definition, "instance": receipt.instance, "status": receipt.status}
