"""Takes in the documents that a workflow names by a URI, in place of writing them out.

It is put in the URI's place and remembers its own file: a problem about it is told there. What is not found is a
warning, and references to definitions of that kind are then not checked.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from swf_temporal.base.errors import Position, Problem, Severity
from swf_temporal.languages.serverless_workflow.reading.schema_documents import take_documents
from swf_temporal.text.located import Array, Object, UnreadableText
from swf_temporal.text.origin import UNWRITTEN, Source
from swf_temporal.text.parsing import read_source
from swf_temporal.text.resources import Fetch, ForbiddenResourceError, MissingResourceError, ResourceError

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
