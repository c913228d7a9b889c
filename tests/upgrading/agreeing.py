"""Do a definition and what `swf upgrade` makes of it come to the same?"""

import json
import re
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, TypeAlias

from swf_temporal.base.errors import InvalidDefinition
from swf_temporal.languages.base import Upgraded
from swf_temporal.languages.known import upgrade
from swf_temporal.simulation.scenario import ObservedRun, context_of, observed
from swf_temporal.text.origin import Source
from tests.agreement.comparing import read

Document: TypeAlias = dict[str, Any]

_COMPARED = ("status", "output", "calls", "elapsed")
_QUOTING = re.compile(r"\w+ '.+' of '.+' yields .+")
"""A message about data that an expression fails on, which a definition may have put among its data."""
_PLACE = re.compile(r"(\(in (?:state|task) '[^'/]*)/[^']*'")
"""The place that the trace of an error in the May 2020 draft names: in later versions branches have no states."""
_RENAMED = {"TransitionRefused": ("NoConditionMatched",), "WrongData": ("WrongData", "ExpressionFailed")}
"""Errors of definitions, by what they may be called instead: a path to nothing is an expression that fails."""


def upgraded(document: Document, to: str = "0.8") -> tuple[Document, Upgraded]:
    made = upgrade(Source(json.dumps(document["workflow"])), to)
    return {**document, "workflow": json.loads(made.text)}, made


def run(document: Document) -> ObservedRun | None:
    (scenario,) = read([deepcopy(document)])
    try:
        return observed(scenario, context_of(scenario).run(scenario.input))
    except InvalidDefinition:
        return None


def differences(before: ObservedRun, after: ObservedRun) -> list[str]:
    """Return in what two runs differ, one text a difference; times to the millisecond."""
    found = []
    name, other_name = ((seen.error or {}).get("name") for seen in (before, after))
    # A path to nothing is not tried again: what is under way beside it is broken off earlier.
    compared = _COMPARED if (name, other_name) != ("WrongData", "ExpressionFailed") else ("status", "output")
    for what in compared:
        one, other = _told(getattr(before, what)), _told(getattr(after, what))
        if one != other:
            found.append(f"{what}: {one} before, {other} after")
    one, other = (_told([_without(event) for event in seen.produced]) for seen in (before, after))
    if one != other:
        found.append(f"produced: {one} before, {other} after")
    if other_name not in _RENAMED.get(str(name), (name,)):
        found.append(f"error: {before.error} before, {after.error} after")
    return found


def _told(value: Any) -> Any:
    if isinstance(value, str) and _QUOTING.fullmatch(value):
        return "what quotes an expression"
    if isinstance(value, str):
        return _PLACE.sub(r"\1'", value)
    if isinstance(value, dict):
        # What is said of data that an expression fails on quotes the expression.
        quoting = ("message", "trace") if value.get("name") in ("WrongData", "ExpressionFailed") else ()
        return {key: _told(item) for key, item in value.items() if key not in quoting}
    if isinstance(value, list | tuple):
        return [_told(item) for item in value]
    return round(value.total_seconds(), 3) if hasattr(value, "total_seconds") else value


def _without(event: Mapping[str, Any]) -> Document:
    return {key: value for key, value in event.items() if key not in ("id", "time")}
