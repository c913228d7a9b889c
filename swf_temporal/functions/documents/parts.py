"""Parts of a document, by their place, with references followed."""

import os.path
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.functions.urls import join_url, split_url

_MAX_CHAIN = 32
_NOTHING = object()
_ANCHORS = ("$anchor", "$dynamicAnchor")


# `referencing`, which jsonschema stands on, resolves references within schemas. Documents of OpenAPI and AsyncAPI are
# none: in them it finds no anchors. Nor does it wait for what is fetched, or name a document as the definition does.
@dataclass(frozen=True, slots=True)
class Document:
    """A document that describes a service, and where it was found."""

    name: str
    """As the definition writes it, or the document that refers to it."""
    location: str
    """The URL or path that it was read from."""
    content: dict[str, Any] = field(repr=False)
    others: "dict[str, Document]" = field(default_factory=dict, repr=False, compare=False)
    """Those that were read because this one refers to them, by location. All of them share it."""
    kept: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """What was read in it, for further calls; it is read anew with a document that has led to others."""

    @property
    def url(self) -> str | None:
        """The URL that the document was fetched from, or None if it is a file."""
        return self.location if is_web(self.location) else None

    @property
    def is_swagger(self) -> bool:
        """Whether the document is written in version 2.0."""
        return "swagger" in self.content

    def resolve(self, node: object) -> dict[str, Any]:
        """Return the object that *node* is, a part of this document, or that its `$ref` points to."""
        return self.follow(node).value

    def follow(self, node: object) -> "DocumentPart":
        """Return the object that *node* is or refers to, and in which document it stands; an empty one for no object.

        Raises CallFailed for a reference that leads nowhere or to itself, and UnresolvedReference for one into
        a document that is not local.
        """
        document: Document = self
        for _ in range(_MAX_CHAIN):
            if not isinstance(node, dict):
                return DocumentPart(document, {})
            reference = node.get("$ref")
            if not isinstance(reference, str):
                return DocumentPart(document, node)
            document, node = document.target(reference)
        raise permanent_failure("BadDocument", f"the document '{self.name}' has circular references")

    def target(self, reference: str) -> "tuple[Document, JSON]":
        """Return what a reference in this document points to, which may be a reference too, and in which document."""
        location, _, fragment = reference.partition("#")
        document = self._other(location, reference) if location else self
        node = _at(document.content, unquote(fragment))
        if node is _NOTHING:
            raise permanent_failure("BadDocument", f"'{self.name}' refers to '{reference}', which is not in it")
        return document, node

    def _other(self, name: str, reference: str) -> "Document":
        location = beside(self.location, name)
        if location == normal(self.location):
            return self
        if location not in self.others:
            raise UnresolvedReference(self, reference, location)
        return self.others[location]


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """An object in a document. References in it start from that document."""

    document: Document
    value: dict[str, Any]

    def part(self, key: str) -> "DocumentPart":
        """Return the object under *key*, its reference followed; an empty one if there is none."""
        return self.document.follow(self.value.get(key))

    def parts(self, key: str) -> "list[DocumentPart]":
        """Return the objects in the list under *key*, their references followed."""
        found = self.value.get(key)
        return [self.document.follow(node) for node in found] if isinstance(found, list) else []

    def named(self, key: str, *beginnings: str) -> "Iterator[tuple[str, DocumentPart]]":
        """Yield the objects in the object under *key* with their names, their references followed.

        Where *beginnings* are given, only those whose names begin with one of them, whatever the case.
        """
        holder = self.part(key)
        for name in holder.value:
            if not beginnings or name.lower().startswith(beginnings):
                yield name, holder.part(name)


class UnresolvedReference(CallFailed):
    """A reference leads into a document that was not read yet. The caller may get that, and read again with it."""

    def __init__(self, document: Document, reference: str, location: str) -> None:
        message = f"'{document.name}' refers to '{reference}'; here only references within a document are followed"
        super().__init__(message, code="BadDocument", retryable=False)
        self.document = document
        self.reference = reference
        self.location = location


def is_web(location: str) -> bool:
    """Tell whether *location* is fetched over HTTP."""
    return location.lower().startswith(("http://", "https://"))


def as_path(location: str) -> str:
    """Return the path that *location* names, which may be a URI."""
    # `classpath:` is what SonataFlow's users write for "beside the definition".
    if location.startswith("classpath:"):
        return location.removeprefix("classpath:").lstrip("/")
    if location.startswith("file:"):
        parts = split_url(location)
        # The specification writes `file://` in front of relative paths, too.
        host = "" if parts.netloc == "localhost" else parts.netloc
        return unquote(host + parts.path)
    return location


def beside(location: str, name: str) -> str:
    """Return where the document *name* is that one at *location* refers to."""
    if is_web(name):
        return name
    if is_web(location):
        return join_url(location, name)
    path = as_path(name) if name.startswith(("file:", "classpath:")) else unquote(name)
    return normal(str(Path(location).parent / path))


def normal(location: str) -> str:
    """Return *location* as every reference to it comes to be written."""
    return location if is_web(location) else os.path.normpath(location)


def _at(content: dict[str, Any], fragment: str) -> Any:
    """Return what a fragment, with its percent signs resolved, points to: a JSON pointer or an anchor."""
    if fragment and not fragment.startswith("/"):
        return _anchored(content, fragment)
    node: Any = content
    for step in fragment.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(node, dict):
            node = node.get(key, _NOTHING)
        elif isinstance(node, list) and key.isdecimal() and int(key) < len(node):
            node = node[int(key)]
        else:
            return _NOTHING
    return node


def _anchored(content: object, name: str) -> object:
    """Return the schema that calls itself *name*."""
    waiting, seen = [content], set[int]()  # aliases of YAML may stand for the same in many places
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, dict):
            if name in [node.get(key) for key in _ANCHORS]:
                return node
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)
    return _NOTHING
