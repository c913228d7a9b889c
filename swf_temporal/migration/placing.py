"""Where everything of a project goes: each definition once, with the files of ConfigMaps and documents beside it."""

import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any, Final

from swf_temporal.base.files import DEFINITIONS
from swf_temporal.base.function_types import path_of
from swf_temporal.migration.contents import DOCUMENTS, ConfigMap, Part, Project
from swf_temporal.migration.report import Finding
from swf_temporal.text.parsing import read_data
from swf_temporal.text.properties import in_production

_ABOUT: Final = frozenset({"id", "name", "version", "description", "specVersion", "expressionLang", "annotations"})
"""The keys of a definition that its resource has elsewhere, or that change nothing."""


def settle(project: Project) -> None:
    """Keep one text of each definition in *project*, and give the files of its ConfigMaps their places."""
    _Settling(project).run()


@dataclass(frozen=True, slots=True)
class _Delivery:
    """The files that an application has in one of its folders from a ConfigMap."""

    config_map: ConfigMap
    folder: str


class _Settling:
    def __init__(self, project: Project) -> None:
        self._project = project
        self._kept: dict[str, Part] = {}
        """The parts that are written, by the names of the parts of which they are the definition."""
        self._resources = [one for one in project.parts if one.resource is not None]
        self._used: set[int] = set()
        """The ConfigMaps that are put somewhere."""

    def run(self) -> None:
        project = self._project
        resources = self._resources
        self._without_doubles()
        self._without_generated_properties()
        deliveries = {one.name: list(self._deliveries(one)) for one in resources}
        for resource in resources:
            self._deliver(resource, deliveries[resource.name])
        for one in project.config_maps:
            if id(one) not in self._used:
                self._put_beside(one)
        self._without_doubles()
        for part in project.parts:
            self._complete(part)

    def _without_doubles(self) -> None:
        """Keep one of several parts with the same definition: a file before a resource.

        Of files, those with another text are kept: the check of definitions reports them.
        """
        first: dict[Any, Part] = {}
        kept = set[int]()
        for part in sorted(self._project.parts, key=lambda one: one.resource is not None):
            found = part.definition
            key = _identity(found, part, first)
            other = first.setdefault(key, part)
            is_same = _core(other.definition) == _core(found)
            is_of_another = part.resource is None and (not is_same or part.application != other.application)
            self._kept[part.name] = part if is_of_another else other
            if other is part or is_of_another:
                kept.add(id(part))
            elif is_same:
                message = f"this is the definition of {other.name}, which is written"
                self._find(part, "rewritten", message, None)
            else:
                message = f"this is another text of the definition {found['id']!r} than {other.name}, which is written"
                hint = "compare them, and keep in that file what was deployed"
                self._find(part, "by hand", message, hint)
        self._project.parts = [one for one in self._project.parts if id(one) in kept]

    def _without_generated_properties(self) -> None:
        """Leave out properties of generated manifests that say nothing else than the files that they were made of."""
        sources = {name for name, one in self._kept.items() if one.resource is None and name != one.name}
        generated = {part.resource for part in self._resources if part.name in sources}
        kept = []
        for one in self._project.properties:
            rest = [other for other in self._project.properties_of(one.application) if other is not one]
            is_same = in_production([one]).items() <= in_production(rest).items()
            if one.application not in generated or not is_same:
                kept.append(one)
        self._project.properties = kept

    def _find(
        self, part: Part, kind: Any, message: str, hint: str | None, line: int = 1, start: str | None = None
    ) -> None:
        self._project.findings.append(Finding(part.name, part.line + line, kind, message, hint, start, "files"))

    def _deliveries(self, resource: Part) -> Iterator[_Delivery]:
        """Yield what the application of a resource has from ConfigMaps: those that it names, or that are named so."""
        named = set()
        for mount in resource.mounts:
            named.add(mount.config_map)
            found = self._nearest(mount.config_map, resource)
            if found is None and self._kept[resource.name].resource is not None:
                message = f"the ConfigMap {mount.config_map!r} is not in the project"
                place = PurePosixPath(resource.name.partition("#")[0]).with_name(f"{mount.config_map}.yaml")
                start = f"kubectl get configmap {mount.config_map} --output yaml > {place}"
                self._find(resource, "by hand", message, "save it beside, and migrate again", mount.line, start)
            elif found is not None:
                yield _Delivery(found, mount.folder)
        for one in self._project.config_maps:
            application, folder = one.generated_for() or ("", "")
            if application == resource.resource and one.name not in named and self._nearest(one.name, resource) is one:
                yield _Delivery(one, folder)

    def _nearest(self, name: str, resource: Part) -> ConfigMap | None:
        """Return the ConfigMap *name* in the file of *resource*, or else in the nearest folder."""
        found = [one for one in self._project.config_maps if one.name == name]
        return max(found, key=lambda one: _nearness(one.part, resource), default=None)

    def _deliver(self, resource: Part, deliveries: list[_Delivery]) -> None:
        """Put files beside the definition of *resource*, which has a separate folder if another has other files."""
        part = self._kept[resource.name]
        self._used.update(id(one.config_map) for one in deliveries)
        folder = posixpath.dirname(part.place)
        if part.resource is not None and self._differs(folder, deliveries):
            folder = posixpath.join(folder, part.resource or "flow")
            moved = replace(part, place=posixpath.join(folder, posixpath.basename(part.place)))
            self._project.parts = [moved if one is part else one for one in self._project.parts]
            self._kept = {name: moved if one is part else one for name, one in self._kept.items()}
            part = moved
        for one in deliveries:
            for name, text in one.config_map.files():
                place = posixpath.normpath(posixpath.join(folder, one.folder, name))
                self._put(one.config_map, place, name, text, part.application)

    def _differs(self, folder: str, deliveries: list[_Delivery]) -> bool:
        places = (
            (posixpath.normpath(posixpath.join(folder, one.folder, name)), text)
            for one in deliveries
            for name, text in one.config_map.files()
        )
        documents = self._project.documents
        return any(place in documents and documents[place] != text.encode() for place, text in places)

    def _put_beside(self, config_map: ConfigMap) -> None:
        """Put the files of a ConfigMap that no resource names where its name says, beside its manifest."""
        application, folder = config_map.generated_for() or (None, "")
        mine = (
            one for one in self._project.parts if application is not None and one.definition.get("id") == application
        )
        beside = next((one.place for one in mine), config_map.part.place)
        for name, text in config_map.files():
            if PurePosixPath(name).suffix in DOCUMENTS:
                place = posixpath.normpath(posixpath.join(posixpath.dirname(beside), folder, name))
                self._put(config_map, place, name, text, application)

    def _put(self, config_map: ConfigMap, place: str, name: str, text: str, application: str | None) -> None:
        manifest = config_map.part
        if place.endswith(DEFINITIONS):
            if any(one.place == place and one.text == text for one in self._project.parts):
                return
            mark = "/" if "#" in manifest.name else "#"
            named, line = f"{manifest.name}{mark}{name}", config_map.line_of(name)
            self._project.parts.append(Part(named, manifest.path, place, text, line, application))
            return
        other = self._project.documents.setdefault(place, text.encode())
        if other != text.encode():
            message = f"{name!r} of the ConfigMap {config_map.name!r} is not written: {place!r} is another file"
            self._find(manifest, "by hand", message, "put it where the definition that needs it looks for it")

    def _complete(self, part: Part) -> None:
        """Put documents that *part* names beside it, if it finds them elsewhere: from the root of its application."""
        here = posixpath.dirname(part.place)
        there = posixpath.dirname(posixpath.dirname(part.place)) if part.resource is not None else ""
        root = next((one for one in _roots(here) if one), "")
        self._bring(texts_in(part.definition), here, dict.fromkeys((there, root, "")))

    def _bring(self, texts: Iterable[str], here: str, others: dict[str, None]) -> None:
        documents = self._project.documents
        for name in names_of_documents(texts):
            place = posixpath.normpath(posixpath.join(here, name))
            if place in documents or place.startswith("../"):
                continue
            found = (posixpath.normpath(posixpath.join(other, name)) for other in others)
            source = next((one for one in found if one in documents), None)
            if source is None:
                continue
            content = documents[place] = documents[source]
            self._bring(texts_in(content, "$ref"), posixpath.dirname(place), {posixpath.dirname(source): None})


def _identity(definition: dict[str, Any], part: Part, known: dict[Any, Part]) -> Any:
    """Return the identity of the definition in *part* among those *known*; a resource has no version."""
    name = definition.get("id")
    if not isinstance(name, str):
        return part.name
    if part.resource is not None:
        return next((one for one in known if isinstance(one, tuple) and one[0] == name), (name, None))
    return name, str(definition.get("version"))


def _core(definition: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in definition.items() if key not in _ABOUT}


def _nearness(one: Part, other: Part) -> tuple[bool, int]:
    """Return a key that is greater for manifests that are nearer: in one file, then by the folders that both are in."""
    mine, its = (PurePosixPath(each.name.partition("#")[0]) for each in (one, other))
    shared = sum(a == b for a, b in zip(mine.parent.parts, its.parent.parts, strict=False))
    return mine == its, shared - len(mine.parent.parts)


def _roots(folder: str) -> Iterator[str]:
    """Yield the root of the class path above *folder*, if it has one."""
    begin, found, _ = f"/{folder}/".partition("/src/main/resources/")
    if found:
        yield f"{begin}/src/main/resources".strip("/")


def names_of_documents(texts: Iterable[str]) -> Iterator[str]:
    """Yield the paths of documents that are among *texts*, which may be operations in them."""
    for text in texts:
        name = path_of(text.partition("#")[0]).lstrip("/")
        if name.endswith(DOCUMENTS) and not text.startswith(("http:", "https:")):
            yield name


def texts_in(node: Any, only: str | None = None) -> Iterator[str]:
    """Yield the texts in *node*, which may be that of a file; with *only*, those under this key."""
    if isinstance(node, bytes):
        try:
            node = read_data(node.decode("utf-8-sig", "replace"))
        except ValueError:
            return
    for key, value in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        if not isinstance(value, str):
            yield from texts_in(value, only)
        elif only in (None, key):
            yield value
