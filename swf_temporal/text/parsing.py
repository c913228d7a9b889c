"""What did the author write, and where? YAML or JSON becomes data that knows its lines and columns."""

import re
from typing import Any

from swf_temporal.errors import Position, Problem, Severity
from swf_temporal.text.json_text import read_json
from swf_temporal.text.located import LINE_END, Array, Object, Unreadable
from swf_temporal.text.origin import Source
from swf_temporal.text.yaml_text import read_yaml

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
"""Characters that neither YAML nor JSON may contain as they are."""


def read_source(source: Source) -> tuple[Any, list[Problem]]:
    """Return the data of a definition, and what was tolerated while reading it.

    A text that starts with a brace or a bracket is JSON. Where it is not quite JSON but reads as YAML, it is
    taken as that, with a warning. Raises Unreadable, with what stands in the way, if it is neither.
    """
    text = source.text.removeprefix("\ufeff")
    if not text.strip():
        raise Unreadable(source.problem("empty", "there is no definition here: the text is empty", Position()))
    forbidden = _FORBIDDEN.search(text)
    if forbidden:
        raise Unreadable(_forbidden(source, text, forbidden.start()))
    if text.lstrip()[0] not in "{[":
        return read_yaml(text, source), []
    try:
        return read_json(text, source), []
    except Unreadable as not_json:
        return _flow(text, source, not_json)


def read_object(source: Source) -> tuple[Object, list[Problem]]:
    """Return the definition in *source*, which must be an object, and what was tolerated while reading it."""
    data, tolerated = read_source(source)
    if isinstance(data, Object):
        return data, tolerated
    written = "a list" if isinstance(data, Array) else "a single value"
    message = f"a definition is an object with keys such as id and states, but this is {written}"
    raise Unreadable(source.problem("type", message, Position()))


def _flow(text: str, source: Source, not_json: Unreadable) -> tuple[Any, list[Problem]]:
    first = not_json.problem
    if not not_json.perhaps_yaml:
        raise not_json
    try:
        data = read_yaml(text, source)
    except Unreadable:
        raise not_json from None
    message = f"this is not JSON, and was read as YAML: {first.message}"
    return data, [source.problem("tolerated-spelling", message, first.position, first.hint, Severity.WARNING)]


def _forbidden(source: Source, text: str, offset: int) -> Problem:
    starts = [0, *(end.end() for end in LINE_END.finditer(text, 0, offset))]
    position = Position(len(starts), offset - starts[-1] + 1)
    message = f"the character U+{ord(text[offset]):04X} is not allowed in a definition"
    return source.problem("encoding", message, position, "is this file really text, in UTF-8?")
