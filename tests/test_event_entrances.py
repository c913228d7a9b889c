"""What is no CloudEvent is refused by every entrance, with the same words: one table, entrance by event."""

import json
from collections.abc import Callable
from typing import Any, Final

import pytest

from swf_temporal import simulate
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.errors import CallFailed, UsageError
from swf_temporal.cli.arguments import given_events
from swf_temporal.events.brokers.port import Message
from swf_temporal.events.channels import event_in
from swf_temporal.events.sinks import Sinks
from swf_temporal.http.gateway.cloud_events import STRUCTURED, events_of
from swf_temporal.http.gateway.refusals import Refused
from swf_temporal.languages.loading import load
from swf_temporal.settings.events import ROUTER, SinkSettings
from swf_temporal.temporal.incoming_events import NotTakenError, check_form, event_of_signal
from swf_temporal.temporal.mailbox_records import read_arriving

EVENT: Final = {"specversion": "1.0", "id": "1", "source": "/s", "type": "t"}
DEFINITION: Final = load("""
id: waiting
specVersion: '0.8'
events: [{name: E, type: t}]
states: [{name: Wait, type: event, onEvents: [{eventRefs: [E]}], end: true}]
""")

WRONG: Final[dict[str, tuple[dict[str, Any], str]]] = {
    "a name": ({"Bad_Attr": "x"}, "'Bad_Attr' may have letters and digits only"),
    "a name twice": ({"order": "1", "Order": "2"}, "'Order' twice"),
    "an object": ({"order": {"a": 1}}, "'order' is object"),
    "a fraction": ({"order": 1.5}, "'order' is number"),
    "a time": ({"time": "yesterday"}, "'yesterday' is not a timestamp"),
    "a day": ({"time": "2018-02-30T00:00:00Z"}, "is not a timestamp"),
    "an id": ({"id": "i" * 200_000}, "'id' has more than 4,096 characters"),
    "a subject": ({"subject": ""}, "'subject' must be a text that is not empty"),
}


def by_gateway(event: dict[str, Any]) -> None:
    events_of([("content-type", STRUCTURED)], json.dumps(event).encode(), 1)


def by_broker(event: dict[str, Any]) -> None:
    event_in(Message(json.dumps(event).encode(), STRUCTURED), "kafka")


def by_command(event: dict[str, Any]) -> None:
    given_events(json.dumps(event))


def by_update(event: dict[str, Any]) -> None:
    check_form(event)


def by_signal(event: dict[str, Any]) -> None:
    event_of_signal("event", event, DEFINITION)


def by_mailbox(event: dict[str, Any]) -> None:
    """Send *event* to where it is kept for those that wait."""
    read_arriving({"event": event, "starts": False, "instance": None})


def by_simulation(event: dict[str, Any]) -> None:
    simulate(DEFINITION, events=[event])


ENTRANCES: Final = (by_gateway, by_broker, by_command, by_update, by_signal, by_mailbox, by_simulation)


def refusal_of(event: dict[str, Any], entrance: Callable[[dict[str, Any]], None]) -> str | None:
    """Return why an event is refused, or None if it is let in."""
    try:
        entrance(event)
    except (ValueError, UsageError, Refused, NotTakenError) as refused:
        return str(getattr(refused, "detail", refused))
    return None


@pytest.mark.parametrize("entrance", ENTRANCES)
@pytest.mark.parametrize("what", WRONG)
def test_what_is_no_event_comes_in_nowhere(what: str, entrance: Callable[[dict[str, Any]], None]) -> None:
    wrong, told = WRONG[what]
    assert told in (refusal_of({**EVENT, **wrong}, entrance) or "it is let in")


@pytest.mark.parametrize("entrance", ENTRANCES)
@pytest.mark.parametrize(
    "more",
    [{"patientId": "P1", "n": 5, "yes": True, "time": "2018-04-05T17:31:00Z", "subject": None},
     {"time": "2018-04-05t17:31:00.5z"}],
    ids=["capitals in names", "small letters in times"],
)  # fmt: skip
def test_what_is_let_in(more: dict[str, Any], entrance: Callable[[dict[str, Any]], None]) -> None:
    assert refusal_of({**EVENT, **more}, entrance) is None


@pytest.mark.parametrize("missing", EVENT)
@pytest.mark.parametrize("entrance", [by_gateway, by_broker])
def test_other_programs_send_whole_events(missing: str, entrance: Callable[[dict[str, Any]], None]) -> None:
    event = {name: value for name, value in EVENT.items() if name != missing}
    assert missing in (refusal_of(event, entrance) or "it is let in")


@pytest.mark.parametrize("to", [ROUTER, "kafka://127.0.0.1:1"])
async def test_what_is_no_event_leaves_nowhere(to: str) -> None:
    sinks = Sinks([SinkSettings(name="sink", url=to, topic=None if to == ROUTER else "t")])
    with pytest.raises(CallFailed, match="'order' is object") as failed:
        await sinks.publish(CloudEvent("1", "s", "t", None, {"order": {"a": 1}}))
    await sinks.aclose()
    assert not failed.value.retryable
