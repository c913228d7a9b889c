"""`swf event`: send an event to a running instance."""

from pathlib import Path
from typing import Annotated, Any

import typer

from swf_temporal.cli.arguments import attributes_of, json_value, read_events
from swf_temporal.cli.options import Address, Namespace, WorkflowId
from swf_temporal.cli.serving import quiet_client
from swf_temporal.cli.stopping import run_until_stopped
from swf_temporal.data import JSON
from swf_temporal.errors import UsageError
from swf_temporal.temporal.client import send_data, send_event

EXAMPLES = {"event": "Example: swf event order-42 --name PaymentReceived --data '{\"amount\": 12}'"}

_SOURCE = "swf"


def event(
    workflow_id: WorkflowId,
    event_type: Annotated[str | None, typer.Argument(metavar="[TYPE]", help="The type of a CloudEvent.")] = None,
    *,
    name: Annotated[
        str | None, typer.Option("--name", help="Instead of TYPE: the name that the definition gives to the event.")
    ] = None,
    file: Annotated[Path | None, typer.Option("--file", help="Instead of TYPE: a file with CloudEvents.")] = None,
    data: Annotated[str | None, typer.Option("--data", help="The event's data: JSON, @FILE, or - for stdin.")] = None,
    source: Annotated[
        str | None, typer.Option("--source", help="The source of a CloudEvent; `swf` if it is not given.")
    ] = None,
    attribute: Annotated[
        list[str] | None, typer.Option("--attribute", help="An attribute of a CloudEvent: NAME=VALUE. Repeatable.")
    ] = None,
    address: Address = None,
    namespace: Namespace = None,
) -> None:
    """Send an event to a running instance.

    With --name only its data is sent: the definition knows the type and the source. With TYPE a whole CloudEvent is
    sent, which is taken if it is like one that the definition describes.
    """
    if [event_type, name, file].count(None) != 2:  # noqa: PLR2004 - all but one
        raise UsageError("which event is to be sent?", "give one of TYPE, --name and --file")
    if (name or file) and (source or attribute):
        raise UsageError("--source and --attribute belong to an event that is given by its TYPE")
    if file and data:
        raise UsageError("--data belongs to an event that is given by its TYPE or --name")
    payload = json_value(data, "--data")
    if name is not None:
        run_until_stopped(_send_data(workflow_id, name, payload, address, namespace))
    elif file is not None:
        run_until_stopped(_send(workflow_id, read_events([file]), address, namespace))
    else:
        whole: dict[str, JSON] = {"type": event_type, "source": source or _SOURCE, **attributes_of(attribute or ())}
        if payload is not None:
            whole["data"] = payload
        run_until_stopped(_send(workflow_id, [whole], address, namespace))


async def _send(workflow_id: str, events: list[dict[str, Any]], address: str | None, namespace: str | None) -> int:
    client = await quiet_client(address=address, namespace=namespace)
    for one in events:
        await send_event(client, workflow_id, one)
        typer.echo(f"sent an event of type {one['type']!r} to {workflow_id}", err=True)
    return 0


async def _send_data(workflow_id: str, name: str, data: JSON, address: str | None, namespace: str | None) -> int:
    await send_data(await quiet_client(address=address, namespace=namespace), workflow_id, name, data)
    typer.echo(f"sent event {name!r} to {workflow_id}", err=True)
    return 0
