"""Where are the definitions that a workflow names by a URI, in place of writing them out?

A URI that is a path beside the definition is read; anything else is somewhere that loading does not reach.
What is not found is a warning, and references to definitions of that kind are then not checked.
"""

from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote, urlsplit

from swf_temporal.dialects.placed import Array, Object, Unreadable
from swf_temporal.dialects.source import read_source
from swf_temporal.dialects.spelling import Speller
from swf_temporal.errors import Position, Problem
from swf_temporal.model.workflow import Source

URIs: TypeAlias = dict[str, dict[str, str]]

KINDS = ("functions", "events", "retries", "errors", "auth", "secrets", "constants", "timeouts")
"""What may stand in a document of its own (section "Workflow Definition Structure")."""


def take_externals(root: Object, speller: Speller, folder: Path | None) -> tuple[URIs, list[Problem]]:
    """Put what *root* names by URI in the URI's place, where it is found.

    Return the URIs by what they stand for, and what is wrong with what was read. For problems, all that came from
    elsewhere stands where its URI stands.
    """
    externals: URIs = {}
    problems: list[Problem] = []
    for kind in KINDS:
        if not isinstance(root.get(kind), str):
            continue
        uri, places = root.take(kind)
        externals[kind] = {"uri": uri}
        path = _beside(uri, folder)
        if path is None:
            message = f"{kind} stand in {uri!r}, which is not there: references to them are not checked"
            speller.warn("external-missing", message, places[1])
            continue
        try:
            root.put(kind, _moved(_read(path, kind), places[1]), places)
        except Unreadable as unreadable:
            problems += unreadable.problems
    return externals, problems


def _beside(uri: str, folder: Path | None) -> Path | None:
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if folder is None or parts.scheme not in ("", "file"):
        return None
    # file://functions.json names a host, but is how official examples write a file beside the definition.
    path = folder / unquote((parts.netloc + parts.path) if parts.scheme else uri)
    try:
        return path if path.is_file() else None
    except (OSError, ValueError):
        return None


def _read(path: Path, kind: str) -> Any:
    source = Source("", str(path))
    try:
        source = Source(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        raise Unreadable(source.problem("external-missing", f"cannot be read: {error.strerror}", Position())) from None
    except UnicodeDecodeError:
        raise Unreadable(source.problem("encoding", "this is not text in UTF-8", Position())) from None
    data, _ = read_source(source)
    return data[kind] if isinstance(data, Object) and kind in data else data


def _moved(value: Any, position: Position) -> Any:
    """Return *value* as if all of it had been written at *position*."""
    if isinstance(value, Object):
        moved = Object(position)
        for key, item in value.items():
            moved.put(key, _moved(item, position), (position, position))
        return moved
    if isinstance(value, Array):
        return Array([_moved(item, position) for item in value], [position] * len(value))
    return value
