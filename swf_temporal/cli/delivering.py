"""The command `swf event`."""

from collections.abc import Mapping, Sequence
from typing import Any

import typer

from swf_temporal.base.client_errors import InboxFullError, NeverTakenError, NoAnswerError
from swf_temporal.cli.output import OutputFormat, print_data
from swf_temporal.operations.client import Client
from swf_temporal.temporal.client import SENT

_MESSAGES = {
    "taken": "{instance} took {event}",
    "kept": "{instance} keeps {event} until a state waits for it",
    "duplicate": "{instance} already had {event} and did not take it again",
    SENT: "sent {event} to {instance}; no worker has answered for it",
}
"""The message for each outcome of an event."""

_UNANSWERED = "start one with `swf worker`, which may still take the event; or store the event: swf event --no-wait"


async def deliver_all(
    client: Client,
    workflow_id: str,
    events: Sequence[Mapping[str, Any]],
    form: OutputFormat,
    *,
    is_list: bool,
    waits: bool,
) -> int:
    """Send *events* one after the other, and report the outcome of each; return the exit code.

    If it *waits*, a worker has to answer for each. Stops at the first event that is refused.
    """
    answers = []
    code = 0
    for event in events:
        try:
            status = await client.instance(workflow_id).send_event(event, wait=waits)
        except (NeverTakenError, InboxFullError) as error:
            typer.echo(f"error: {error}", err=True)
            code = 1
            break
        except NoAnswerError as error:
            typer.echo(f"error: {error}\n  {_UNANSWERED}", err=True)
            code = 1
            break
        typer.echo(_MESSAGES[status].format(instance=workflow_id, event=_called(event)), err=True)
        answers.append({"id": workflow_id, "event": event.get("type") or event["name"], "status": status})
    if form is not OutputFormat.TEXT:
        if is_list:
            print_data(answers, form)
        elif answers:
            print_data(answers[0], form)
    return code


def _called(event: Mapping[str, Any]) -> str:
    if "type" not in event:
        return f"event {event['name']!r}"
    number = f" with the id {event['id']!r}" if event.get("id") else ""
    return f"an event of type {event['type']!r}{number}"
