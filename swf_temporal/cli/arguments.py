"""Parsing of command line arguments: data, events, attributes, times."""

import re
import shlex
import sys
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.base.durations import LENGTHS, parse_length
from swf_temporal.base.errors import UsageError
from swf_temporal.base.files import read_text, why_unreadable
from swf_temporal.base.strict_json import MalformedJSON, NotJSON, read_json, show_json

_PAIR = re.compile(r"(?P<name>[A-Za-z_][\w.-]*)=(?P<value>.*)", re.DOTALL)


_BARE = re.compile(r"[{\[]\s*[A-Za-z_]")
"""The beginning of an object or array whose keys or strings lack quotes."""


def json_value(text: str | None, option: str) -> JSON:
    """Return the value of *text*: literal JSON, `@FILE` for a file of JSON or YAML, or `-` for standard input.

    None gives None. Raises UsageError, naming *option*, if *text* is invalid.
    """
    if text is None:
        return None
    if text == "-":
        try:
            return _parsed(sys.stdin.buffer.read().decode("utf-8-sig"), f"{option} -")
        except UnicodeDecodeError as error:
            raise UsageError(f"{option} - cannot be read: {why_unreadable(error)}") from None
    if text.startswith("@"):
        return read_document(Path(text[1:]))
    try:
        return _parsed(text, option)
    except UsageError as error:
        raise UsageError(error.message, _meant(text, option) or error.hint) from None


def read_document(path: Path) -> JSON:
    """Return the JSON or YAML value in the file at *path*. Raises UsageError if the file is invalid or unreadable."""
    try:
        text = read_text(path)
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {why_unreadable(error)}") from None
    if path.suffix == ".json":
        return _parsed(text, str(path))
    from swf_temporal.text.parsing import read_data

    try:
        value: JSON = read_data(text)
    except ValueError as error:
        raise UsageError(f"{path} is not YAML: {error}") from None
    return value


def read_events(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """Return the CloudEvents in the files at *paths*, or on stdin for `-`; each contains one event or a list."""
    events: list[dict[str, Any]] = []
    for path in paths:
        document = json_value("-", "the event on stdin:") if path == Path("-") else read_document(path)
        events += _checked(document, str(path))
    return events


def _checked(document: JSON, where: str) -> list[dict[str, Any]]:
    """Return the CloudEvents in *document*, which is one event or a list."""
    events: list[dict[str, Any]] = []
    for number, event in enumerate(document if isinstance(document, list) else [document], start=1):
        given: Any = event
        try:
            CloudEvent.from_json(given, default_id="-")
        except ValueError as error:
            raise UsageError(f"{where}: event {number}: {error}") from None
        events.append(given)
    return events


def given_events(text: str) -> list[dict[str, Any]]:
    """Return the CloudEvents in an argument: JSON, a file, or `-` for stdin."""
    is_json = text.lstrip().startswith(("{", "["))
    return at_least_one(_checked(json_value(text, "EVENT"), "EVENT") if is_json else read_events([Path(text)]))


def at_least_one(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return *events*. Raises UsageError if the list is empty."""
    if not events:
        raise UsageError("there is no event: the list is empty")
    return events


def length_of(text: str | None, option: str) -> timedelta | None:
    """Return the duration in *text*, given in seconds or in ISO 8601 format."""
    if text is None:
        return None
    if (length := parse_length(text)) is None:
        raise UsageError(f"{option} is {text!r}", LENGTHS)
    return length


def attributes_of(pairs: Iterable[str]) -> dict[str, JSON]:
    """Return the attributes in *pairs* of the form `name=value`."""
    attributes: dict[str, JSON] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not name or not equals:
            raise UsageError(f"--attribute is {pair!r}", "write name=value")
        if name in attributes:
            raise UsageError(f"--attribute gives {name!r} twice", "give it once")
        attributes[name] = value
    return attributes


def _parsed(text: str, where: str) -> JSON:
    try:
        value: JSON = read_json(text)
    except NotJSON as error:
        may_be_text = isinstance(error, MalformedJSON) and text.lstrip()[:1] not in {"", "{", "[", '"'}
        hint = "a text needs its quotes: '\"text\"'" if may_be_text else None
        raise UsageError(f"{where} is not JSON: {error}", hint) from None
    return value


def _meant(text: str, option: str) -> str | None:
    """Return a hint about *text*, which is not JSON: it may be `name=value` pairs, or a file name.

    Or it was JSON until the shell removed its quotes.
    """
    if _BARE.match(text) and '"' not in text:
        return f"""the shell may have removed its double quotes: {option} '{{"name": "Ada"}}' keeps them"""
    pair = _PAIR.fullmatch(text)
    if pair is not None:
        value = pair["value"] if _is_json(pair["value"]) else show_json(pair["value"])
        written = shlex.quote(f"{{{show_json(pair['name'])}: {value}}}")
        return f"it is one JSON value: {option} {written}, or @FILE for a file that holds it"
    try:
        is_file = Path(text).is_file()
    except (OSError, ValueError):
        return None
    return f"to read that file: {option} @{text}" if is_file else None


def _is_json(text: str) -> bool:
    try:
        read_json(text)
    except NotJSON:
        return False
    return True
