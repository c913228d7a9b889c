"""Loading of definitions: each becomes a workflow that can run, or a list of all its problems.

What is derived from definitions is cached, limited by the total length of the texts of these: a definition in memory
takes up to sixty times as much as its text, and every instance may bring its own.
"""

import os
import re
import stat
import threading
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final, TypeVar

from swf_temporal.base.arguments import check_kind, kind_of
from swf_temporal.base.errors import InvalidDefinition, Position, Problem, UsageError
from swf_temporal.base.files import DEFINITIONS, ENDINGS, files_below, is_folder, read_bytes
from swf_temporal.base.strict_json import NotJSON, write_json
from swf_temporal.languages.known import looks_like_definition, migrate, read, read_part, read_pinned
from swf_temporal.languages.port import Checked, Definition
from swf_temporal.text.fetching.resources import ReadingMode, Resources, is_web
from swf_temporal.text.origin import Fetch, Object, ResourceError, Source, nothing, written
from swf_temporal.text.properties import PropertiesText, in_production

MAX_TEXT: Final = 8 * 1024 * 1024
"""The maximum number of characters of text whose definitions are cached."""
_MAX_ENTRIES: Final = 512

_Function = TypeVar("_Function", bound=Callable[..., Any])

_clearing: list[Callable[[], None]] = []
_lock = threading.Lock()
_read = 0


def of_definitions(function: _Function) -> _Function:
    """Cache the results of *function* until too much text of definitions was read."""
    cached = lru_cache(maxsize=_MAX_ENTRIES)(function)
    _clearing.append(cached.cache_clear)
    return cached  # type: ignore[return-value]  # it is called like the function


def note_read(text: str) -> None:
    """Count a definition that is read from *text*; clear the caches when they would become too large."""
    global _read  # noqa: PLW0603 - per process, like the caches
    with _lock:
        _read += len(text)
        if _read <= MAX_TEXT:
            return
        _read = len(text)
    forget()


def forget() -> None:
    for clear in _clearing:
        clear()


_PROPERTIES = (("application.properties", None), ("application-prod.properties", "prod"))
_SCENARIO = re.compile(r"""^["']?scenario["']?[ \t]*:""", re.MULTILINE)


def check(
    text: str | bytes | Mapping[str, Any],
    *,
    name: str = "<definition>",
    folder: Path | None = None,
    resources: Resources | None = None,
) -> Checked:
    """Check the definition in *text*: return it with its problems, then those of documents that it names.

    It is YAML or JSON, or an object. Raises UsageError for anything else.

    Problems call the text *name*. URIs in it are relative to *name* if that is a URL, else to *folder*. *resources*
    says what else it may read, and in which mode it is read; by default the environment does if there is a folder, and
    otherwise it may read nothing.
    """
    check_kind("name", name, str)
    check_kind("folder", folder, Path)
    check_kind("resources", resources, Resources)
    return _check(text, name, folder, resources)


def _check(
    text: str | bytes | Mapping[str, Any],
    name: str,
    folder: Path | None,
    resources: Resources | None,
    namespace: Path | None = None,
) -> Checked:
    """Check a definition in *folder*, which may be within that of its *namespace*."""
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            message = f"this is not text in UTF-8: byte {error.start} is 0x{error.object[error.start]:02X}"
            return Checked(None, (Problem("encoding", message, Position(), file=name),))
    if resources is None and folder is not None:
        resources = Resources.from_environment(os.environ)
    source, problems = Source(_text_of(text), name), tuple[Problem, ...]()
    if resources is not None and resources.mode is not None:
        with suppress(InvalidDefinition):  # problems are reported when it is read
            fetch = _fetch(name, folder, resources)
            properties = _properties(resources, folder, namespace)
            upgraded = migrate(source, properties, fetch, keeps_effects=True)
            source, problems = Source(upgraded.text, name), upgraded.problems
    checked = read(source, _fetch(name, folder, resources))
    return replace(checked, problems=(*problems, *checked.problems)) if problems else checked


def check_file(
    path: str | os.PathLike[str], *, resources: Resources | None = None, folder: Path | None = None
) -> Checked:
    """Check the definition in the file at *path*, in the namespace of *folder*.

    Without *folder*, the file's own folder is the namespace. Raises UsageError.
    """
    if not isinstance(path, str | os.PathLike):
        raise UsageError(f"a file is named by a path, and this is {kind_of(path)}")
    check_kind("folder", folder, Path)
    check_kind("resources", resources, Resources)
    path = Path(path)
    checked = _check(_content(path), str(path), path.parent, resources, folder)
    if checked.definition is None:
        return checked
    place = path.name if folder is None else path.resolve().relative_to(folder.resolve()).as_posix()
    return replace(checked, definition=checked.definition.placed_at(f"/{place}"))


def check_part(root: Object, source: Source) -> Checked:
    """Check the definition *root*, which is part of the text of *source*.

    Problems have positions in that text. A run only carries the definition itself, as JSON.
    """
    checked = read_part(deepcopy(root), source)
    if checked.definition is None or checked.definition.others:  # several workflows have separate texts
        return checked
    alone = Source(written(root), source.name)
    return replace(checked, definition=checked.definition.with_source(alone))


def check_url(url: str, *, resources: Resources | None = None) -> Checked:
    """Check the definition at *url*. Raises UsageError if it cannot be fetched."""
    resources = resources or Resources.from_environment(os.environ)
    try:
        found = resources.fetch(url)
    except ResourceError as error:
        raise UsageError(f"the definition is at {url}, {error.reason}", error.hint) from None
    return _check(found.content, url, None, resources)


def load(
    definition: str | bytes | os.PathLike[str] | Mapping[str, Any],
    *,
    name: str | None = None,
    resources: Resources | None = None,
    folder: Path | None = None,
) -> Definition:
    """Return the workflow that *definition* describes: a file, a URL, a text or bytes in YAML or JSON, or an object.

    A text is a file if it is one line, is not an object, and names a file or ends like one. Loading the same
    text again costs almost nothing. *resources* is what the definition may read besides its own folder; by default,
    the environment says it for files and URLs, and texts and objects read nothing. *folder* is the namespace of a file,
    as for `check_file`. Raises InvalidDefinition with every problem, including warnings, if one of them is an error,
    and UsageError if there is no such file.
    """
    check_kind("name", name, str)
    check_kind("resources", resources, Resources)
    if isinstance(definition, str) and _is_url(definition):
        return _valid(check_url(definition, resources=resources))
    if isinstance(definition, os.PathLike) or (isinstance(definition, str) and _is_path(definition)):
        return _valid(check_file(definition, resources=resources, folder=folder))
    text = definition if isinstance(definition, bytes) else _text_of(definition)
    if resources is None and isinstance(text, str):
        return _loaded(text, name or "<definition>")
    return _valid(check(text, name=name or "<definition>", resources=resources))


def check_in_mode(root: Object, source: Source, mode: ReadingMode) -> Checked:
    """Check the definition *root*, which is part of *source*, in a mode of reading."""
    return check(written(root), name=source.name, resources=Resources(mode=mode))


def load_pinned(text: str, *, name: str) -> Definition:
    """Return the workflow that a running instance carries as *text*, without validating it.

    It was validated when the instance was started. A rule added since then must not end running instances.
    Raises InvalidDefinition if the text cannot be read as a workflow.
    """
    note_read(text)
    checked = read_pinned(Source(text, name))
    if checked.definition is None:
        raise InvalidDefinition(checked.problems)
    return checked.definition


def documents_in(folder: Path, endings: tuple[str, ...] = ENDINGS) -> list[Path]:
    """Return the files with those *endings* in *folder* and its subfolders, except hidden ones.

    Raises UsageError if one of the folders cannot be listed.
    """
    try:
        return list(files_below(folder, endings))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UsageError(f"{error.filename} is not a folder") from None
    except OSError as error:
        raise _unreadable(folder, error) from None


def files_in(folder: Path, known: Container[Path] = ()) -> list[Path]:
    """Return the files in *folder* that contain definitions, and those *known* to have done, which may be half written.

    Raises UsageError if a folder or a file cannot be read: its definitions may still exist.
    """
    return [file for file in documents_in(folder) if file in known or holds_definition(file)]


def files_at(path: Path, known: Container[Path] = ()) -> list[Path]:
    """Return *path* itself, or the result of `files_in` if it is a folder."""
    return files_in(path, known) if is_folder(path) else [path]


def holds_definition(path: Path) -> bool:
    """Return True if the file at *path* is a definition by its name or content; scenarios, which embed some, are not.

    Raises UsageError if it cannot be read.
    """
    if path.suffix not in ENDINGS:
        return False
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return False
    except OSError as error:
        raise _unreadable(path, error) from None
    if path.name.endswith(DEFINITIONS):
        return True
    text = _content(path).decode("utf-8", "replace")
    return looks_like_definition(text) and _SCENARIO.search(text) is None


def conflicting(workflows: Iterable[Definition]) -> list[Problem]:
    """Return a problem for each workflow with the id and version of an earlier one, but another text."""
    first: dict[tuple[str, str | None], Definition] = {}
    problems: list[Problem] = []
    for workflow in workflows:
        other = first.setdefault((workflow.id, workflow.version), workflow)
        if other.digest != workflow.digest:
            which = f"version {workflow.version!r}" if workflow.version else "no version"
            message = f"there are several definitions with the id {workflow.id!r} and {which}"
            hint = f"the first is at {other.source.name}:{other.id_position.line}"
            place, file = workflow.id_position, workflow.source.name
            problems.append(Problem("duplicate-definition", message, place, hint=hint, file=file))
    return problems


def _content(path: Path) -> bytes:
    try:
        return read_bytes(path)
    except OSError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: OSError) -> UsageError:
    return UsageError(f"{error.filename or path} cannot be read: {error.strerror}")


def _fetch(name: str, folder: Path | None, resources: Resources | None) -> Fetch:
    # A text without a location may come from a run: it must mean the same wherever it is read.
    return nothing if resources is None else partial(resources.fetch, base=name if is_web(name) else folder)


def _properties(resources: Resources, folder: Path | None, namespace: Path | None) -> dict[str, str]:
    """Return the application properties in the *folder* of a definition, or in the nearest one around it.

    Folders around that of the *namespace* belong to others.
    """
    for place in (folder, *_around(folder, namespace)):
        found = []
        for name, profile in _PROPERTIES:
            with suppress(ResourceError):
                text = resources.fetch(name, place).content.decode("utf-8-sig", "replace")
                found.append(PropertiesText(name, text, profile=profile))
        if found:
            return in_production(found)
    return {}


def _around(folder: Path | None, namespace: Path | None) -> Iterator[Path]:
    """Yield the folders around *folder*, from the nearest to that of the *namespace*."""
    if folder is not None and namespace is not None:
        root = namespace.resolve()
        yield from (one for one in folder.resolve().parents if one.is_relative_to(root))


@of_definitions
def _loaded(text: str, name: str) -> Definition:
    note_read(text)
    return _valid(check(text, name=name))


def _text_of(definition: str | Mapping[str, Any]) -> str:
    if isinstance(definition, str):
        return definition
    if not isinstance(definition, Mapping):
        raise UsageError(f"a definition is a text, bytes or a mapping, and this is {kind_of(definition)}")
    try:
        return write_json(definition)
    except NotJSON as error:
        raise UsageError(f"the definition is not JSON: {error}") from None


def _valid(checked: Checked) -> Definition:
    if checked.definition is None:
        raise InvalidDefinition(checked.problems)
    return checked.definition.keep()


def _is_url(text: str) -> bool:
    return is_web(text) and not any(character.isspace() for character in text.strip())


def _is_path(text: str) -> bool:
    if "\n" in text or text.lstrip().startswith("{"):
        return False
    try:
        return text.endswith(ENDINGS) or Path(text).is_file()
    except (OSError, ValueError):
        return False
