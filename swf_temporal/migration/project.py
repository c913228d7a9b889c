"""Finds the files of a SonataFlow project: definitions, properties, and the documents that definitions name."""

import errno
import os
import posixpath
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Final

from swf_temporal.base.errors import UsageError
from swf_temporal.base.files import DEFINITIONS, read_bytes, refuse_outside, why_unreadable
from swf_temporal.languages.known import is_definition, looks_like_definition
from swf_temporal.migration.contents import (
    DOCUMENTS,
    ConfigMap,
    Part,
    Project,
    items_of,
    mounts_of,
    name_of,
    parts_of,
    resource_in,
)
from swf_temporal.migration.placing import names_of_documents, settle, texts_in
from swf_temporal.migration.report import Finding
from swf_temporal.text.origin import Object
from swf_temporal.text.properties import PropertiesText

_SKIPPED: Final = frozenset({"target", "build", "node_modules", "test", "dist"})
_ROOTS: Final = ("src/main/resources", "src/main/java/resources")
_MAX_BYTES: Final = 5 << 20
_OF_PROFILE: Final = re.compile(r"application(?:-([\w-]+))?\.properties")
_TEMPLATE: Final = re.compile(r"^\s*(?:-\s*)?kind:\s*SonataFlow\b", re.MULTILINE)


def project_at(path: Path) -> Project:
    """Return the project at *path*: a file, a folder, or a project with `src/main/resources`. Raises UsageError."""
    if not path.exists():
        raise UsageError(f"there is no {path}")
    if path.is_file():
        project = Project(path.parent)
        _take(project, path, path.parent, path.name, is_given=True)
        for part in project.parts:
            _take_named(project, path.parent, "", texts_in(part.definition))
    else:
        root = next((path / one for one in _ROOTS if (path / one).is_dir()), path)
        project = Project(root)
        for file in _files(root, project, path):
            _take(project, file, path, file.relative_to(root).as_posix())
        if root != path:
            for file in _files(path, project, path):
                if root not in file.parents and file.suffix in (".yaml", ".yml"):
                    _take(project, file, path, file.relative_to(path).as_posix(), is_beside=True)
    _divide(project, path)
    settle(project)
    if not project.parts:
        raise UsageError(f"there is no definition in {path}", "definitions are JSON or YAML files with states")
    return project


def _take_named(project: Project, root: Path, folder: str, texts: Iterable[str]) -> None:
    """Add the files that *texts* in a file in *folder* of *root* name, and those that these refer to."""
    for name in names_of_documents(texts):
        place = posixpath.normpath(posixpath.join(folder, name))
        path = root / place
        with suppress(OSError):
            refuse_outside(path, root)
            if place not in project.documents and path.is_file() and path.stat().st_size <= _MAX_BYTES:
                content = project.documents[place] = read_bytes(path)
                _take_named(project, root, posixpath.dirname(place), texts_in(content, "$ref"))


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
                hint = "put the file in its place, if the project needs it"
                found = file.relative_to(base).as_posix()
                left_out = Finding(found, None, "by hand", f"left out: {error.strerror}", hint, task="files")
                if left_out not in project.findings:
                    project.findings.append(left_out)
            else:
                yield file


def _take(
    project: Project, file: Path, base: Path, place: str, *, is_beside: bool = False, is_given: bool = False
) -> None:
    """Add *file* if it is relevant to definitions. A file that *is_beside* the resources may only be a manifest."""
    if file.suffix not in (*DOCUMENTS, ".properties") or file.stat().st_size > _MAX_BYTES:
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
    parts = list(parts_of(text)) if file.suffix in (".yaml", ".yml") else [(0, text)]
    taken = 0
    for line, part in parts:
        which = name if len(parts) == 1 else f"{name}#{taken + 1}"
        taken += _take_part(project, part, Part(which, file, place, part, line), is_beside=is_beside, is_given=is_given)
    if not taken and not is_beside:
        project.documents[place] = content


def _take_part(project: Project, text: str, part: Part, *, is_beside: bool, is_given: bool) -> bool:
    """Add a part of a file. Return False if it may be a document of a definition."""
    if part.path.name.endswith(DEFINITIONS):
        project.parts.append(part)
        return True
    kind, root = resource_in(text)
    if kind is None or root is None:
        return _take_other(project, text, part, is_beside=is_beside, is_given=is_given)
    if kind == "List":
        for item, line in items_of(text, root):
            inner = replace(part, text=item, line=part.line + line)
            _take_part(project, item, inner, is_beside=is_beside, is_given=is_given)
    elif kind == "SonataFlow":
        name = name_of(root)
        place = PurePosixPath(part.place).with_name(f"{name or part.path.stem}.sw.yaml").as_posix()
        project.parts.append(
            replace(part, place=place, application=name, resource=name or "", mounts=tuple(mounts_of(root)))
        )
    elif kind == "ConfigMap" and isinstance(root.get("data"), Object):
        found = ConfigMap(name_of(root) or "", part, root)
        project.config_maps.append(found)
        properties = found.properties()
        if properties is not None:
            project.properties.append(properties)
    elif kind == "Secret":
        names = ", ".join(map(repr, (*_keys(root, "data"), *_keys(root, "stringData"))))
        hint = "set the variables that the workers need, or keep the Secret and let the pods of the workers have it"
        message = f"the Secret {name_of(root)!r} is not written: it has {names or 'no values'}"
        project.findings.append(Finding(part.name, part.line + 1, "by hand", message, hint, task="secrets"))
    return True


def _keys(root: Object, key: str) -> tuple[str, ...]:
    found = root.get(key)
    return tuple(map(str, found)) if isinstance(found, dict) else ()


def _take_other(project: Project, text: str, part: Part, *, is_beside: bool, is_given: bool) -> bool:
    if not is_beside and (is_definition(text) or (is_given and looks_like_definition(text))):
        project.parts.append(part)
        return True
    if _TEMPLATE.search(text) is not None:
        hint = "let the program that makes manifests of it do so, as in 'helm template . > all.yaml', and migrate those"
        message = "this is a template of a manifest, and not a manifest"
        project.findings.append(Finding(part.name, part.line + 1, "by hand", message, hint, task="files"))
        return True
    return False


def _divide(project: Project, path: Path) -> None:
    """Give each definition and each file of properties its application, if there are several."""
    modules = {one.name: _module(one.name) for one in project.properties if _is_file(one)}
    places = {
        part: PurePosixPath(part.path.relative_to(path if path.is_dir() else path.parent)) for part in project.parts
    }
    names: dict[str, str] = {}
    if len({*modules.values()}) > 1 or not all(_within(place, modules.values()) for place in places.values()):
        names = {one: path.resolve().name if one == "." else one for one in modules.values()}
    project.properties = [
        replace(one, application=names.get(modules[one.name])) if _is_file(one) else one for one in project.properties
    ]
    resources = {one.application for one in project.properties if not _is_file(one)}
    parts = []
    for part, place in places.items():
        folder = next((names[str(one)] for one in place.parents if str(one) in names), None)
        own = part.application or part.definition.get("id")
        is_own = part.application is not None or (isinstance(own, str) and own in resources)
        application = own if is_own else folder
        if application is not None and application != folder:
            project.applications[application] = folder
        parts.append(replace(part, application=application))
    project.parts = parts


def _is_file(properties: PropertiesText) -> bool:
    """Return True if *properties* are in a file, and not in a ConfigMap."""
    return properties.name.endswith(".properties")


def _module(name: str) -> str:
    """Return the folder of the application that has the properties in the file *name*."""
    folder = PurePosixPath(name).parent.as_posix()
    return next((folder.removesuffix(root).rstrip("/") or "." for root in _ROOTS if folder.endswith(root)), folder)


def _within(place: PurePosixPath, folders: Iterable[str]) -> bool:
    """Return True if *place* is in one of *folders*, or *folders* is empty."""
    known = set(folders)
    return not known or any(str(one) in known for one in place.parents)
