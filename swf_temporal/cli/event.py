"""`swf event`: send an event to a running instance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swf_temporal.base.client_errors import InboxFullError, NeverTakenError, NoAnswerError
from swf_temporal.base.errors import UsageError
from swf_temporal.cli.options import Address, Namespace, Output, ask, not_empty, one_id
from swf_temporal.cli.output import OutputFormat, print_data
from swf_temporal.cli.shell_completion import instance_ids

if TYPE_CHECKING:
    from swf_temporal.base.data import JSON
    from swf_temporal.operations.client import Client

EXAMPLES = {"event": "Example: swf event order-42 --name PaymentReceived --data '{\"amount\": 12}'"}

_SOURCE = "swf"
_ELSEWHERE = {"type": "TYPE", "source": "--source", "data": "--data"}
"""The attributes of an event that have their own argument."""
_MESSAGES = {
    "taken": "{instance} took {event}",
    "kept": "{instance} keeps {event} until it is awaited",
    "duplicate": "{instance} already had {event} and did not take it again",
    "sent": "sent {event} to {instance}; no worker has answered for it",
}
"""The message for each status of an event."""

_UNANSWERED = "start one with `swf worker`, which may still take the event; or store the event: swf event --no-wait"


def event(
    workflow_id: Annotated[
        str | None,
        typer.Argument(metavar="WORKFLOW_ID", help="The id of the instance.", autocompletion=instance_ids),
    ] = None,
    event_type: Annotated[str | None, typer.Argument(metavar="TYPE", help="The type of a CloudEvent.")] = None,
    *,
    also_workflow_id: Annotated[
        str | None,
        typer.Option(
            "--workflow-id",
            "-w",
            metavar="ID",
            help="The id of the instance, as an option; TYPE is then the only argument.",
            autocompletion=instance_ids,
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--name",
            metavar="NAME",
            callback=not_empty,
            help="Instead of TYPE: the name of the event in the definition.",
        ),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", metavar="FILE", help="Instead of TYPE: a file with CloudEvents.")
    ] = None,
    data: Annotated[
        str | None, typer.Option("--data", metavar="DATA", help="The event's data: JSON, @FILE, or - for stdin.")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option("--source", metavar="SOURCE", help="The source of a CloudEvent; `swf` if it is not given."),
    ] = None,
    attribute: Annotated[
        list[str] | None,
        typer.Option("--attribute", metavar="NAME=VALUE", help="An attribute of a CloudEvent. Repeatable."),
    ] = None,
    no_wait: Annotated[
        bool, typer.Option("--no-wait", help="Store the event with the instance, and do not wait for an answer.")
    ] = False,
    form: Output = OutputFormat.TEXT,
    address: Address = None,
    namespace: Namespace = None,
) -> None:
    """Send an event to a running instance.

    With --name only the data is sent: the definition has the type and the source. With TYPE a whole CloudEvent is
    sent, which is taken if it matches an event of the definition. The answer is a status: taken, kept until a state
    waits for it, or a duplicate of an earlier event.

    Exits with 1 if the definition never takes such an event, or if no worker answers within ten seconds.
    """
    if also_workflow_id is not None and workflow_id is not None:
        if event_type is not None:
            one_id(workflow_id, also_workflow_id)
        workflow_id, event_type = None, workflow_id
    chosen = one_id(workflow_id, also_workflow_id)
    events = _Given(event_type, name, file, data, source, attribute or []).events()
    ask(
        lambda client: _deliver_all(client, chosen, events, form, is_list=file is not None, waits=not no_wait),
        address,
        namespace,
    )


@dataclass(frozen=True, slots=True)
class _Given:
    """An event as given on the command line: by type, by name, or in a file, with its data and attributes."""

    type: str | None
    name: str | None
    file: Path | None
    data: str | None
    source: str | None
    attributes: list[str]

    def events(self) -> list[dict[str, Any]]:
        """Return the events to send: CloudEvents, or a name with data. Raises UsageError."""
        from swf_temporal.cli.arguments import at_least_one, json_value, read_events

        self._refuse_contradictions()
        payload = json_value(self.data, "--data")
        if self.name is not None:
            return [{"name": self.name, "data": payload}]
        if self.file is not None:
            return at_least_one(read_events([self.file]))
        whole: dict[str, JSON] = {
            "type": self.type,
            "source": self.source or _SOURCE,
            **self._attributes(),
        }
        return [whole if payload is None else {**whole, "data": payload}]

    def _attributes(self) -> "dict[str, JSON]":
        from swf_temporal.cli.arguments import attributes_of

        found = attributes_of(self.attributes)
        for name, where in _ELSEWHERE.items():
            if name in found:
                raise UsageError(f"--attribute gives {name!r}", f"that is for {where}")
        return found

    def _refuse_contradictions(self) -> None:
        given = 3 - [self.type, self.name, self.file].count(None)
        if given != 1:
            what = "TYPE, --name and --file exclude each other" if given else "no event is given"
            raise UsageError(what, "give one of TYPE, --name and --file")
        if self.type is not None and not self.type.strip():
            raise UsageError("the TYPE of the event is empty")
        if self.type is None and (self.source is not None or self.attributes):
            raise UsageError("--source and --attribute need the TYPE of an event")
        if self.file is not None and self.data is not None:
            raise UsageError("--data needs the TYPE or --name of an event")


async def _deliver_all(
    client: "Client",
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
