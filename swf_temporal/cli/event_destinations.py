"""The commands of `swf events`: explaining the destinations of events, and sending events to them."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import typer

from swf_temporal.base.client_errors import ServerUnavailableError
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.cli.output import OutputFormat, print_data
from swf_temporal.events.routing import Route, route
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.operations.client import Client
from swf_temporal.operations.event_recipients import recipients
from swf_temporal.operations.event_sending import (
    RoutesReply,
    facts_of,
    is_sent,
    latest_of,
    receipt_facts,
    send,
    text_of,
    why_stopped,
    within_chain,
)
from swf_temporal.operations.instances import PATIENCE
from swf_temporal.sdk.logs import be_quiet
from swf_temporal.temporal.client_errors import refusals_as_usage_errors
from swf_temporal.temporal.event_dispatch import Receipt


async def explained(
    event: CloudEvent, catalogue: Catalogue, form: OutputFormat, address: str | None, namespace: str | None
) -> int:
    """Print the definitions and instances that *event* goes to; return the exit code."""
    be_quiet()
    where, stopped = within_chain(event, route(event, latest_of(catalogue)))
    for definition in stopped:
        name = f"the event {event.id!r} of type {event.type!r}"
        message = _MESSAGES["stopped"].format(event=name, definition=definition, reason=why_stopped(event))
        typer.echo(message, err=True)
    if stopped and where.leads_nowhere and form is OutputFormat.TEXT:
        return 1
    asked = await _asked(event, where, address, namespace)
    if form is OutputFormat.TEXT:
        typer.echo(text_of(event, where, asked))
    else:
        print_data(facts_of(event, where, asked), form)
    return int(where.leads_nowhere)


async def _asked(event: CloudEvent, where: Route, address: str | None, namespace: str | None) -> RoutesReply:
    """Return the recipients on a server. Raises UsageError if a server is named, and does not answer."""
    if where.leads_nowhere:
        return RoutesReply(reason="no definition consumes the event")
    try:
        async with asyncio.timeout(None if address else PATIENCE.total_seconds()):
            client = await Client.connect(address, namespace=namespace)
    except TimeoutError:
        return RoutesReply(reason="none answered in time")
    except ServerUnavailableError as error:
        if address is not None or namespace is not None:
            raise
        return RoutesReply(reason=error.message)
    with refusals_as_usage_errors():
        return RoutesReply(client.address, await recipients(client, event, where))


_MESSAGES = {
    "started": "{event} started {instance}",
    "duplicate": "{event} has already started {instance}",
    "accepted": "{event} goes to {instance}",
    "sent": "sent {event} to {instance}",
    "unreachable": "{event} does not reach {instance}: it is not running",
    "stopped": "{event} starts no instance of {definition!r}: {reason}",
}
"""The message for each outcome of sending an event."""


async def send_all(
    client: Client,
    events: Sequence[Mapping[str, Any]],
    catalogue: Catalogue,
    task_queue: str | None,
    form: OutputFormat,
    *,
    instance: str | None = None,
    trusts_instance: bool = False,
) -> int:
    """Send *events* one after the other to the definitions of *catalogue*; report each, and return the exit code."""
    definitions, queue = latest_of(catalogue), task_queue or client.task_queue
    answers: list[dict[str, Any]] = []
    reached = 0
    for given in events:
        event = CloudEvent.from_json(given)
        found = route(event, definitions)
        receipts = await send(
            client, event, catalogue, queue, found=found, instance=instance, trusts_instance=trusts_instance
        )
        name = f"the event {event.id!r} of type {event.type!r}"
        for one in receipts:
            facts = {"instance": one.instance or _unknown(one), "definition": one.definition}
            typer.echo(_MESSAGES[one.status].format(event=name, reason=why_stopped(event), **facts), err=True)
        if not receipts:
            typer.echo(f"{name} has no destination: see swf events explain", err=True)
        reached += any(map(is_sent, receipts))
        event_facts = {"id": event.id, "source": event.source, "type": event.type}
        answers.append({"event": event_facts, "receipts": [receipt_facts(one) for one in receipts]})
    if form is not OutputFormat.TEXT:
        print_data(answers, form)
    return int(reached < len(events))


def _unknown(receipt: Receipt) -> str:
    if receipt.is_for_waiting:
        return f"the instances of {receipt.definition!r} that wait for it"
    return f"an instance of {receipt.definition!r}, once all of its events are there"
