"""The contents of a SonataFlow project: definitions, properties, documents and Kubernetes resources.

A ConfigMap may have some of these, and a resource of the operator has a definition.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Any, Final

from swf_temporal.base.files import ENDINGS
from swf_temporal.migration.report import Finding
from swf_temporal.text.origin import Object, Source, UnreadableText, plain
from swf_temporal.text.parsing import read_data, read_object
from swf_temporal.text.properties import PropertiesText
from swf_temporal.text.yaml_text import write_yaml

_NEXT_DOCUMENT: Final = re.compile(r"^---[ \t]*(?:#.*)?$\n?", re.MULTILINE)
_IN_PROJECT: Final = "src/main/resources"
_NAME: Final = re.compile(r"[\w.-]+")


@dataclass(frozen=True, slots=True)
class Mount:
    """A ConfigMap whose files are in a folder of an application."""

    config_map: str
    folder: str
    """Relative to the folder of the application's definition; empty for that folder itself."""
    line: int
    """The line, within the resource, that names the ConfigMap."""


def parts_of(text: str) -> Iterator[tuple[int, str]]:
    """Yield the documents of a stream that are not empty, each with the number of lines before it."""
    begin = 0
    for mark in [*_NEXT_DOCUMENT.finditer(text), None]:
        end = len(text) if mark is None else mark.start()
        if text[begin:end].strip():
            yield text.count("\n", 0, begin), text[begin:end]
        begin = len(text) if mark is None else mark.end()


def resource_in(text: str) -> tuple[str | None, Object | None]:
    """Return the kind of the Kubernetes resource in *text*, and the resource; None if it is something else."""
    if "kind" not in text:
        return None, None
    try:
        root, _ = read_object(Source(text, ""))
    except UnreadableText:
        return None, None
    kind = root.get("kind")
    return (kind, root) if "apiVersion" in root and isinstance(kind, str) else (None, None)


def items_of(text: str, root: Object) -> Iterator[tuple[str, int]]:
    """Yield the text of each item of the list *root*, and the number of lines before it.

    It is cut out, so that its lines stay those of the file, or written anew if it shares its lines with others.
    """
    items = root.get("items")
    for item in items if isinstance(items, list) else ():
        if isinstance(item, Object):
            yield _item(text, item)


def _item(text: str, item: Object) -> tuple[str, int]:
    place = item.where.position
    lines = text.splitlines(keepends=True)[place.line - 1 :]
    margin = place.column - 1
    inside = takewhile(lambda line: not line.strip() or not line[:margin].strip(), lines[1:])
    cut = "".join([lines[0][margin:], *(line[margin:] if line.strip() else "\n" for line in inside)])
    with suppress(UnreadableText):
        found, _ = read_object(Source(cut, ""))
        if plain(found) == plain(item):
            return cut, place.line - 1
    return write_yaml(plain(item)), place.line - 1


def name_of(root: Mapping[str, Any]) -> str | None:
    """Return the name of a resource, if it can be that of a file."""
    metadata = root.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) and _NAME.fullmatch(name) else None


def flow_in(root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the definition in a resource."""
    flow = _object(_object(root, "spec"), "flow")
    return {"id": name_of(root), **flow}


def mounts_of(root: Object) -> Iterator[Mount]:
    """Yield the ConfigMaps that the application of a SonataFlow resource has as files of its project."""
    spec = _object(root, "spec")
    for one in _objects(_object(spec, "resources"), "configMaps"):
        named = _object(one, "configMap")
        if isinstance(named.get("name"), str):
            folder = one.get("workflowPath")
            yield Mount(named["name"], folder.strip("/") if isinstance(folder, str) else "", _line(named))
    template = _object(spec, "podTemplate")
    volumes = {one.get("name"): _object(one, "configMap") for one in _objects(template, "volumes")}
    for one in _objects(_object(template, "container"), "volumeMounts"):
        named, path = volumes.get(one.get("name"), {}), str(one.get("mountPath"))
        if isinstance(named.get("name"), str) and _IN_PROJECT in path:
            yield Mount(named["name"], path.partition(_IN_PROJECT)[2].strip("/"), _line(one))


def _line(node: Mapping[str, Any]) -> int:
    return node.where.position.line if isinstance(node, Object) else 1


def _object(node: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = node.get(key)
    return found if isinstance(found, dict) else {}


def _objects(node: Mapping[str, Any], key: str) -> Iterator[Mapping[str, Any]]:
    found = node.get(key)
    yield from (one for one in (found if isinstance(found, list) else ()) if isinstance(one, dict))


DOCUMENTS: Final = (*ENDINGS, ".proto", ".graphql", ".avsc", ".xsd", ".txt")
"""The file name endings of documents that definitions may name."""
_PROPERTIES: Final = "application.properties"
_OF_APPLICATION: Final = "-props"
"""The suffix, after the name of an application, of the name of the ConfigMap with its properties."""
_RESOURCES: Final = re.compile(r"(?:\d+-)?(?P<application>.+)-resources(?:-(?P<folder>\w+))?")
"""The name of a ConfigMap as the tools of SonataFlow generate it for the files in one folder of an application."""


@dataclass(frozen=True)
class Part:
    """The text of a definition, which may be part of a Kubernetes resource."""

    name: str
    """The path of its file, relative to the project; with the number of the part if it is one of several."""
    path: Path
    """The path of its file."""
    place: str
    """Its path in the migrated project."""
    text: str
    line: int = 0
    """The number of lines before it in its file."""
    application: str | None = None
    """The application that it belongs to, if the project has several: a Kubernetes resource, or a folder."""
    resource: str | None = None
    """The name of its Kubernetes resource."""
    mounts: tuple[Mount, ...] = ()
    """The ConfigMaps of its Kubernetes resource."""

    @cached_property
    def definition(self) -> dict[str, Any]:
        """The definition, as data; empty if it cannot be read."""
        try:
            found = read_data(self.text)
        except ValueError:
            return {}
        if not isinstance(found, dict):
            return {}
        return dict(flow_in(found)) if self.resource is not None else found


@dataclass(frozen=True, slots=True)
class ConfigMap:
    """A ConfigMap: its files, by their names."""

    name: str
    part: Part
    """Its manifest."""
    root: Object = field(repr=False)

    def files(self) -> Iterator[tuple[str, str]]:
        """Yield the names and the texts of its files, but for properties of applications."""
        for key, value in self.root["data"].items():
            if key != _PROPERTIES and isinstance(value, str):
                yield PurePosixPath(key).name, value

    def line_of(self, file: str) -> int:
        """Return the number of lines before the text of *file* in the manifest."""
        before, is_block = self._place(file)
        return self.part.line + (before if is_block else before - 1)

    def properties(self) -> PropertiesText | None:
        """Return the properties in it, which are for one application if its name says so."""
        if _PROPERTIES not in self.root["data"]:
            return None
        before, is_block = self._place(_PROPERTIES)
        application = self.name.removesuffix(_OF_APPLICATION) if self.name.endswith(_OF_APPLICATION) else None
        return PropertiesText(
            self.part.name,
            str(self.root["data"][_PROPERTIES]),
            self.part.line + (before if is_block else before - 1),
            is_on_one_line=not is_block,
            application=application,
        )

    def _place(self, key: str) -> tuple[int, bool]:
        """Return the line where the value of *key* begins, and whether it is a block below that line."""
        place = self.root["data"].where.value(key)
        lines = self.part.text.splitlines()
        begins = lines[place.line - 1][place.column - 1 :] if place.line <= len(lines) else ""
        return place.line, begins.startswith(("|", ">"))

    def generated_for(self) -> tuple[str, str] | None:
        """Return the application that it was generated for, and the folder of its files there, as its name says."""
        found = _RESOURCES.fullmatch(self.name)
        return None if found is None else (found["application"], found["folder"] or "")


@dataclass(slots=True)
class Project:
    """The contents of a project."""

    root: Path
    """The folder to which paths in definitions, `classpath:`, are relative."""
    parts: list[Part] = field(default_factory=list)
    properties: list[PropertiesText] = field(default_factory=list)
    documents: dict[str, bytes] = field(default_factory=dict)
    """Other files, by their paths in the migrated project."""
    config_maps: list[ConfigMap] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    """Files that are left out."""
    applications: dict[str, str | None] = field(default_factory=dict)
    """Applications whose properties count beside those of another one: of a resource, beside those in its folder."""

    def properties_of(self, application: str | None) -> list[PropertiesText]:
        """Return the properties of an application, of which later ones count before earlier ones."""
        found = (one for one in self.properties if self.has_properties(application, one))
        return sorted(found, key=lambda one: one.application == application)

    def has_properties(self, application: str | None, properties: PropertiesText) -> bool:
        """Return True if *properties* are for *application*: for all, for it, or for the folder that it is in."""
        return properties.application in (None, application, self.applications.get(application or ""))
