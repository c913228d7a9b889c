"""Explains from an instance's answer to the query `status` whether it would get an event."""

from collections.abc import Collection, Mapping
from typing import Any

_SILENT = "no worker answers for it"


def why_it_gets(answer: Mapping[str, Any] | None, names: Collection[str]) -> str:
    """Return what an instance does with an event that its definition knows by one of *names*."""
    if answer is None:
        return f"the event is sent to it; {_SILENT}"
    for wait in answer["awaiting"]:
        if any(event["name"] in names for event in wait["events"]):
            return f"it waits for such an event in {wait['state']!r}"
    return "it keeps the event until a state waits for it"


def why_not(answer: Mapping[str, Any] | None, names: Collection[str], values: Mapping[str, str]) -> str:
    """Return why an instance does not get an event whose context attributes have *values*."""
    if answer is None:
        return f"it has not subscribed; {_SILENT}"
    waits = [event for wait in answer["awaiting"] for event in wait["events"]]
    if not waits:
        return "it does not wait for an event"
    wanted = [event for event in waits if event["name"] in names]
    if not wanted:
        return f"it waits for {_either(dict.fromkeys(repr(event['name']) for event in waits))}, not for this event"
    for event in wanted:
        others = _others(event.get("correlation", {}), values)
        if others:
            return f"it waits for {event['name']!r} with {' and '.join(others)}"
    return f"it waits for {wanted[0]['name']!r}, and has not subscribed: it only gets the event by its id"


def _others(correlation: Mapping[str, str | None], values: Mapping[str, str]) -> list[str]:
    """Return what an instance knows of the attributes of its events, where it is not what the event has."""
    known = {name: value for name, value in correlation.items() if value is not None}
    return [f"{name}={value}" for name, value in known.items() if values.get(name.lower()) not in (None, value)]


def _either(names: Collection[str]) -> str:
    return " or ".join(names)
