"""Including the documents that a workflow names by a URI.

A document replaces its URI and keeps its own file: problems are reported there. A document that is not found is a
warning, and references to definitions of that kind are then not checked.

Documents that a schema refers to become its `$defs`, once each, and all references lead there: so the schema is
self-contained. A reference to a document that is not found is an error.
"""

import posixpath
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias
from urllib.parse import quote

from swf_temporal.base.errors import Position, Problem, Severity
from swf_temporal.expressions.schema_checking.checking import DATA_KEYWORDS
from swf_temporal.text.located import Array, Object, UnreadableText
from swf_temporal.text.origin import (
    UNWRITTEN,
    Fetch,
    ForbiddenResourceError,
    MissingResourceError,
    ResourceError,
    Source,
)
from swf_temporal.text.parsing import read_source

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
                        self._lead(part, _beside(base, location), fragment)
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


def _beside(base: str, location: str) -> str:
    """Return the URI of *location* in a document at *base*."""
    scheme = location.partition(":")[0]
    is_whole = location.startswith("/") or (scheme != location and scheme.isalnum())
    folder = base.rpartition("/")[0]
    return _normal(location if is_whole or not folder else f"{folder}/{location}")


def _normal(uri: str) -> str:
    return uri if "://" in uri else posixpath.normpath(uri)


Places: TypeAlias = tuple[Position, Position]

_DEAD_REFERENCE: Final = "correct the reference, put the document there, or define the schema under $defs of this one"

KINDS = ("functions", "events", "retries", "errors", "auth", "secrets", "constants", "timeouts", "extensions")
"""Parts of a workflow that may be in a separate document (section "Workflow Definition Structure")."""

SCHEMAS = ("dataInputSchema", "dataOutputSchema")


@dataclass(frozen=True, slots=True)
class ForeignPosition(Position):
    """A position in a document other than the definition's own."""

    source: Source = UNWRITTEN


@dataclass(slots=True)
class Externals:
    """The documents that a definition includes."""

    uris: dict[str, dict[str, str]] = field(default_factory=dict)
    """The URIs of definitions that are not written out, by kind."""
    problems: list[Problem] = field(default_factory=list)
    are_taken: bool = False
    """Whether any document was found, so that the text is not the whole definition."""


def take_externals(root: Object, source: Source, fetch: Fetch) -> Externals:
    """Replace the URIs in *root* by the documents that are found, and return these."""
    externals = Externals()
    resolver = _ExternalResolver(source, fetch, externals)
    for kind in KINDS:
        if isinstance(root.get(kind), str):
            uri, places = root.take(kind)
            externals.uris[kind] = {"uri": uri}
            resolver.take(kind, uri, places, root)
    for called, holder, key in _documents_of_extensions(root):
        resolver.take(called, holder[key], holder.where.keys[key], holder, "document")
    for name in SCHEMAS:
        uri = ""
        for holder, key in _schema_uri(root, name):
            uri = holder[key]
            resolver.take(name, uri, holder.where.keys[key], holder, key)
        if isinstance(schema := root.get(name), Object):
            resolver.take_schemas(name, schema.get("schema", schema), uri)
    return externals


def at_its_origin(problem: Problem) -> Problem:
    """Return *problem* with its own file and line, if it is not in the definition's own text."""
    place = problem.position
    if not isinstance(place, ForeignPosition):
        return problem
    position = Position(place.line, place.column)
    return place.source.problem(problem.code, problem.message, position, problem.hint, problem.severity)


class _ExternalResolver:
    """Fetches one document after the other."""

    def __init__(self, source: Source, fetch: Fetch, externals: Externals) -> None:
        self._naming = source
        self._fetch = fetch
        self._externals = externals

    def take(self, what: str, uri: str, places: Places, holder: Object, key: str | None = None) -> None:
        """Put the document at *uri*, written at *places*, into *holder*, or report why that is impossible.

        Without a *key* the document may be an object with the definitions under the name of their kind.
        """
        try:
            source = self._source(uri)
            value, position = self._read(source, what, unwrap=key is None)
        except UnreadableText as unreadable:
            self._externals.problems += unreadable.problems
        except ResourceError as error:
            self._report(error, f"{what} are in {uri!r}" if key is None else f"{what} is {uri!r}", places[1])
        else:
            holder.put(key or what, _moved(value, source), (places[0], _elsewhere(position, source)))
            self._externals.are_taken = True

    def take_schemas(self, what: str, schema: Any, uri: str) -> None:
        """Include into *schema*, called *what* and located at *uri*, the documents that it refers to."""

        def read(target: str, part: Object) -> Object | None:
            try:
                source = self._source(target)
                value, tolerated = read_source(source)
            except MissingResourceError as error:
                message, place = f"{what} refers to {target!r}, {error.reason}", part.where.value("$ref")
                self._externals.problems.append(self._naming.problem("data-schema", message, place, _DEAD_REFERENCE))
            except UnreadableText as unreadable:
                self._externals.problems += unreadable.problems
            except ResourceError as error:
                self._report(error, f"{what} refers to {target!r}", part.where.value("$ref"))
            else:
                self._externals.problems += tolerated
                moved = _moved(value, source)
                return moved if isinstance(moved, Object) else None
            del part["$ref"]  # the problem is reported once
            return None

        if take_documents(schema, uri, read):
            self._externals.are_taken = True

    def _report(self, error: ResourceError, subject: str, position: Position) -> None:
        source, message = self._naming, f"{subject}, {error.reason}"
        if isinstance(error, MissingResourceError):
            left = "references to them are not checked" if " are in " in subject else "no data is validated by it"
            hint = "correct the path, or put the document there"
            problem = source.problem("external-missing", f"{message}: {left}", position, hint, Severity.WARNING)
            self._externals.problems.append(problem)
        elif isinstance(error, ForbiddenResourceError):
            self._externals.problems.append(source.problem("external-forbidden", message, position, error.hint))
        else:
            self._externals.problems.append(source.problem("external-unreadable", message, position, error.hint))

    def _source(self, uri: str) -> Source:
        resource = self._fetch(uri)
        try:
            return Source(resource.content.decode("utf-8-sig"), resource.location)
        except UnicodeDecodeError as error:
            message = f"this is not text in UTF-8: byte {error.start} is 0x{error.object[error.start]:02X}"
            raise UnreadableText(Source("", resource.location).problem("encoding", message, Position())) from None

    def _read(self, source: Source, what: str, *, unwrap: bool) -> tuple[Any, Position]:
        value, tolerated = read_source(source)
        self._externals.problems += tolerated
        position = value.where.position if isinstance(value, Object) else Position()
        if unwrap and isinstance(value, Object) and what in value:
            value, position = value[what], value.where.value(what)
        if isinstance(value, str):
            message = f"{what} are in yet another document, {value!r}: an included document cannot include others"
            raise UnreadableText(source.problem("external-nested", message, position))
        return value, position


def _schema_uri(root: Object, name: str) -> Iterator[tuple[Object, str]]:
    """Yield the object and the key that give the schema *name* by a URI."""
    written = root.get(name)
    if isinstance(written, str):
        places = root.where.keys[name]
        around = Object(places[1])
        around.put("schema", written, places)
        root[name] = written = around
    if isinstance(written, Object) and isinstance(written.get("schema"), str):
        yield written, "schema"


def _documents_of_extensions(root: Object) -> Iterator[tuple[str, Object, str]]:
    """Yield the name of each extension, and the object and the key that give the URI of its document.

    The key is `path` in texts of the specification and `resource` in its schemas. The document is put beside it.
    """
    extensions = root.get("extensions")
    for extension in extensions if isinstance(extensions, Array) else ():
        if isinstance(extension, Object) and "document" not in extension:
            for key in ("resource", "path"):
                if isinstance(extension.get(key), str):
                    yield f"the extension {extension.get('extensionId')!r}", extension, key
                    break


def _elsewhere(position: Position, source: Source) -> ForeignPosition:
    return ForeignPosition(position.line, position.column, source)


def _moved(value: Any, source: Source) -> Any:
    """Return *value* with all its positions assigned to *source*."""
    if isinstance(value, Object):
        moved = Object(_elsewhere(value.where.position, source))
        for key, item in value.items():
            at_key, at_value = value.where.keys[key]
            places = (_elsewhere(at_key, source), _elsewhere(at_value, source))
            moved.put(key, _moved(item, source), places)
        return moved
    if isinstance(value, Array):
        positions = [_elsewhere(position, source) for position in value.positions]
        return Array([_moved(item, source) for item in value], positions)
    return value
