"""Reads Java properties, as in `application.properties`."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

_COMMENT: Final = re.compile(r"[ \t\f]*(?:[#!].*)?")
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_PLACE: Final = re.compile(r"\$\{([^{}:]+)(?::(?!:)([^{}]*))?\}")
_PROFILE: Final = re.compile(r"%([\w,-]+)\.(.+)", re.DOTALL)
_PRODUCTION: Final = "prod"
_MAX_ROUNDS: Final = 10


@dataclass(frozen=True, slots=True)
class PropertiesText:
    """Properties, and where they stand: in a file of their own, or within a manifest."""

    name: str
    """The path of the file, relative to the project."""
    text: str
    line: int = 0
    """The number of lines of the file that stand before the text."""
    is_on_one_line: bool = False
    """Whether the text is quoted in a line of the file, and not a block of lines."""
    profile: str | None = None
    """The profile in which all of it holds, if it is of one alone."""
    workflow: str | None = None
    """The name of the workflow that it is for, if it is for one alone."""

    def lines(self) -> dict[str, int]:
        """Return the line of the file in which each property is set, by its name; the last of several counts."""
        if self.is_on_one_line:
            return dict.fromkeys(read_properties(self.text), self.line + 1)
        return {_pair(line)[0]: self.line + number for number, line in _numbered(self.text)}


def read_properties(text: str) -> dict[str, str]:
    """Return the properties that *text* sets, as they are written; the last of several with one name counts."""
    return dict(_pair(line) for _, line in _numbered(text))


def of_production(properties: Mapping[str, str]) -> dict[str, str]:
    """Return what holds in production: what is said for it alone, `%prod.NAME`, counts before what is said for all."""
    found, own = dict[str, str](), dict[str, str]()
    for name, value in properties.items():
        matched = _PROFILE.fullmatch(name)
        if matched is None:
            found[name] = value
        elif _PRODUCTION in matched[1].split(","):
            own[matched[2]] = value
    return found | own


def in_production(texts: Iterable[PropertiesText]) -> dict[str, str]:
    """Return what *texts* say for production, each after those before it."""
    found: dict[str, str] = {}
    for one in texts:
        if one.profile in (None, _PRODUCTION):
            found |= of_production(read_properties(one.text))
    return found


def resolved(value: str, properties: Mapping[str, str], is_known: Callable[[str], bool] = lambda _: True) -> str:
    """Return *value* with the properties that it names, `${name:default}`; what is not known stays as it is."""

    def put_in(place: re.Match[str]) -> str:
        default = place[0] if place[2] is None else place[2]
        return properties.get(place[1], default) if is_known(place[1]) else place[0]

    for _ in range(_MAX_ROUNDS):
        put = _PLACE.sub(put_in, value)
        if put == value:
            break
        value = put
    return value


def other_profiles(properties: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the profiles other than production for which something is said, each with the first property of it."""
    found: dict[str, str] = {}
    for name in properties:
        matched = _PROFILE.fullmatch(name)
        if matched is not None and _PRODUCTION not in matched[1].split(","):
            found.setdefault(matched[1], name)
    yield from found.items()


def _numbered(text: str) -> Iterator[tuple[int, str]]:
    """Yield the logical lines, each with its number: it ends in an odd number of backslashes if the next goes on."""
    begun, first = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if not begun and _COMMENT.fullmatch(line):
            continue
        first = first or number
        begun += line.lstrip(" \t\f")
        if (len(begun) - len(begun.rstrip("\\"))) % 2:
            begun = begun[:-1]
            continue
        yield first, begun
        begun, first = "", 0
    if begun:
        yield first, begun


def _pair(line: str) -> tuple[str, str]:
    match = re.match(r"((?:\\.|[^\\=: \t\f])*)[ \t\f]*[=:]?[ \t\f]*(.*)", line, re.DOTALL)
    assert match is not None  # noqa: S101 - every part may be empty
    return _plain(match[1]), _plain(match[2]).rstrip()


def _plain(text: str) -> str:
    return _ESCAPE.sub(lambda one: chr(int(one[1][1:], 16)) if len(one[1]) > 1 else _ESCAPED.get(one[1], one[1]), text)
