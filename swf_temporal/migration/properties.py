"""Reads Java properties, as in `application.properties`."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

_COMMENT: Final = re.compile(r"[ \t\f]*(?:[#!].*)?")
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_PLACE: Final = re.compile(r"\$\{([^{}:]+)(?::([^{}]*))?\}")
_PROFILE: Final = re.compile(r"%([\w,-]+)\.(.+)", re.DOTALL)
_MAX_ROUNDS: Final = 10


def read_properties(text: str) -> dict[str, str]:
    """Return the properties that *text* sets, as they are written; the last of several with one name counts."""
    return dict(_pair(line) for line in _lines(text))


def of_profile(properties: Mapping[str, str], profile: str = "prod") -> dict[str, str]:
    """Return what holds in *profile*: what is said for it alone, `%prod.NAME`, counts before what is said for all."""
    found, own = dict[str, str](), dict[str, str]()
    for name, value in properties.items():
        matched = _PROFILE.fullmatch(name)
        if matched is None:
            found[name] = value
        elif profile in matched[1].split(","):
            own[matched[2]] = value
    return found | own


def resolved(value: str, properties: Mapping[str, str]) -> str:
    """Return *value* with the properties that it names, `${name:default}`; what is not known stays as it is."""
    for _ in range(_MAX_ROUNDS):
        put = _PLACE.sub(lambda place: properties.get(place[1], place[0] if place[2] is None else place[2]), value)
        if put == value:
            break
        value = put
    return value


def _lines(text: str) -> Iterator[str]:
    """Yield the logical lines: one ends in an odd number of backslashes if it goes on in the next."""
    begun = ""
    for line in text.splitlines():
        if not begun and _COMMENT.fullmatch(line):
            continue
        begun += line.lstrip(" \t\f")
        if (len(begun) - len(begun.rstrip("\\"))) % 2:
            begun = begun[:-1]
            continue
        yield begun
        begun = ""
    if begun:
        yield begun


def _pair(line: str) -> tuple[str, str]:
    match = re.match(r"((?:\\.|[^\\=: \t\f])*)[ \t\f]*[=:]?[ \t\f]*(.*)", line, re.DOTALL)
    assert match is not None  # noqa: S101 - every part may be empty
    return _plain(match[1]), _plain(match[2]).rstrip()


def _plain(text: str) -> str:
    return _ESCAPE.sub(lambda one: chr(int(one[1][1:], 16)) if len(one[1]) > 1 else _ESCAPED.get(one[1], one[1]), text)
