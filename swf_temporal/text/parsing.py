"""Reads texts that are YAML or JSON: as data that knows its lines and columns, or as plain data."""

import re
from typing import Any

from swf_temporal.base import strict_json
from swf_temporal.base.errors import Position, Problem, Severity
from swf_temporal.text.json_text import read_json
from swf_temporal.text.located import LINE_END, Array, Object, UnreadableText
from swf_temporal.text.origin import Source
from swf_temporal.text.yaml_text import read_plain_yaml, read_yaml

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
"""Characters that neither YAML nor JSON may contain as they are."""


def read_source(source: Source) -> tuple[Any, list[Problem]]:
    """Return the data of a definition, and what was tolerated while reading it.

    A text that starts with a brace, a bracket or a comment of JavaScript is JSON. Where it is not quite JSON but reads
    as YAML, it is taken as that, with a warning. Raises Unreadable, with what stands in the way, if it is neither.
    """
    text = source.text.removeprefix("\ufeff")
    if not text.strip():
        raise UnreadableText(source.problem("empty", "there is no definition here: the text is empty", Position()))
    _refuse_characters(text, source)
    if not text.lstrip().startswith(("{", "[", "//", "/*")):
        return read_yaml(text, source), []
    try:
        return read_json(text, source), []
    except UnreadableText as not_json:
        return _flow(text, source, not_json)


def read_object(source: Source) -> tuple[Object, list[Problem]]:
    """Return the definition in *source*, which must be an object, and what was tolerated while reading it."""
    data, tolerated = read_source(source)
    if isinstance(data, Object):
        return data, tolerated
    written = "a list" if isinstance(data, Array) else "a single value"
    message = f"a definition is an object with keys such as id and states, but this is {written}"
    raise UnreadableText(source.problem("type", message, Position()))


def read_data(text: str | bytes) -> Any:
    """Return what *text* says, YAML or JSON, as plain data; None if it says nothing.

    Raises ValueError, which says what is wrong and where, and may quote from the text.
    """
    if isinstance(text, bytes):
        text = strict_json.text_of(text)
    text = text.removeprefix("\ufeff")
    if text.lstrip().startswith(("{", "[")):
        try:
            return strict_json.read_json(text)
        except strict_json.NotJSON:
            pass  # it may be the flow style of YAML; what is refused is refused there, too, with its place
    source = Source(text)
    try:
        _refuse_characters(text, source)
        return read_plain_yaml(text, source)
    except UnreadableText as error:
        problem = error.problem
        place = f"line {problem.position.line}, column {problem.position.column}"
        raise ValueError(f"{place}: {problem.message}") from None


def _flow(text: str, source: Source, not_json: UnreadableText) -> tuple[Any, list[Problem]]:
    first = not_json.problem
    if not not_json.perhaps_yaml:
        raise not_json
    try:
        data = read_yaml(text, source)
    except UnreadableText:
        raise not_json from None
    message = f"this is not JSON, and was read as YAML: {first.message}"
    return data, [source.problem("tolerated-spelling", message, first.position, first.hint, Severity.WARNING)]


def _refuse_characters(text: str, source: Source) -> None:
    found = _FORBIDDEN.search(text)
    if found is None:
        return
    starts = [0, *(end.end() for end in LINE_END.finditer(text, 0, found.start()))]
    position = Position(len(starts), found.start() - starts[-1] + 1)
    message = f"the character U+{ord(found[0]):04X} is not allowed in YAML or JSON"
    raise UnreadableText(source.problem("encoding", message, position, "is this file really text, in UTF-8?"))
