"""Rule: extensions have an id, and those of the specification are valid (section "Extensions").

An extension is information for tools and never changes what a workflow does here: none prevents it from running, and
each is reported to have no effect, because other runtimes have extensions that change the behaviour.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from swf_temporal.base.durations import parse_duration
from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.validation.context import Context
from swf_temporal.text.suggestions import did_you_mean

Shape: TypeAlias = "Mapping[str, Shape] | list[Shape] | tuple[str, Callable[[Any], bool]]"
"""The fields of an object, a list of one shape, or the words for a value and the test for it."""

_INSTEAD: Mapping[str, str] = {
    "workflow-output-schema": "write its schema as dataOutputSchema of the workflow, as the text after 0.8 has it",
    "workflow-uri-definitions": "write the whole URI in the operation of each function that uses one of its names",
}
"""Hints for extensions of SonataFlow."""

_IDS = {"extensionId", "extensionid"}

_Found: TypeAlias = tuple[tuple[str | int, ...], str, str | None]
"""The path, the message and a hint of a problem."""


def check(context: Context) -> Iterator[Problem]:
    """Yield a warning for each extension, and for problems in those of the specification."""
    seen: set[str] = set()
    for index, extension in enumerate(context.workflow.extensions):
        for path, message, hint in _check(extension, f"extension number {index + 1}", seen):
            position = context.workflow.where.at("extensions", index, *path)
            yield context.warning("extension", message, position, hint)


def _check(extension: Any, called: str, seen: set[str]) -> Iterator[_Found]:
    if not isinstance(extension, dict):
        yield (), f"{called} is not an object with an extensionId and a resource", None
        return
    name = _id(extension)
    if name is None:
        yield (), f"{called} has no extensionId", None
    elif name in seen:
        yield (), f"extension {name!r} is named more than once", None
    else:
        yield (), f"extension {name!r} is not supported, and has no effect", _INSTEAD.get(name)
    seen.add(name or "")
    if not extension.keys() - _IDS or not all(isinstance(extension.get(key, ""), str) for key in ("resource", "path")):
        yield (), f"extension {name!r} has no resource", None
    document = extension.get("document", extension)
    if isinstance(document, dict) and not {"resource", "path"} & document.keys():
        base: tuple[str | int, ...] = ("document",) if "document" in extension else ()
        shape = SHAPES.get(_id(document) or name or "")
        for path, message, hint in () if shape is None else _differences(document, shape, ()):
            yield (*base, *path), f"extension {name!r}: {message}", hint


def _id(extension: Mapping[str, Any]) -> str | None:
    name = extension.get("extensionId", extension.get("extensionid"))
    return name if isinstance(name, str) else None


def _differences(value: Any, shape: Shape, path: tuple[str | int, ...]) -> Iterator[_Found]:
    where = ".".join(str(step) for step in path)
    if isinstance(shape, tuple):
        kind, is_one = shape
        if not is_one(value):
            yield path, f"{where} is {value!r}, which is not {kind}", None
    elif isinstance(shape, list):
        if not isinstance(value, list):
            yield path, f"{where} is not a list", None
        else:
            for index, item in enumerate(value):
                yield from _differences(item, shape[0], (*path, index))
    elif not isinstance(value, dict):
        yield path, f"{where} is not an object", None
    else:
        for key, item in value.items():
            if key in shape:
                yield from _differences(item, shape[key], (*path, key))
            else:
                yield (*path, key), f"{'.'.join([*map(str, path), key])} has no effect", did_you_mean(key, list(shape))


def _is_number(value: Any) -> bool:
    """Return True if *value* is a number from 0 on; the specification writes many of them as texts."""
    try:
        return not isinstance(value, bool) and 0 <= float(value) < float("inf")
    except (TypeError, ValueError):
        return False


def _is_duration(value: Any) -> bool:
    try:
        # The specification's own default is PT1D, for a day.
        return parse_duration(str(value)).total_seconds() >= 0
    except ValueError:
        return False


_TEXT = ("a text", lambda value: isinstance(value, str))
_NUMBER = ("a number from 0 on", _is_number)
_COUNT = ("a whole number", lambda value: _is_number(value) and float(value).is_integer())
_DURATION = ("a duration in ISO 8601, such as PT15M", _is_duration)


def _bounds(kind: Shape, *words: str) -> dict[str, Shape]:
    return {f"{bound}{word}": kind for word in words for bound in ("max", "min", "avg")}


_PER: Shape = {"time": _DURATION, "instances": _COUNT}
_OF_ONE: dict[str, Shape] = {"for": _TEXT, "per": _PER}
_ANY: dict[str, Shape] = {
    "extensionid": _TEXT,
    "extensionId": _TEXT,
    "workflowid": _TEXT,
    "workflowId": _TEXT,
    "workflowVersions": [_TEXT],
}
_RATES: Shape = {
    "maxActionsPerSecond": _NUMBER,
    "maxConcurrentActions": _NUMBER,
    "maxProducedEventsPerSecond": _NUMBER,
    "maxStates": _COUNT,
    "maxTransitions": _COUNT,
}
SHAPES: Mapping[str, Shape] = {
    "workflow-kpi-extension": {
        **_ANY,
        "currency": _TEXT,
        "workflow": {
            "per": _PER,
            "workflowid": _TEXT,
            **_bounds(_NUMBER, "Invoked", "Cost"),
            **_bounds(_DURATION, "Duration"),
        },
        "events": [{**_OF_ONE, **_bounds(_NUMBER, "Consumed", "Produced")}],
        "functions": [
            {
                **_OF_ONE,
                **dict.fromkeys(("maxErrors", "maxRetry"), _NUMBER),
                "maxTimeout": _NUMBER,
                **_bounds(_NUMBER, "Invoked", "Cost"),
            }
        ],
        "states": [
            {
                **_OF_ONE,
                "maxTimeout": _NUMBER,
                **_bounds(_NUMBER, "Exec", "Cost"),
                **_bounds(_DURATION, "Duration"),
            }
        ],
    },
    "workflow-ratelimiting-extension": {**_ANY, "singleInstance": _RATES, "allInstances": _RATES},
}
"""The keys of the specification's own extensions, by their ids."""
