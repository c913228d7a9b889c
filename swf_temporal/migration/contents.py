"""The contents of a SonataFlow project: definitions, properties, documents, and the ConfigMaps with some of these."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, Final

from swf_temporal.base.files import ENDINGS
from swf_temporal.migration.manifests import Mount, flow_in
from swf_temporal.migration.report import Finding
from swf_temporal.text.located import Object
from swf_temporal.text.parsing import read_data
from swf_temporal.text.properties import PropertiesText

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
