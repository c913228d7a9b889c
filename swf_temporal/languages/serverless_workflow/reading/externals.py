"""Takes in the documents that a workflow names by a URI, in place of writing them out.

It is put in the URI's place and remembers its own file: a problem about it is told there. What is not found is a
warning, and references to definitions of that kind are then not checked.

Each document becomes one of the `$defs` of the schema, once, and all references lead there: so the schema is whole,
wherever it travels. A reference that leads nowhere stays, and is told with what is wrong with schemas.
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
"""Returns the document at a URI, which the object refers to; None if it cannot be had."""


def take_documents(schema: Any, uri: str, read: Read) -> bool:
    """Take into *schema*, which stands at *uri*, what it refers to in other documents; tell whether there was any."""
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
        """Where each document stands in the schema, by its URI."""
        self._waiting = [(schema, uri, "")]
        self.taken = Object(schema.where.position)

    def take(self) -> None:
        while self._waiting:
            document, base, place = self._waiting.pop()
            parts = list(_parts(document))
            ids = {one for part in parts if isinstance(one := part.get("$id"), str)}  # a property may be called so
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
        """Let the reference in *part* lead into the document at *target*, if there is one."""
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
        """Put what was taken beside the definitions that the schema has."""
        for document in self.taken.values():
            for key in ("$id", "id", "$schema"):  # of a whole, which it is a part of now
                if isinstance(document.get(key), str):
                    del document[key]
        if self.taken and "$defs" not in self._schema:
            position = self.taken.where.position
            self._schema.put("$defs", Object(position), (position, position))
        definitions = self._schema.get("$defs")
        if isinstance(definitions, Object):  # anything else is told with what is wrong with schemas
            for key, document in self.taken.items():
                definitions.put(key, document, self.taken.where.keys[key])


def _parts(node: Any) -> Iterator[Object]:
    """Yield the objects of a schema in which a `$ref` may refer to something."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Object):
            yield part
            waiting.extend(value for key, value in part.items() if key not in DATA_KEYWORDS)
        elif isinstance(part, Array):
            waiting.extend(part)


def _beside(base: str, location: str) -> str:
    """Return the URI of *location*, which a document at *base* refers to."""
    scheme = location.partition(":")[0]
    is_whole = location.startswith("/") or (scheme != location and scheme.isalnum())
    folder = base.rpartition("/")[0]
    return _normal(location if is_whole or not folder else f"{folder}/{location}")


def _normal(uri: str) -> str:
    return uri if "://" in uri else posixpath.normpath(uri)


Places: TypeAlias = tuple[Position, Position]

KINDS = ("functions", "events", "retries", "errors", "auth", "secrets", "constants", "timeouts", "extensions")
"""Parts of a workflow that may stand in a document of their own (section "Workflow Definition Structure")."""

SCHEMAS = ("dataInputSchema", "dataOutputSchema")


@dataclass(frozen=True, slots=True)
class ForeignPosition(Position):
    """A place in another document than the definition's own."""

    source: Source = UNWRITTEN


@dataclass(slots=True)
class Externals:
    """The documents that a definition includes."""

    uris: dict[str, dict[str, str]] = field(default_factory=dict)
    """Where definitions stand that are not written out, by their kind."""
    problems: list[Problem] = field(default_factory=list)
    are_taken: bool = False
    """Whether any document was found, so that the text alone is not the whole definition."""


def take_externals(root: Object, source: Source, fetch: Fetch) -> Externals:
    """Put what *root* names by URI in the URI's place, where it is found; return which that is."""
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
    """Return *problem* with the file and the line that it is about, if that is not in the definition's own text."""
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
        """Put the document at *uri*, written at *places*, into *holder*, or say why that cannot be.

        Without a *key* the document may be an object in which what is meant stands under its name.
        """
        try:
            source = self._source(uri)
            value, position = self._read(source, what, unwrap=key is None)
        except UnreadableText as unreadable:
            self._externals.problems += unreadable.problems
        except ResourceError as error:
            self._tell(error, f"{what} stand in {uri!r}" if key is None else f"{what} is {uri!r}", places[1])
        else:
            holder.put(key or what, _moved(value, source), (places[0], _elsewhere(position, source)))
            self._externals.are_taken = True

    def take_schemas(self, what: str, schema: Any, uri: str) -> None:
        """Put into *schema*, which is called *what* and stands at *uri*, the documents that it refers to."""

        def read(target: str, part: Object) -> Object | None:
            try:
                source = self._source(target)
                value, tolerated = read_source(source)
            except MissingResourceError:
                return None  # the rules of schemas report that the reference leads nowhere
            except UnreadableText as unreadable:
                self._externals.problems += unreadable.problems
            except ResourceError as error:
                self._tell(error, f"{what} refers to {target!r}", part.where.value("$ref"))
            else:
                self._externals.problems += tolerated
                moved = _moved(value, source)
                return moved if isinstance(moved, Object) else None
            del part["$ref"]  # the definition is refused for it, and once is enough
            return None

        if take_documents(schema, uri, read):
            self._externals.are_taken = True

    def _tell(self, error: ResourceError, subject: str, position: Position) -> None:
        source, message = self._naming, f"{subject}, {error.reason}"
        if isinstance(error, MissingResourceError):
            left = "references to them are not checked" if " stand in " in subject else "no data is validated by it"
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
            message = f"{what} stand in yet another document, {value!r}: one that is named by a URI cannot name others"
            raise UnreadableText(source.problem("external-nested", message, position))
        return value, position


def _schema_uri(root: Object, name: str) -> Iterator[tuple[Object, str]]:
    """Yield the object and the key under which the schema *name* is given by a URI."""
    written = root.get(name)
    if isinstance(written, str):
        places = root.where.keys[name]
        around = Object(places[1])
        around.put("schema", written, places)
        root[name] = written = around
    if isinstance(written, Object) and isinstance(written.get("schema"), str):
        yield written, "schema"


def _documents_of_extensions(root: Object) -> Iterator[tuple[str, Object, str]]:
    """Yield what each extension is called, and the object and the key under which the URI of its document stands.

    Texts have `path` for that key and schemas `resource`. The document is put beside it.
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
    """Return *value* with every place in it known to be one of *source*."""
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
