"""Finds what belongs to a SonataFlow project: definitions, properties, and the documents that definitions name."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Any, Final

from swf_temporal.base.errors import UsageError
from swf_temporal.base.files import ENDINGS, read_bytes, why_unreadable
from swf_temporal.languages.known import looks_like_definition
from swf_temporal.text.located import Object, UnreadableText, plain
from swf_temporal.text.origin import Source
from swf_temporal.text.parsing import read_object
from swf_temporal.text.properties import PropertiesText
from swf_temporal.text.yaml_text import write_yaml

_DOCUMENTS: Final = (*ENDINGS, ".proto", ".graphql", ".avsc", ".xsd", ".txt")
_SKIPPED: Final = frozenset({"target", "build", "node_modules", "test", "dist"})
_ROOTS: Final = ("src/main/resources", "src/main/java/resources")
_NEXT_DOCUMENT: Final = re.compile(r"^---[ \t]*(?:#.*)?$\n?", re.MULTILINE)
DEFINITIONS: Final = tuple(f".sw{ending}" for ending in ENDINGS)
"""What the names of SonataFlow's definitions end in."""
_LARGEST: Final = 5 << 20
_PROPERTIES: Final = "application.properties"
_OF_PROFILE: Final = re.compile(r"application(?:-([\w-]+))?\.properties")
_OF_WORKFLOW: Final = "-props"
"""What the name of a ConfigMap ends in that is for one workflow alone, after the name of that."""


@dataclass(frozen=True, slots=True)
class Part:
    """A text that is a definition, or a resource of Kubernetes with one."""

    name: str
    """The path of its file, relative to the project; with the number of the part if it is one of several."""
    path: Path
    """Where its file is."""
    place: str
    """Its path in the migrated project."""
    text: str
    line: int = 0
    """The number of lines of its file that stand before it."""
    workflow: str | None = None
    """The name that a resource of Kubernetes has."""


@dataclass(slots=True)
class Project:
    """What was found."""

    root: Path
    """The folder that paths in definitions begin in, `classpath:`."""
    parts: list[Part] = field(default_factory=list)
    properties: list[PropertiesText] = field(default_factory=list)
    documents: dict[str, bytes] = field(default_factory=dict)
    """Other files, by their paths in the migrated project."""


def project_at(path: Path) -> Project:
    """Return what is at *path*: a file, a folder, or a project with `src/main/resources`. Raises UsageError."""
    if not path.exists():
        raise UsageError(f"there is no {path}")
    if path.is_file():
        project = Project(path.parent)
        _take(project, path, path.parent, path.name)
    else:
        root = next((path / one for one in _ROOTS if (path / one).is_dir()), path)
        project = Project(root)
        for file in _files(root):
            _take(project, file, path, file.relative_to(root).as_posix())
        if root != path:
            for file in _files(path):
                if root not in file.parents and file.suffix in (".yaml", ".yml"):
                    _take(project, file, path, file.relative_to(path).as_posix(), is_beside=True)
    if not project.parts:
        raise UsageError(f"there is no definition in {path}", "definitions are JSON or YAML files with states")
    return project


def _files(folder: Path) -> Iterator[Path]:
    for where, folders, files in os.walk(folder):
        folders[:] = sorted(one for one in folders if one not in _SKIPPED and not one.startswith("."))
        for name in sorted(files):
            if not name.startswith("."):
                yield Path(where) / name


def _take(project: Project, file: Path, base: Path, place: str, *, is_beside: bool = False) -> None:
    """Take in *file* if it has to do with definitions. What *is_beside* the resources may only bring manifests."""
    if file.suffix not in (*_DOCUMENTS, ".properties") or file.stat().st_size > _LARGEST:
        return
    name = file.relative_to(base).as_posix()
    try:
        content = read_bytes(file)
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {why_unreadable(error)}") from None
    text = content.decode("utf-8-sig", "replace")
    if file.suffix == ".properties":
        properties = _OF_PROFILE.fullmatch(file.name)
        if properties is not None:
            project.properties.append(PropertiesText(name, text, profile=properties[1]))
            project.properties.sort(key=lambda one: one.profile is not None)  # what a profile says counts last
        return
    parts = list(_parts(text)) if file.suffix in (".yaml", ".yml") else [(0, text)]
    taken = 0
    for line, part in parts:
        which = name if len(parts) == 1 else f"{name}#{taken + 1}"
        taken += _take_part(project, part, Part(which, file, place, part, line), is_beside=is_beside)
    if not taken and not is_beside:
        project.documents[place] = content


def _parts(text: str) -> Iterator[tuple[int, str]]:
    """Yield the documents of a stream that are not empty, each with the number of lines before it."""
    begin = 0
    for mark in [*_NEXT_DOCUMENT.finditer(text), None]:
        end = len(text) if mark is None else mark.start()
        if text[begin:end].strip():
            yield text.count("\n", 0, begin), text[begin:end]
        begin = len(text) if mark is None else mark.end()


def _take_part(project: Project, text: str, part: Part, *, is_beside: bool) -> bool:
    if part.path.name.endswith(DEFINITIONS) or (not is_beside and "kind" not in text and looks_like_definition(text)):
        project.parts.append(part)
        return True
    kind, root = _kind(text)
    if kind == "List" and isinstance(root.get("items"), list):
        items = [_item(text, item) for item in root["items"] if isinstance(item, Object)]
        taken = [
            _take_part(project, item, replace(part, text=item, line=part.line + line), is_beside=is_beside)
            for item, line in items
        ]
        return any(taken)
    if kind == "SonataFlow":
        workflow = _named(root)
        place = _beside(part, f"{workflow or part.path.stem}.sw.yaml")
        project.parts.append(Part(part.name, part.path, place, text, part.line, workflow))
    elif kind == "ConfigMap" and isinstance(root.get("data"), dict):
        for key, value in root["data"].items():
            if key == _PROPERTIES:
                project.properties.append(_properties_in(part, text, root, str(value)))
            elif isinstance(value, str) and Path(key).suffix in _DOCUMENTS:
                project.documents[_beside(part, key)] = value.encode()
    elif not is_beside and looks_like_definition(text):
        project.parts.append(part)
    else:
        return False
    return True


def _item(text: str, item: Object) -> tuple[str, int]:
    """Return what *text* has of an item of a list, and the number of lines before it.

    It is cut out, so that its lines stay those of the file, or written anew if it shares its lines with others.
    """
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


def _properties_in(part: Part, text: str, root: Any, properties: str) -> PropertiesText:
    """Return the properties in a ConfigMap, which is *root* and written in *text*."""
    place = root["data"].where.value(_PROPERTIES)
    name = _named(root) or ""
    workflow = name.removesuffix(_OF_WORKFLOW) if name.endswith(_OF_WORKFLOW) else None
    lines = text.splitlines()
    begins = lines[place.line - 1][place.column - 1 :] if place.line <= len(lines) else ""
    if begins.startswith("|"):
        return PropertiesText(part.name, properties, part.line + place.line, workflow=workflow)
    return PropertiesText(part.name, properties, part.line + place.line - 1, is_on_one_line=True, workflow=workflow)


def _beside(part: Part, name: str) -> str:
    return PurePosixPath(part.place).with_name(PurePosixPath(name).name).as_posix()


def _kind(text: str) -> tuple[Any, dict[str, Any]]:
    if "kind" not in text:
        return None, {}
    try:
        root, _ = read_object(Source(text, ""))
    except UnreadableText:
        return None, {}
    return (root.get("kind"), root) if "apiVersion" in root else (None, root)


def _named(root: dict[str, Any]) -> str | None:
    metadata = root.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) and re.fullmatch(r"[\w.-]+", name) else None
