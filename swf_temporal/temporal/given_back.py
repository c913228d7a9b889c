"""Events that an instance gave back to mailboxes at its end, and has again when it goes on from a state before that.

The mailboxes are told, and keep them for no other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from temporalio.api.common.v1 import Payload
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from swf_temporal.temporal.client_errors import not_there
from swf_temporal.temporal.mailbox_records import MAILBOX, TAKE, Regained, Untaken, digest_of_event


@dataclass(frozen=True, slots=True)
class Posted:
    """A message of an instance to a mailbox."""

    mailbox: str
    payloads: tuple[Payload, ...]


def posted(kind: str, about: Any) -> Posted | None:
    """Return the message that an event of a history is, if it is one to a mailbox."""
    match kind:
        case "signal_external_workflow_execution_initiated_event_attributes" if about.signal_name == TAKE:
            return Posted(about.workflow_execution.workflow_id, tuple(about.input.payloads))
        case "start_child_workflow_execution_initiated_event_attributes" if about.workflow_type.name == MAILBOX:
            return Posted(about.workflow_id, tuple(about.input.payloads))
    return None


async def regain(client: Client, messages: Sequence[Posted]) -> None:
    """Tell the mailboxes of *messages* that an instance has the events again that it gave back by these."""
    for message in messages:
        [value] = await client.data_converter.decode(message.payloads)
        parts = value.get("arrived", [value])  # a mailbox that did not run was begun with the message
        untaken = [Untaken.from_json(part) for part in parts if "untaken" in part]
        events = [one.event for part in untaken for one in part.untaken]
        if events:
            regained = Regained([digest_of_event(one.source, one.id) for one in events])
            await _tell(client, message.mailbox, regained)


async def _tell(client: Client, mailbox: str, regained: Regained) -> None:
    try:
        await client.get_workflow_handle(mailbox).signal(TAKE, regained.to_json())
    except RPCError as error:
        if error.status != RPCStatusCode.NOT_FOUND:  # it has ended, and keeps nothing
            raise not_there(error, mailbox) from None
