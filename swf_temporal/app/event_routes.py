"""Where events go among the definitions of a catalogue, told to people and programs."""

from collections.abc import Iterable, Mapping
from typing import Any

from swf_temporal.cloud_event import CloudEvent
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.port import Definition
from swf_temporal.routing.routes import Route


def latest_of(catalogue: Catalogue) -> list[Definition]:
    """Return the definitions among which events are routed: of each id the latest."""
    return [catalogue.find(each) for each in dict.fromkeys(one.id for one in catalogue)]


def facts_of(event: CloudEvent, route: Route) -> dict[str, Any]:
    """Return the route of *event* as JSON."""
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
    }


def text_of(event: CloudEvent, route: Route) -> str:
    """Return the route of *event* for people, a line for each thing."""
    lines = []
    for start in route.starts:
        known = f", which is {start.instance_id}" if start.instance_id is not None else ""
        others = [one.name for one in start.start.events if one.name != start.event]
        needs = f", together with {' and '.join(others)}" if start.start.join == "all" else ""
        which = "an instance" if start.key is None else f"the instance with {_text_of(start.key)}"
        lines.append(f"starts {which} of {start.definition.id!r}{known}: it is its {start.event}{needs}")
    for one in route.awaited:
        if one.key is None:
            which = f"all running instances of {one.definition.id!r}"
        elif one.instance_id is None:
            which = f"the instances of {one.definition.id!r} that wait for it with {_text_of(one.values)}"
        else:
            which = f"the instance with {_text_of(one.key)} of {one.definition.id!r}, which is {one.instance_id}"
        lines.append(f"may be taken by {which}: it is its {one.event}")
    lines += [f"means nothing to {_place(one.definition, one.event)}: {one.reason}" for one in route.passed]
    if route.leads_nowhere:
        lines.insert(0, f"no definition consumes the event of type {event.type!r}")
    return "\n".join(lines)


def _facts(definition: Definition, event: str | None) -> dict[str, Any]:
    return {"definition": definition.id, "version": definition.version, "event": event}


def _place(definition: Definition, event: str | None) -> str:
    return repr(definition.id) if event is None else f"{definition.id!r} as its {event}"


def _text_of(key: Mapping[str, str]) -> str:
    return " and ".join(_pairs(key.items())) or "whatever values"


def _pairs(items: Iterable[tuple[str, str]]) -> list[str]:
    return [f"{name}={value}" for name, value in items]
