"""Tells how what came differs from what is expected: values, and the requests that stub services were sent."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import ndiff
from typing import TypeAlias

from swf_temporal.base.data import JSON, identity
from swf_temporal.base.strict_json import show_json
from swf_temporal.simulation.model.expectations import ExpectedRequest, ExpectedRequests

_SHORT = 60

_Request: TypeAlias = Mapping[str, JSON]


def unequal(what: str, expected: JSON, actual: JSON) -> list[str]:
    """Return how *actual* differs from what is *expected* of *what*: a text, or none if they are equal as JSON."""
    if identity(expected) == identity(actual):
        return []
    short = _written(expected), _written(actual)
    if max(map(len, short)) <= _SHORT:
        return [f"{what}: expected {short[0]}, but it is {short[1]}"]
    return [line_by_line(what, _lines(expected), _lines(actual))]


def line_by_line(what: str, expected: list[str], actual: list[str]) -> str:
    """Return what of the lines *expected* did not come, and which of those that are *actual* was not expected."""
    changes = [line.rstrip() for line in ndiff(expected, actual) if not line.startswith("?")]
    return "\n    ".join([f"{what}: what is expected (-) and what came (+) differ", *changes])


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


def _lines(value: JSON) -> list[str]:
    return show_json(value, indent=2, sort_keys=True).splitlines()


def _written(value: JSON) -> str:
    return show_json(value, sort_keys=True)


def _in_order(what: str, expected: Sequence[ExpectedRequest], actual: Sequence[_Request]) -> list[str]:
    if len(expected) != len(actual):
        asked = ", ".join(str(one["request"]) for one in actual) or "none"
        return [f"{what}: expected {len(expected)}, but there were {len(actual)}: {asked}"]
    pairs = enumerate(zip(expected, actual, strict=True))
    return [text for index, (wanted, came) in pairs for text in _apart(f"{what}[{index}]", wanted, came)]


def _apart(what: str, wanted: ExpectedRequest, came: _Request) -> Iterable[str]:
    for key, value in wanted.given.items():
        if key == "request" and "query" in wanted.given:
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
