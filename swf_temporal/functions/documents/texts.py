"""What does the text of a document say, which may be JSON or YAML?

YAML is read in the way of version 1.2, as those who describe services write it: `no`, `on` and dates are texts.
"""

import json
import re
from typing import Any

import yaml

_MAX_DEPTH = 200
"""How deeply values may stand within each other: what reads YAML, and what is done with it, goes down with them."""
_MOST = 5_000_000
"""How many values there may be where each alias is counted as all that it stands for, as what is made of it counts."""
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?")
_WORDS: dict[str, Any] = dict.fromkeys(("", "~", "null", "Null", "NULL")) | {
    spelling(str(truth)): truth for truth in (True, False) for spelling in (str.lower, str.title, str.upper)
}
_TAG = "tag:yaml.org,2002:"
_PLAIN_TAGS = {f"{_TAG}{kind}" for kind in ("null", "bool", "int", "float")}
_TEXT_TAGS = {f"{_TAG}str", "!"}
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the quick one, where PyYAML was built with it
_NOTHING = object()
_MERGED = object()
"""The name of what a mapping takes over from others, until it is complete."""


def read_text(text: bytes) -> Any:
    """Return what *text* says, with the names in every object as texts. Raises ValueError."""
    try:
        if text.lstrip().startswith(b"{"):
            return json.loads(text)
        return _Builder().built(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


class _Builder:
    """Builds a value from the events of a YAML text, without going down with it."""

    def __init__(self) -> None:
        self._value: Any = None
        self._open: list[Any] = []
        self._names: list[Any] = []
        self._marks: list[str | None] = []
        self._sizes: list[int] = [0]
        self._anchors: dict[str, tuple[Any, int]] = {}

    def built(self, text: bytes) -> Any:
        documents = 0
        for event in yaml.parse(text, _LOADER):
            documents += isinstance(event, yaml.DocumentStartEvent)
            self._take(event)
        if documents > 1:
            raise ValueError("it holds more than one document")
        return self._value

    def _take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.ScalarEvent):
            value = _scalar(event)
            self._add(event, value)
            self._mark(event.anchor, value, 1)
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._anchors:
                raise ValueError(f"the alias *{event.anchor} stands for nothing that is complete before it")
            value, size = self._anchors[event.anchor]
            self._add(event, value)
            self._count(size)
        elif isinstance(event, yaml.CollectionStartEvent):
            collection: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
            self._add(event, collection)
            self._open.append(collection)
            self._names.append(_NOTHING)
            self._marks.append(event.anchor)
            self._sizes.append(0)
            if len(self._open) > _MAX_DEPTH:
                raise ValueError("it is nested too deeply")
        elif isinstance(event, yaml.CollectionEndEvent):
            collection, size = self._open.pop(), self._sizes.pop()
            _merge(collection)
            self._names.pop()
            self._count(size)
            self._mark(self._marks.pop(), collection, size)

    def _add(self, event: Any, value: Any) -> None:
        self._count(1)
        if not self._open:
            self._value = value
        elif isinstance(self._open[-1], list):
            self._open[-1].append(value)
        elif self._names[-1] is _NOTHING:
            self._names[-1] = _name(event, value)
        else:
            self._open[-1][self._names[-1]] = value
            self._names[-1] = _NOTHING

    def _mark(self, anchor: str | None, value: Any, size: int) -> None:
        if anchor is not None:
            self._anchors[anchor] = value, size

    def _count(self, more: int) -> None:
        self._sizes[-1] += more
        if self._sizes[-1] > _MOST:
            raise ValueError(f"with what its aliases stand for it has more than {_MOST:,} values")


def _name(event: Any, value: Any) -> Any:
    """Return the name that a key is: YAML reads the status in `200: {…}` as a number."""
    if isinstance(value, dict | list):
        raise yaml.YAMLError(f"a name in an object is a text, and not a collection: line {event.start_mark.line + 1}")
    if value == "<<" and isinstance(event, yaml.ScalarEvent) and event.implicit[0]:
        return _MERGED
    return value if isinstance(value, str) else json.dumps(value)


def _merge(collection: Any) -> None:
    if isinstance(collection, dict) and _MERGED in collection:
        merged = collection.pop(_MERGED)
        for other in merged if isinstance(merged, list) else [merged]:
            if not isinstance(other, dict):
                raise yaml.YAMLError("<< takes over what is in another object, and not from anything else")
            for name, value in other.items():
                collection.setdefault(name, value)


def _scalar(event: Any) -> Any:
    text = str(event.value)
    if event.tag in _TEXT_TAGS or (event.tag is None and not event.implicit[0]):
        return text
    if event.tag is not None and event.tag not in _PLAIN_TAGS:
        raise ValueError(f"the tag {event.tag} is not known here: line {event.start_mark.line + 1}")
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text
