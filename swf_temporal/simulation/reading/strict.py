"""Reads a file key by key, and tells every slip with its place and what was perhaps meant."""

import re
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any, NoReturn

from swf_temporal.durations import parse_duration
from swf_temporal.errors import Position, UsageError
from swf_temporal.text.located import Array, Object
from swf_temporal.text.origin import Source
from swf_temporal.text.suggestions import did_you_mean

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(?P<offset>Z|[+-]\d\d:\d\d)?", re.ASCII)
"""A date and time of RFC 3339."""


class Strict:
    """Reads one document, which *source* holds."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def fail(self, message: str, position: Position, hint: str | None = None) -> NoReturn:
        """Refuse the document: raise UsageError."""
        raise UsageError(str(self.source.problem("scenario", message, position, hint)))

    def known(self, value: Object, keys: Collection[str], owner: str) -> None:
        """Refuse keys of *value* that are not among *keys*."""
        for key in value:
            if key not in keys:
                hint = did_you_mean(key, keys) or f"there are {', '.join(keys)}"
                self.fail(f"{key!r} is not a field of {owner}", value.where.key(key), hint)

    def typed(self, data: Object, key: str, kind: type, words: str, default: Any = ...) -> Any:
        """Return the value of *key*, which is of that *kind*; without a *default* it must be there."""
        if key not in data and default is not ...:
            return default
        value = data.get(key)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            self.fail(f"{key!r} is {words}", data.where.value(key))
        return value

    def choice(self, value: Any, position: Position, choices: Collection[str]) -> str:
        """Return *value*, which is one of *choices*."""
        if value not in choices:
            self.fail(f"{value!r} is none of {', '.join(choices)}", position, did_you_mean(str(value), choices))
        return str(value)

    def items(self, data: Object, key: str) -> list[tuple[Any, Position]]:
        """Return the entries of the list *key*, each with its place; none if there is no such list."""
        array: Array = self.typed(data, key, Array, "a list", Array())
        return list(zip(array, array.positions, strict=True))

    def entries(self, data: Object, key: str) -> list[tuple[str, tuple[Any, Position]]]:
        """Return the names and values of the object *key*, each with its place; none if there is no such object."""
        entries: Object = self.typed(data, key, Object, "an object", Object(Position()))
        return [(name, (value, entries.where.value(name))) for name, value in entries.items()]

    def texts(self, data: Object, key: str, choices: Collection[str] = ()) -> tuple[str, ...]:
        """Return the list of texts *key*, each one of *choices* if there are any."""

        def text(value: Any, position: Position) -> str:
            if not isinstance(value, str):
                self.fail(f"{key!r} is a list of texts", position)
            return self.choice(value, position, choices) if choices else value

        return tuple(text(*one) for one in self.items(data, key))

    def length(self, data: Object, key: str) -> timedelta | None:
        """Return the duration *key*, or None if it is not there."""
        if key not in data:
            return None
        return self.parsed_length(self.typed(data, key, str, "a duration such as PT5S"), data.where.value(key))

    def parsed_length(self, text: str, position: Position) -> timedelta:
        """Return the duration that *text* is."""
        try:
            return parse_duration(text)
        except ValueError as error:
            self.fail(str(error), position)

    def moment(self, value: Any, position: Position) -> datetime:
        """Return the date and time *value*, which says how far it is from UTC."""
        match = _MOMENT.fullmatch(value) if isinstance(value, str) else None
        if match is None:
            self.fail(f"{value!r} is not a date and time", position, "such as 2026-01-05T09:00:00Z")
        if not match["offset"]:
            hint = f"write {value}Z, or how far from UTC it is, such as {value}+01:00"
            self.fail(f"{value!r} does not say in which timezone it is", position, hint)
        try:
            moment = datetime.fromisoformat(match[0])
            moment.astimezone(UTC)
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is not a date and time: there is no such day or hour", position)
        return moment
