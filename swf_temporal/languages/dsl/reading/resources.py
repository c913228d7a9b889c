"""The documents that a definition includes: schemas, and functions of catalogs and at URLs.

They are fetched when the definition is loaded and become part of its text, which a run carries: a schema takes the
place of its `resource`, and a function is in `use.functions` under the text by which it is called. A function may call
others, and refer to schemas, relative to its own place.
"""

import re
from dataclasses import dataclass, field
from typing import Any, Final

from swf_temporal.base.errors import Position, Problem, Severity
from swf_temporal.languages.dsl.model.workflow import BUILT_IN
from swf_temporal.languages.dsl.names import WrittenTask, iterators_of, object_at, tasks_within, written_tasks
from swf_temporal.languages.including import beside, moved_to, source_at, take_documents
from swf_temporal.text.fetching.resources import raw
from swf_temporal.text.origin import (
    DEFAULT_CATALOG,
    Fetch,
    ForbiddenResourceError,
    MissingResourceError,
    NoCatalogError,
    Object,
    ResourceError,
    Source,
    UnreadableText,
    written,
)
from swf_temporal.text.parsing import read_source
from swf_temporal.text.suggestions import meant_or_known

_MAX_FUNCTIONS: Final = 200
"""The number of functions that one definition may include."""
_DEFAULT: Final = "default"
_CATALOGED: Final = re.compile(r"(?P<name>[^:@/\s]+):(?P<version>[^:@/\s]+)@(?P<catalog>[^@/\s]+)")
"""A call of a function of a catalog."""
_ENDINGS: Final = (".yaml", ".yml", ".json")
_FUNCTION: Final = "function.yaml"
_SCHEMAS: Final = ("input", "output", "export")


@dataclass(slots=True)
class Included:
    """The documents that a definition includes."""

    source: Source
    """The source of the whole definition, with the documents in it."""
    problems: list[Problem] = field(default_factory=list)
    missing: set[str] = field(default_factory=set)
    """The calls of functions that could not be included, which are reported."""


def with_resources(root: Object, source: Source, fetch: Fetch) -> Included:
    """Put the documents that *root* names into it."""
    resolver = _Resolver(root, source, fetch)
    resolver.take_functions(list(written_tasks(root)), "")
    resolver.take_schemas_of(root, "the workflow", "")
    if resolver.is_changed:
        resolver.included.source = Source(written(root), source.name)
    return resolver.included


class _Resolver:
    def __init__(self, root: Object, source: Source, fetch: Fetch) -> None:
        self._root = root
        self._source = source
        self._fetch = fetch
        self._count = 0
        self._warned: set[str] = set()
        self.included = Included(source)
        self.is_changed = False
        """Whether a document was put into the definition."""

    def take_functions(self, tasks: list[WrittenTask], base: str) -> None:
        """Put the functions that *tasks*, in the document at *base*, call into the definition."""
        for one in tasks:
            self.take_schemas_of(one.task, one.owner, base)
            for iterator in iterators_of(one.task):
                self.take_schemas_of(iterator, one.owner, base)
            called = one.task.get("call")
            if isinstance(called, str) and called not in BUILT_IN and not self._is_known(called):
                self._take_function(called, one, base)

    def _is_known(self, called: str) -> bool:
        functions = object_at(self._root, "use", "functions")
        return called in self.included.missing or (functions is not None and called in functions)

    def _take_function(self, called: str, one: WrittenTask, base: str) -> None:
        where = one.task.where.value("call")
        uri = self._uri_of(called, one, where, base)
        if uri is None:
            return
        at = "" if uri == called or uri.startswith(DEFAULT_CATALOG) else f" at {uri!r}"
        subject = f"{one.owner} calls {called!r}{at}"
        if self._count >= _MAX_FUNCTIONS:
            message = f"{subject}, and a definition may include {_MAX_FUNCTIONS} functions"
            self._refuse(called, self._source.problem("external-unreadable", message, where))
            return
        self._count += 1
        if uri.startswith(DEFAULT_CATALOG) and not self._is_in_default_catalog(uri):
            return
        found = self._read(uri, subject, where)
        if found is None:
            self.included.missing.add(called)
            return
        functions = self._functions(where)
        if functions is not None:
            functions.put(called, found, (where, found.where.position))
            self.is_changed = True
            function = WrittenTask(functions, called, found, is_function=True)
            self.take_functions([function, *tasks_within(found)], uri)

    def _is_in_default_catalog(self, uri: str) -> bool:
        """Return whether the operator's catalog has the document at *uri*. If not, the function is the worker's."""
        try:
            self._fetch(uri)
        except (NoCatalogError, MissingResourceError):
            return False
        except ResourceError:
            return True  # it is reported why it cannot be read
        return True

    def _functions(self, position: Position) -> Object | None:
        """Return the object `use.functions`, which is made if it is not there; None if it has another form."""
        node = self._root
        for key in ("use", "functions"):
            if key not in node:
                node.put(key, Object(position), (position, position))
            inner = node[key]
            if not isinstance(inner, Object):
                return None
            node = inner
        return node

    def _uri_of(self, called: str, one: WrittenTask, where: Position, base: str) -> str | None:
        """Return the URI of the function that is *called*; None if that is no URI, or the catalog is not known."""
        cataloged = _CATALOGED.fullmatch(called)
        if cataloged is None:
            is_uri = "://" in called or called.startswith(("file:", "./", "../", "/")) or called.endswith(_ENDINGS)
            if not is_uri:
                return None
            page = beside(base, called)
            uri = raw(page)
            return uri if uri == page or uri.endswith(_ENDINGS) else f"{uri}/{_FUNCTION}"
        path = f"functions/{cataloged['name']}/{cataloged['version']}/{_FUNCTION}"
        catalogs = object_at(self._root, "use", "catalogs")
        name = cataloged["catalog"]
        if catalogs is None or name not in catalogs:
            if name == _DEFAULT:
                return f"{DEFAULT_CATALOG}{path}"
            known = [*(catalogs or ()), _DEFAULT]
            message = f"{one.owner} calls {called!r}, and there is no catalog {name!r}"
            hint = meant_or_known(name, known) if catalogs else "define it under use.catalogs"
            self._refuse(called, self._source.problem("catalog-undefined", message, where, hint))
            return None
        root = self._endpoint(catalogs[name], f"catalog {name!r}", catalogs.where.value(name))
        if root is None:
            self.included.missing.add(called)
            return None
        return f"{raw(root).rstrip('/')}/{path}"

    def _refuse(self, called: str, problem: Problem) -> None:
        self.included.missing.add(called)
        self.included.problems.append(problem)

    def _endpoint(self, resource: Any, subject: str, where: Position) -> str | None:
        """Return the URI of the endpoint of *resource*; None, which is reported, if it has none that can be fetched."""
        endpoint = resource.get("endpoint") if isinstance(resource, Object) else None
        if isinstance(endpoint, Object):
            if "authentication" in endpoint and subject not in self._warned:
                self._warned.add(subject)
                message = f"{subject}: its authentication has no effect where documents are fetched"
                hint = "the settings SWF_RESOURCE_AUTH_<HOST> have the credentials for hosts of documents"
                position = endpoint.where.key("authentication")
                warning = self._source.problem("external-credentials", message, position, hint, Severity.WARNING)
                self.included.problems.append(warning)
            where, endpoint = endpoint.where.value("uri"), endpoint.get("uri")
        elif isinstance(resource, Object):
            where = resource.where.value("endpoint")
        if not isinstance(endpoint, str):
            return None  # its form is reported
        if "${" in endpoint:
            message = f"{subject}: its endpoint is an expression, and it is fetched before an instance starts"
            problem = self._source.problem("external-unreadable", message, where, "write the URI itself")
            self.included.problems.append(problem)
            return None
        return endpoint

    # Schemas

    def take_schemas_of(self, node: Object, owner: str, base: str) -> None:
        """Put the schemas of *node*, in the document at *base*, in the places of their URIs."""
        for key in _SCHEMAS:
            schema = object_at(node, key, "schema")
            if schema is not None:
                self._take_schema(schema, f"{owner}: {key}.schema", base)

    def _take_schema(self, schema: Object, subject: str, base: str) -> None:
        uri = base
        if "resource" in schema and "document" not in schema:
            where = schema.where.value("resource")
            endpoint = self._endpoint(schema["resource"], subject, where)
            if endpoint is None:
                return
            uri = raw(beside(base, endpoint))
            found = self._read(uri, f"{subject} is at {uri!r}", where)
            if found is None:
                return
            _, (at_key, _) = schema.take("resource")
            schema.put("document", found, (at_key, found.where.position))
            self.is_changed = True

        def read(target: str, part: Object) -> Object | None:
            found = self._read(target, f"{subject} refers to {target!r}", part.where.value("$ref"))
            if found is None:
                del part["$ref"]  # the problem is reported once
            return found

        if take_documents(schema.get("document"), uri, read):
            self.is_changed = True

    def _read(self, uri: str, subject: str, where: Position) -> Object | None:
        """Return the object in the document at *uri*; None, which is reported, if there is none."""
        problems = self.included.problems
        try:
            source = source_at(uri, self._fetch)
            value, tolerated = read_source(source)
        except UnreadableText as unreadable:
            problems += unreadable.problems
            return None
        except MissingResourceError as error:
            message, hint = f"{subject}, {error.reason}", "correct the URI, or put the document there"
            problems.append(self._source.problem("external-missing", message, where, hint))
            return None
        except ForbiddenResourceError as error:
            message = f"{subject}, {error.reason}"
            problems.append(self._source.problem("external-forbidden", message, where, error.hint))
            return None
        except ResourceError as error:
            message = f"{subject}, {error.reason}"
            problems.append(self._source.problem("external-unreadable", message, where, error.hint))
            return None
        problems += tolerated
        if not isinstance(value, Object):
            problems.append(source.problem("type", f"{subject}, which must contain an object", Position()))
            return None
        moved: Object = moved_to(value, source)
        return moved
