"""Including the documents that a workflow names by a URI.

A document replaces its URI and keeps its own file: problems are reported there. A document that is not found is a
warning, and references to definitions of that kind are then not checked.

Documents that a schema refers to become its `$defs`, once each, and all references lead there: so the schema is
self-contained. A reference to a document that is not found is an error.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from swf_temporal.base.errors import Position, Problem, Severity
from swf_temporal.languages.including import Places, elsewhere, moved_to, source_at, take_documents
from swf_temporal.text.origin import (
    Array,
    Fetch,
    ForbiddenResourceError,
    MissingResourceError,
    Object,
    ResourceError,
    Source,
    UnreadableText,
)
from swf_temporal.text.parsing import read_source

_DEAD_REFERENCE: Final = "correct the reference, put the document there, or define the schema under $defs of this one"

KINDS = ("functions", "events", "retries", "errors", "auth", "secrets", "constants", "timeouts", "extensions")
"""Parts of a workflow that may be in a separate document (section "Workflow Definition Structure")."""

SCHEMAS = ("dataInputSchema", "dataOutputSchema")


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
            source = source_at(uri, self._fetch)
            value, position = self._read(source, what, unwrap=key is None)
        except UnreadableText as unreadable:
            self._externals.problems += unreadable.problems
        except ResourceError as error:
            self._report(error, f"{what} are in {uri!r}" if key is None else f"{what} is {uri!r}", places[1])
        else:
            holder.put(key or what, moved_to(value, source), (places[0], elsewhere(position, source)))
            self._externals.are_taken = True

    def take_schemas(self, what: str, schema: Any, uri: str) -> None:
        """Include into *schema*, called *what* and located at *uri*, the documents that it refers to."""

        def read(target: str, part: Object) -> Object | None:
            try:
                source = source_at(target, self._fetch)
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
                moved = moved_to(value, source)
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
