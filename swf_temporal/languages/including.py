"""Documents that definitions include: each keeps its own file, where its problems are reported.

Documents that a schema refers to become its `$defs`, once each, and all references lead there: so the schema is
self-contained.
"""

import posixpath
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias
from urllib.parse import quote

from swf_temporal.base.errors import Position, Problem
from swf_temporal.expressions.schema_checking import DATA_KEYWORDS
from swf_temporal.text.origin import UNWRITTEN, Array, Fetch, Object, Source, UnreadableText

_DRAFTS: Final = ("http://json-schema.org/", "https://json-schema.org/")
_MAX_DOCUMENTS: Final = 200

Read: TypeAlias = Callable[[str, Object], Object | None]
"""Returns the document at a URI, to which the object refers; None if it cannot be read."""


def take_documents(schema: Any, uri: str, read: Read) -> bool:
    """Include into *schema*, which is at *uri*, other documents that it refers to; return True if there are any."""
    if not isinstance(schema, Object):
        return False
    whole = _Whole(schema, uri, read)
    whole.take()
    return bool(whole.taken)


class _Whole:
    def __init__(self, schema: Object, uri: str, read: Read) -> None:
        self._schema = schema
        self._read = read
        self._places = {_normal(uri): ""} if uri else {}
        """The path of each document in the schema, by its URI."""
        self._waiting = [(schema, uri, "")]
        self.taken = Object(schema.where.position)

    def take(self) -> None:
        while self._waiting:
            document, base, place = self._waiting.pop()
            parts = list(_parts(document))
            ids = {one for part in parts if isinstance(one := part.get("$id"), str)}  # a property may have this name
            for part in parts:
                reference = part.get("$ref")
                if isinstance(reference, str) and not reference.startswith(_DRAFTS):
                    location, _, fragment = reference.partition("#")
                    if location and not ids & {location, f"{location}#"}:
                        self._lead(part, beside(base, location), fragment)
                    elif not location and place and fragment[:1] in ("", "/"):
                        part["$ref"] = f"#{place}{fragment}"
        self._put()

    def _lead(self, part: Object, target: str, fragment: str) -> None:
        """Point the reference in *part* to the document at *target*, if there is one."""
        if target not in self._places and len(self._places) < _MAX_DOCUMENTS:
            found = self._read(target, part)
            if found is None:
                return
            place = f"/$defs/{quote(target.replace('~', '~0').replace('/', '~1'), safe='~')}"
            self._places[target] = place
            self.taken.put(target, found, (part.where.position, part.where.position))
            self._waiting.append((found, target, place))
        if target in self._places:
            part["$ref"] = f"#{self._places[target]}{fragment}"

    def _put(self) -> None:
        """Add the included documents to the definitions of the schema."""
        for document in self.taken.values():
            for key in ("$id", "id", "$schema"):  # keys of a whole schema, of which it is only a part now
                if isinstance(document.get(key), str):
                    del document[key]
        if self.taken and "$defs" not in self._schema:
            position = self.taken.where.position
            self._schema.put("$defs", Object(position), (position, position))
        definitions = self._schema.get("$defs")
        if isinstance(definitions, Object):  # the rule for schemas reports anything else
            for key, document in self.taken.items():
                definitions.put(key, document, self.taken.where.keys[key])


def _parts(node: Any) -> Iterator[Object]:
    """Yield the objects of a schema in which a `$ref` is a reference."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Object):
            yield part
            waiting.extend(value for key, value in part.items() if key not in DATA_KEYWORDS)
        elif isinstance(part, Array):
            waiting.extend(part)


def beside(base: str, location: str) -> str:
    """Return the URI of *location* in a document at *base*."""
    scheme = location.partition(":")[0]
    is_whole = location.startswith("/") or (scheme != location and scheme.isalnum())
    folder = base.rpartition("/")[0]
    return _normal(location if is_whole or not folder else f"{folder}/{location}")


def _normal(uri: str) -> str:
    return uri if "://" in uri else posixpath.normpath(uri)


Places: TypeAlias = tuple[Position, Position]


@dataclass(frozen=True, slots=True)
class ForeignPosition(Position):
    """A position in a document other than the definition's own."""

    source: Source = UNWRITTEN


def at_its_origin(problem: Problem) -> Problem:
    """Return *problem* with its own file and line, if it is not in the definition's own text."""
    place = problem.position
    if not isinstance(place, ForeignPosition):
        return problem
    position = Position(place.line, place.column)
    return place.source.problem(problem.code, problem.message, position, problem.hint, problem.severity)


def source_at(uri: str, fetch: Fetch) -> Source:
    """Return the text of the document at *uri*. Raises ResourceError, and UnreadableText if it is not text."""
    resource = fetch(uri)
    try:
        return Source(resource.content.decode("utf-8-sig"), resource.location)
    except UnicodeDecodeError as error:
        message = f"this is not text in UTF-8: byte {error.start} is 0x{error.object[error.start]:02X}"
        raise UnreadableText(Source("", resource.location).problem("encoding", message, Position())) from None


def elsewhere(position: Position, source: Source) -> ForeignPosition:
    return ForeignPosition(position.line, position.column, source)


def moved_to(value: Any, source: Source) -> Any:
    """Return *value* with all its positions assigned to *source*."""
    if isinstance(value, Object):
        moved = Object(elsewhere(value.where.position, source))
        for key, item in value.items():
            at_key, at_value = value.where.keys[key]
            places = (elsewhere(at_key, source), elsewhere(at_value, source))
            moved.put(key, moved_to(item, source), places)
        return moved
    if isinstance(value, Array):
        positions = [elsewhere(position, source) for position in value.positions]
        return Array([moved_to(item, source) for item in value], positions)
    return value
