"""The definitions of a simulation: the one that runs, and those that it may start."""

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from swf_temporal.base.errors import UnknownDefinition
from swf_temporal.base.files import ENDINGS
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.loading import check_file, files_in, load
from swf_temporal.languages.port import Definition
from swf_temporal.text.fetching.resources import ReadingMode, in_mode

LATEST = "latest"
"""The version that is meant without one."""

DefinitionSource: TypeAlias = str | bytes | os.PathLike[str] | Mapping[str, Any] | Definition
"""A definition: a path, a text, bytes, a mapping, or one that was loaded."""


@dataclass(frozen=True, slots=True)
class Definitions:
    known: list[Definition]
    """The one that runs first, then all others."""
    broken: Mapping[str, str] = field(default_factory=dict)
    """By their places, the files that hold definitions which cannot run, and what is wrong with each."""


def definitions_in(
    first: DefinitionSource,
    others: Iterable[DefinitionSource],
    namespace: str | os.PathLike[str] | None,
    mode: ReadingMode | None = None,
) -> Definitions:
    """Return *first*, then *others*, then what can be loaded of the definitions in the folder *namespace*.

    Raises InvalidDefinition for one of those that are named, and UsageError if the folder cannot be read.
    """
    if namespace is None:
        return Definitions([_loaded(one, mode) for one in (first, *others)])
    folder = Path(namespace)
    allowed = None if mode is None else in_mode(mode)
    checked = {
        f"/{path.relative_to(folder).as_posix()}": check_file(path, folder=folder, resources=allowed)
        for path in files_in(folder)
    }
    there = [one.definition for one in checked.values() if one.definition is not None]
    named = _path_in(first, folder)
    main = (
        load(named, folder=folder, resources=allowed)
        if named is not None
        else _version_in(first, there) or _loaded(first, mode)
    )
    known = [main, *(_loaded(one, mode) for one in others)]
    ids, taken = {one.id for one in known}, {(one.id, one.version) for one in known}
    broken = {place: str(one.errors[0]) for place, one in checked.items() if one.definition is None}
    # Files of a language may hold further versions of a definition that is named.
    more = (
        one for one in there if one.id not in ids or (one.id.startswith("/") and (one.id, one.version) not in taken)
    )
    return Definitions([*known, *more], broken)


def _path_in(definition: DefinitionSource, folder: Path) -> Path | None:
    """Return the file in *folder* that *definition* names, or None if it does not."""
    if not isinstance(definition, str | os.PathLike):
        return None
    text = os.fspath(definition)
    if "\n" in text or text.lstrip().startswith("{"):
        return None
    for start in (folder / text.lstrip("/"), Path(text)):
        for path in (start, *(start.with_name(f"{start.name}{ending}") for ending in ENDINGS)):
            if path.is_file() and path.resolve().is_relative_to(folder.resolve()):
                return folder / path.resolve().relative_to(folder.resolve())
    return None


def _version_in(definition: DefinitionSource, known: Iterable[Definition]) -> Definition | None:
    """Return the one of *known* that *definition* names by its path and, behind a colon, its version."""
    if not isinstance(definition, str | os.PathLike) or "\n" in os.fspath(definition):
        return None
    path, colon, version = os.fspath(definition).rpartition(":")
    path = f"/{(path if colon else version).lstrip('/')}"
    catalogue = Catalogue(known)
    for ending in ("", *ENDINGS):
        with suppress(UnknownDefinition):
            return catalogue.find(f"{path}{ending}", version if colon and version != LATEST else None)
    return None


def _loaded(definition: DefinitionSource, mode: ReadingMode | None) -> Definition:
    if isinstance(definition, Definition):
        return definition
    return load(definition, resources=None if mode is None else in_mode(mode))
