"""The destinations of events among the definitions of a catalogue, as text and as JSON."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.events.routing.routes import Route
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.port import Definition
from swf_temporal.operations.event_recipients import Recipients


def latest_of(catalogue: Catalogue) -> list[Definition]:
    """Return the definitions among which events are routed: of each id the latest."""
    return [catalogue.find(each) for each in dict.fromkeys(one.id for one in catalogue)]


@dataclass(frozen=True, slots=True)
class RoutesReply:
    """The query of a server about an event, and its outcome."""

    address: str | None = None
    """The server that answered; None if none was asked."""
    recipients: Recipients = field(default_factory=Recipients)
    reason: str | None = None
    """Why no server was asked."""


def facts_of(event: CloudEvent, route: Route, asked: RoutesReply) -> dict[str, Any]:
    """Return as JSON the route of *event*, and the instances of which a server told; null if none was asked."""
    was_queried = asked.address is not None
    return {
        "event": {"id": event.id, "source": event.source, "type": event.type},
        "starts": [
            {
                **_facts(one.definition, one.event),
                "key": None if one.key is None else dict(one.key),
                "instance": one.instance_id,
                "needs": [each.name for each in one.start.events] if one.start.join == "all" else [one.event],
            }
            for one in route.starts
        ],
        "awaited": [
            {
                **_facts(one.definition, one.event),
                "key": None if one.key is None else dict(one.key),
                "values": dict(one.values),
                "instance": one.instance_id,
            }
            for one in route.awaited
        ],
        "passed": [{**_facts(one.definition, one.event), "reason": one.reason} for one in route.passed],
        "server": {"address": asked.address, "asked": was_queried, "reason": asked.reason},
        "instances": [one.facts() for one in asked.recipients.instances] if was_queried else None,
        "notes": asked.recipients.notes,
    }


def text_of(event: CloudEvent, route: Route, asked: RoutesReply) -> str:
    """Return for people where *event* goes, a line for each definition and for each instance."""
    return "\n".join([*_route_lines(event, route), *_server_lines(route, asked)])


def _server_lines(route: Route, asked: RoutesReply) -> list[str]:
    if route.leads_nowhere:
        return []
    if asked.address is None:
        return [f"no server was queried for the instances that get it: {asked.reason}"]
    found = asked.recipients
    server = f"on the server at {asked.address}"
    lines = [f"{server}:" if found.instances else f"no instances {server}"]
    gets = {True: "gets it", False: "does not get it"}
    lines += [f"  {one.instance} {gets[one.gets]}: {one.reason}" for one in found.instances]
    return [*lines, *(f"  {note}" for note in found.notes)]


def _route_lines(event: CloudEvent, route: Route) -> list[str]:
    lines = []
    for start in route.starts:
        known = f", which is {start.instance_id}" if start.instance_id is not None else ""
        others = [repr(one.name) for one in start.start.events if one.name != start.event]
        needs = f", together with {' and '.join(others)}" if start.start.join == "all" else ""
        which = "an instance" if start.key is None else f"the instance with {_text_of(start.key)}"
        lines.append(f"starts {which} of {start.definition.id!r}{known}, as its event {start.event!r}{needs}")
    for one in route.awaited:
        if one.key is None:
            which = f"all running instances of {one.definition.id!r}"
        elif one.instance_id is None:
            which = f"the instances of {one.definition.id!r} that wait for it with {_text_of(one.values)}"
        else:
            which = f"the instance with {_text_of(one.key)} of {one.definition.id!r}, which is {one.instance_id}"
        lines.append(f"may be taken by {which}, as its event {one.event!r}")
    lines += [f"is ignored by {_place(one.definition, one.event)}: {one.reason}" for one in route.passed]
    if route.leads_nowhere:
        lines.insert(0, f"no definition consumes the event of type {event.type!r}")
    return lines


def _facts(definition: Definition, event: str | None) -> dict[str, Any]:
    return {"definition": definition.id, "version": definition.version, "event": event}


def _place(definition: Definition, event: str | None) -> str:
    return repr(definition.id) if event is None else f"{definition.id!r} as its event {event!r}"


def _text_of(key: Mapping[str, str]) -> str:
    return " and ".join(_pairs(key.items())) or "any values"


def _pairs(items: Iterable[tuple[str, str]]) -> list[str]:
    return [f"{name}={value}" for name, value in items]
