"""Finds the files of a SonataFlow project: definitions, properties, and the documents that definitions name."""

import errno
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Any, Final

from swf_temporal.base.calls import Function
from swf_temporal.base.errors import UsageError
from swf_temporal.base.files import ENDINGS, read_bytes, refuse_outside, why_unreadable
from swf_temporal.base.function_types import CONFIG_KEY, callee_of, environment_name, operation_type
from swf_temporal.base.grammar import listed
from swf_temporal.languages.known import looks_like_definition
from swf_temporal.text.located import Object, UnreadableText, plain
from swf_temporal.text.origin import Source
from swf_temporal.text.parsing import read_object
from swf_temporal.text.properties import (
    BY_TITLE,
    Client,
    Owner,
    PropertiesText,
    client_of,
    document_of,
    spelled,
    strategy_of,
)
from swf_temporal.text.yaml_text import write_yaml

_DOCUMENTS: Final = (*ENDINGS, ".proto", ".graphql", ".avsc", ".xsd", ".txt")
_SKIPPED: Final = frozenset({"target", "build", "node_modules", "test", "dist"})
_ROOTS: Final = ("src/main/resources", "src/main/java/resources")
_NEXT_DOCUMENT: Final = re.compile(r"^---[ \t]*(?:#.*)?$\n?", re.MULTILINE)
DEFINITIONS: Final = tuple(f".sw{ending}" for ending in ENDINGS)
"""The file name endings of SonataFlow's definitions."""
_MAX_BYTES: Final = 5 << 20
_PROPERTIES: Final = "application.properties"
_OF_PROFILE: Final = re.compile(r"application(?:-([\w-]+))?\.properties")
_OF_WORKFLOW: Final = "-props"
"""The suffix, after a workflow's name, of the name of a ConfigMap for that workflow alone."""


@dataclass(frozen=True, slots=True)
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
    workflow: str | None = None
    """The name of its Kubernetes resource."""


@dataclass(slots=True)
class Project:
    """The contents of a project."""

    root: Path
    """The folder to which paths in definitions, `classpath:`, are relative."""
    parts: list[Part] = field(default_factory=list)
    properties: list[PropertiesText] = field(default_factory=list)
    documents: dict[str, bytes] = field(default_factory=dict)
    """Other files, by their paths in the migrated project."""
    left_out: list[tuple[str, str]] = field(default_factory=list)
    """The links that are not followed, each with the reason."""


def project_at(path: Path) -> Project:
    """Return the project at *path*: a file, a folder, or a project with `src/main/resources`. Raises UsageError."""
    if not path.exists():
        raise UsageError(f"there is no {path}")
    if path.is_file():
        project = Project(path.parent)
        _take(project, path, path.parent, path.name)
    else:
        root = next((path / one for one in _ROOTS if (path / one).is_dir()), path)
        project = Project(root)
        for file in _files(root, project, path):
            _take(project, file, path, file.relative_to(root).as_posix())
        if root != path:
            for file in _files(path, project, path):
                if root not in file.parents and file.suffix in (".yaml", ".yml"):
                    _take(project, file, path, file.relative_to(path).as_posix(), is_beside=True)
    if not project.parts:
        raise UsageError(f"there is no definition in {path}", "definitions are JSON or YAML files with states")
    return project


def _files(folder: Path, project: Project, base: Path) -> Iterator[Path]:
    """Yield the files in *folder*, except those to which links lead out of *base*, or nowhere, and linked folders."""
    for where, folders, files in os.walk(folder):
        folders[:] = sorted(one for one in folders if one not in _SKIPPED and not one.startswith("."))
        for name in sorted([*files, *(one for one in folders if (Path(where) / one).is_symlink())]):
            file = Path(where) / name
            if name.startswith("."):
                continue
            try:
                refuse_outside(file, base)
                if file.is_dir():
                    raise OSError(errno.EISDIR, "it is a link to a folder")  # noqa: TRY301 - as the other reasons
            except OSError as error:
                left_out = file.relative_to(base).as_posix(), str(error.strerror)
                if left_out not in project.left_out:
                    project.left_out.append(left_out)
            else:
                yield file


def _take(project: Project, file: Path, base: Path, place: str, *, is_beside: bool = False) -> None:
    """Add *file* if it is relevant to definitions. A file that *is_beside* the resources may only be a manifest."""
    if file.suffix not in (*_DOCUMENTS, ".properties") or file.stat().st_size > _MAX_BYTES:
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
    """Return the properties in a ConfigMap, *root*, whose source is *text*."""
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


@dataclass(frozen=True, slots=True)
class Called:
    """A function that a definition declares, as written in the migrated definition."""

    name: str
    operation: str
    type: str = "rest"
    metadata: Mapping[str, Any] = field(default_factory=dict)
    definition: str = ""
    """The name of the definition, for findings."""
    workflow: str | None = None
    """The name of the Kubernetes resource that contains the definition."""

    @property
    def function(self) -> Function:
        return Function(self.name, self.type, self.operation, metadata=self.metadata)


def functions_of(definition: Any, name: str = "", workflow: str | None = None) -> Iterator[Called]:
    """Yield the functions that *definition* declares, which has that *name* in findings."""
    functions = definition.get("functions") if isinstance(definition, dict) else None
    for one in functions if isinstance(functions, list) else ():
        if isinstance(one, dict) and isinstance(one.get("name"), str) and isinstance(one.get("operation"), str):
            metadata = one.get("metadata")
            yield Called(
                one["name"],
                one["operation"],
                str(one.get("type", "rest")),
                metadata if isinstance(metadata, dict) else {},
                name,
                workflow,
            )


@dataclass(frozen=True, slots=True)
class Found:
    """The owners of a key; if they cannot be determined, the reason."""

    owners: tuple[Owner, ...] = ()
    reason: str | None = None
    hint: str | None = None


class Owners:
    """The owners of the keys in one file of properties, which applies to *functions*."""

    def __init__(
        self, functions: Iterable[Called], properties: Mapping[str, str], everybody: Iterable[Called] = ()
    ) -> None:
        """Assume that one worker serves *everybody*, the functions of all definitions."""
        self._functions = list(functions)
        self._everybody = list(everybody) or self._functions
        self.strategy = strategy_of(properties)

    @cached_property
    def _clients(self) -> list[tuple[Called, Client]]:
        return [(one, client) for one in self._functions if (client := client_of(one.function, self.strategy))]

    def of_service(self, key: str) -> Found:
        """Return the owners of the settings of the document client with this *key*."""
        exact = [owner for _, client in self._clients if (owner := client.owner_under(key)) is not None]
        if exact:
            return self._shared_with_none(exact, key, self._has_key)
        if self.strategy == BY_TITLE and any(document_of(one.function) for one in self._functions):
            hint = "write it under 'services' and the name of the file of the document"
            return Found(reason="services are named by the files of their documents, and not by titles", hint=hint)
        meant = next((client for one, client in self._clients if key in _nearly(one)), None)
        if meant is None:
            return Found()
        hint = f"if it is meant for {meant.owner}, write it under 'services' and that name"
        return Found(reason=f"it has no effect there: the key of {meant.owner} is {meant.key!r}", hint=hint)

    def of_rpc_service(self, key: str) -> Found:
        """Return the owners of the settings of the gRPC client with this *key*."""
        names = [name for one in self._functions if one.type == "rpc" for name in _rpc_services(one)]
        found = [Owner("services", name) for name in names if spelled(name) == spelled(key)]
        return self._shared_with_none(found, key, lambda one, _: one.type == "rpc")

    def of_function(self, name: str) -> Found:
        """Return the owners of SonataFlow's settings for functions of this *name* that are requests."""
        requests = [one for one in self._functions if one.name == name and _is_request(one)]
        return self._shared_with_none(
            [Owner("functions", name)] if requests else [], name, lambda one, _: _is_request(one) and one.name == name
        )

    def _has_key(self, one: Called, key: str) -> bool:
        client = client_of(one.function, self.strategy)
        return client is not None and client.owner_under(key) is not None

    def _shared_with_none(self, found: list[Owner], key: str, is_meant: Any) -> Found:
        """Return *found*, unless the settings would also apply to functions that do not have the *key*."""
        owners = {one.identity: one for one in found}
        for owner in owners.values():
            others = [one for one in self._everybody if has_settings_of(one, owner) and not is_meant(one, key)]
            if others:
                told = list(dict.fromkeys(f"{one.name!r} ({one.operation})" for one in others))
                hint = "let other workers serve these, or call one of them otherwise"
                calls = "calls" if len(told) == 1 else "call"
                return Found(reason=f"{owner} would be the name of what {listed(told)} {calls}, too", hint=hint)
        return Found(tuple(owners.values()))


def has_settings_of(one: Called, owner: Owner) -> bool:
    """Return True if the settings of *owner* apply to calls of a function."""
    if owner.scope == "calls":
        return True
    if owner.scope == "functions":
        return environment_name(one.name) == environment_name(owner.name)
    metadata = dict(one.metadata)
    if CONFIG_KEY in metadata:
        if not owner.choice:
            return False
        metadata[CONFIG_KEY] = owner.choice
    names = callee_of(replace(one.function, metadata=metadata)).services
    return environment_name(owner.name) in map(environment_name, names)


def _nearly(one: Called) -> frozenset[str]:
    """Return keys that may have been mistaken for the key of a document."""
    document = document_of(one.function) or ""
    path = PurePosixPath(document)
    names = (document, path.name, path.stem, one.name)
    return frozenset({*names, *map(spelled, names)})


def _rpc_services(one: Called) -> tuple[str, str]:
    """Return the names of the gRPC service that a function calls: without its package, and with it."""
    service = one.operation.split("#")[1] if one.operation.count("#") > 1 else ""
    return service.rpartition(".")[2], service


def _is_request(one: Called) -> bool:
    kind = operation_type(one.type)
    return one.type == "custom" and one.operation.strip().startswith("rest:") and kind is not None
