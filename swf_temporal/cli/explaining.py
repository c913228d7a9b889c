"""The command `swf events explain`."""

import asyncio

import typer

from swf_temporal.app.client import Client, refusals_as_usage_errors
from swf_temporal.app.event_recipients import recipients
from swf_temporal.app.event_routes import Asked, facts_of, latest_of, text_of
from swf_temporal.app.instances import PATIENCE
from swf_temporal.app.logs import be_quiet
from swf_temporal.cli.output import Form, print_data
from swf_temporal.cloud_event import CloudEvent
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.routing.routes import Route, route
from swf_temporal.temporal.client_errors import ServerUnavailableError


async def explained(
    event: CloudEvent, catalogue: Catalogue, form: Form, address: str | None, namespace: str | None
) -> int:
    """Tell where *event* goes, among definitions and among the instances of a server; return the exit code."""
    be_quiet()
    where = route(event, latest_of(catalogue))
    asked = await _asked(event, where, address, namespace)
    if form is Form.TEXT:
        typer.echo(text_of(event, where, asked))
    else:
        print_data(facts_of(event, where, asked), form)
    return int(where.leads_nowhere)


async def _asked(event: CloudEvent, where: Route, address: str | None, namespace: str | None) -> Asked:
    """Return what a server says of instances. Raises UsageError if one is named, and does not answer."""
    if where.leads_nowhere:
        return Asked(reason="no definition consumes the event")
    try:
        async with asyncio.timeout(None if address else PATIENCE):
            client = await Client.connect(address, namespace=namespace)
    except TimeoutError:
        return Asked(reason="none answered in time")
    except ServerUnavailableError as error:
        if address is not None or namespace is not None:
            raise
        return Asked(reason=error.message)
    with refusals_as_usage_errors():
        return Asked(client.address, await recipients(client, event, where))
