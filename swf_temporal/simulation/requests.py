"""Compares what the services of a scenario were asked with what it expects."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from swf_temporal.data import JSON
from swf_temporal.simulation.description import ExpectedRequests
from swf_temporal.simulation.differences import unequal

_Request: TypeAlias = Mapping[str, JSON]


def request_differences(expected: ExpectedRequests, actual: Sequence[_Request]) -> list[str]:
    """Return how the requests that came differ from those *expected*: all in order, or for each kind of them."""
    if not isinstance(expected, Mapping):
        return _in_order("requests", expected, actual)
    found = []
    for asked, wanted in expected.items():
        came = [one for one in actual if asked in {one["request"], _without_query(one)}]
        if not isinstance(wanted, int):
            found += _in_order(f"requests {asked}", wanted, came)
        elif wanted != len(came):
            found.append(f"requests {asked}: expected {wanted}, but there were {len(came)}")
    return found


def _in_order(what: str, expected: Sequence[_Request], actual: Sequence[_Request]) -> list[str]:
    if len(expected) != len(actual):
        asked = ", ".join(str(one["request"]) for one in actual) or "none"
        return [f"{what}: expected {len(expected)}, but there were {len(actual)}: {asked}"]
    pairs = enumerate(zip(expected, actual, strict=True))
    return [text for index, (wanted, came) in pairs for text in _apart(f"{what}[{index}]", wanted, came)]


def _apart(what: str, wanted: _Request, came: _Request) -> Iterable[str]:
    for key, value in wanted.items():
        if key == "request" and "query" in wanted:
            yield from unequal(f"{what}.request", value, _without_query(came))
        elif key == "headers" and isinstance(value, dict):
            yield from _headers(f"{what}.headers", value, came["headers"])
        else:
            yield from unequal(f"{what}.{key}", value, came[key])


def _headers(what: str, expected: Mapping[str, JSON], actual: JSON) -> Iterable[str]:
    sent = actual if isinstance(actual, dict) else {}
    for name, value in expected.items():
        yield from unequal(f"{what}.{name}", value, sent.get(name.lower()))


def _without_query(request: _Request) -> str:
    return str(request["request"]).partition("?")[0]
