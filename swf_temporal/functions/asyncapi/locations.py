"""Places in a message that its document points to, such as `$message.payload#/order/id`."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from swf_temporal.base.data import JSON, Path
from swf_temporal.base.errors import permanent_failure

_EXPRESSION = re.compile(r"\$message\.(header|payload)(?:#(/.*))?")


class Location(NamedTuple):
    """A place in the headers, or in the payload, of a message."""

    in_headers: bool
    path: Path


def read_location(expression: str) -> Location:
    """Return the place that a runtime expression of AsyncAPI points to. Raises CallFailed if it is none."""
    match = _EXPRESSION.fullmatch(expression.strip())
    if match is None:
        message = f"the document points to '{expression}'; a place in a message is written $message.header#/name"
        raise permanent_failure("BadDocument", message)
    steps = (match[2] or "").split("/")[1:]
    return Location(match[1] == "header", [step.replace("~1", "/").replace("~0", "~") for step in steps])


def value_at(expression: str, headers: Mapping[str, JSON], payload: JSON) -> str | None:
    """Return what stands at a place as a text, or None if nothing does. Names of headers are taken in any case."""
    location = read_location(expression)
    value: JSON = {name.lower(): header for name, header in headers.items()} if location.in_headers else payload
    for depth, step in enumerate(location.path):
        if isinstance(value, dict):
            value = value.get(str(step).lower() if location.in_headers and depth == 0 else str(step))
        elif isinstance(value, list) and str(step).isdecimal():
            value = value[int(step)] if int(step) < len(value) else None
        else:
            return None
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None


def placed(expression: str, value: JSON, headers: Mapping[str, JSON], payload: JSON) -> tuple[Mapping[str, JSON], JSON]:
    """Return the headers and the payload with *value* at the place that *expression* points to.

    Raises CallFailed where there can be nothing, such as within a text.
    """
    location = read_location(expression)
    if not location.in_headers:
        return headers, _put({} if payload is None else payload, location.path, value, expression)
    known = {name.lower(): name for name in headers}
    path = [known.get(str(step).lower(), step) if depth == 0 else step for depth, step in enumerate(location.path)]
    return _put(dict(headers), path, value, expression), payload


def _put(target: JSON, path: Path, value: JSON, expression: str) -> dict[str, JSON]:
    if not isinstance(target, dict) or not path:
        raise permanent_failure(
            "BadArguments", f"there is no place for {value!r} at {expression}: what is above it is not an object"
        )
    step, rest = str(path[0]), path[1:]
    return {**target, step: _put(target.get(step, {}), rest, value, expression) if rest else value}
