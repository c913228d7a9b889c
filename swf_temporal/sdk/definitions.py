"""Reading the definitions at given paths, with the sub-workflows beside them, and those that a worker serves."""

import os
import sys
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import InvalidDefinition, Problem, UsageError
from swf_temporal.base.files import STDIN, is_folder
from swf_temporal.base.grammar import with_article
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.loading import check, check_file, conflicting, files_at, holds_definition, load
from swf_temporal.languages.port import Checked, Definition
from swf_temporal.text.fetching.resources import Resources
from swf_temporal.text.origin import Source

One = Definition | str | os.PathLike[str] | Mapping[str, Any]
"""A definition, or an argument of `load`."""
Given = One | Iterable[One]
"""The definitions to serve; a catalogue is used as it is."""
_ONE = (Definition, str, os.PathLike, Mapping)


class Definitions:
    """The definitions that a worker serves. Running instances keep the definition with which they began.

    definitions.add("orders.yaml")
    definitions.remove("orders", "1.0.0")
    """

    def __init__(self, given: Given = ()) -> None:
        """Serve the *given* definitions. Raises InvalidDefinition, and UsageError for anything else."""
        self._check: list[Callable[[Definition], None]] = []
        self.are_own = not isinstance(given, Catalogue)
        """Whether this made the catalogue; a caller that passes one has checked the functions that it calls."""
        if isinstance(given, Catalogue):
            self.catalogue = given
            return
        self.catalogue = Catalogue()
        if not isinstance(given, _ONE) and not isinstance(given, Iterable):
            raise UsageError(f"definitions must be a list of definitions, and is {with_article(type(given).__name__)}")
        for one in [given] if isinstance(given, _ONE) else given:
            self.add(one)

    def __iter__(self) -> Iterator[Definition]:
        """Yield every definition, in all its versions."""
        return iter(self.catalogue)

    def __contains__(self, one: object) -> bool:
        """Return whether a definition is served: one with this id, in any version, or this one."""
        if isinstance(one, Definition):
            return any((each.id, each.version, each.digest) == (one.id, one.version, one.digest) for each in self)
        return any(each.id == one for each in self)

    def add(self, given: One, *, replace: bool = False) -> Definition:
        """Serve one more definition, for instances that are started from now on; return it.

        Raises InvalidDefinition if it cannot run, and UsageError if another content is served under the same id and
        version, unless it is to *replace* that.
        """
        if not isinstance(given, Definition | str | os.PathLike | Mapping):
            kind = with_article(type(given).__name__)
            raise UsageError(f"a definition must be a text, a path, a mapping or a Definition, and is {kind}")
        new = given if isinstance(given, Definition) else load(given)
        for checked in self._check:
            checked(new)
        old = next((one for one in self if (one.id, one.version) == (new.id, new.version)), None)
        if old is not None and old.digest != new.digest and not replace:
            version = f" in version {new.version}" if new.version else ""
            message = f"{new.id!r} is served already{version}, with another content"
            raise UsageError(message, "give it another version, or use replace=True")
        self.catalogue.add(new)
        return new

    def remove(self, definition_id: str, version: str | None = None) -> None:
        """Stop serving it, in that *version* or in all; instances continue. Raises UsageError if it is not served."""
        if not self.catalogue.remove(definition_id, version):
            what = f"{definition_id!r} in version {version}" if version else repr(definition_id)
            raise UsageError(f"there is no definition {what} here")

    def check(self, check: Callable[[Definition], None]) -> None:
        """Call *check* with each definition: those served now, and those added later."""
        for one in self:
            check(one)
        self._check.append(check)


Warn = Callable[[object], None]
"""Is called with each warning about a definition."""


def resources_of(folders: Iterable[Path] | None) -> Resources:
    """Return the folders that definitions may read: those in the environment, and *folders*. Raises UsageError."""
    found = list(folders or ())
    for folder in found:
        if not is_folder(folder):
            raise UsageError(f"{folder} is not a folder", "see --resources")
    return Resources.from_environment(os.environ, found)


def catalogue_of(
    paths: Iterable[Path],
    resources: Resources | None = None,
    warned: list[Problem] | None = None,
    *,
    known: Container[Path] = (),
    strict: bool = False,
) -> Catalogue:
    """Return the definitions at *paths* (files and folders); files in *known* held a definition before, and still must.

    Warnings are added to *warned*, or with *strict* count as errors. Raises InvalidDefinition with the problems of all
    that cannot run, and UsageError if anything cannot be read.
    """
    files = {file: None if file == path else path for path in paths for file in files_at(path, known)}
    checked = [check_file(file, resources=resources, folder=folder) for file, folder in files.items()]
    if any(one.definition is None for one in checked):
        raise InvalidDefinition([problem for one in checked for problem in one.errors])
    workflows = [one.definition for one in checked if one.definition is not None]
    if conflicts := conflicting(workflows):
        raise InvalidDefinition(conflicts)
    doubtful = [problem for one in checked for problem in one.warnings]
    if strict and doubtful:
        raise InvalidDefinition(doubtful)
    if warned is not None:
        warned.extend(doubtful)
    return Catalogue(workflows)


def with_led_to(
    catalogue: Catalogue,
    paths: Iterable[Path],
    resources: Resources | None = None,
    *,
    warn: Warn,
    strict: bool = False,
) -> Catalogue:
    """Return *catalogue*, read from *paths*, with the definitions that files among these refer to, found beside them.

    Like `with_sub_workflows`, it warns of definitions that are left out or have warnings.
    """
    files = {str(path): path for path in paths if not is_folder(path)}
    served = {(one.id, one.version) for one in catalogue}
    led_to: list[Definition] = []
    for workflow in catalogue:
        file = files.get(workflow.source.name)
        if file is not None:
            led_to += with_sub_workflows(workflow, file, (), resources, warn=warn, strict=strict)[1:]
    return Catalogue(catalogue, [one for one in led_to if (one.id, one.version) not in served])


def check_given(file: Path, resources: Resources | None = None, folders: Iterable[Path] = ()) -> Checked:
    """Return the definition in *file*, or on stdin for `-`, with its problems. Raises UsageError.

    References of a definition on stdin are relative to the current folder. A file in one of *folders* may be identified
    by its path in there.
    """
    if file != STDIN:
        folder = next((one for one in folders if file.resolve().is_relative_to(one.resolve())), None)
        return check_file(file, resources=resources, folder=folder)
    try:
        text = sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError("the input on stdin is not UTF-8 text") from None
    if not text.strip():
        raise UsageError("there is no definition on stdin", "as in `swf validate - < orders.yaml`")
    return check(text, name="<stdin>", folder=Path.cwd(), resources=resources)


def load_given(file: Path, resources: Resources | None = None) -> Definition:
    """Return the workflow in *file*, or on stdin for `-`. Raises InvalidDefinition if it cannot run."""
    checked = check_given(file, resources)
    if checked.definition is None:
        raise InvalidDefinition(checked.problems)
    return checked.definition


def read_to_run(
    file: Path,
    resources: Resources | None = None,
    folders: Iterable[Path] = (),
    *,
    warn: Warn,
    strict: bool = False,
) -> Definition:
    """Return the workflow in *file*, and report its warnings.

    Raises InvalidDefinition if it cannot run, or if there are warnings and *strict* counts them as errors.
    """
    checked = check_given(file, resources, folders)
    if checked.definition is None:
        raise InvalidDefinition(checked.problems)
    _warn_of(checked.warnings, warn, strict=strict)
    return checked.definition


def _only_folders(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if not is_folder(path):
            raise UsageError(f"{path} is not a folder", "see --definitions")
        yield path


def read_related(
    file: Path,
    folders: Iterable[Path],
    resources: Resources | None = None,
    *,
    warn: Warn,
    strict: bool = False,
) -> list[Definition]:
    """Return the definition in *file* and those that it can lead to, like `read_to_run` and `with_sub_workflows`."""
    folders = list(folders)
    workflow = read_to_run(file, resources, folders, warn=warn, strict=strict)
    return with_sub_workflows(workflow, file, folders, resources, warn=warn, strict=strict)


def with_sub_workflows(
    workflow: Definition,
    file: Path,
    folders: Iterable[Path],
    resources: Resources | None = None,
    *,
    warn: Warn,
    strict: bool = False,
) -> list[Definition]:
    """Return *workflow*, read from *file*, and the definitions that it can lead to.

    They are looked for in *folders*, and beside *file*. Broken or unreadable files beside it are left out, with a
    warning. Warnings about the definitions that it can lead to are reported as well.
    """
    warned: list[Problem] = []
    catalogue = catalogue_of(_only_folders(folders), resources, warned)
    if workflow.sub_workflows or workflow.continuations:
        catalogue = Catalogue([*_beside(file, resources, warned, warn), *catalogue])
    catalogue.add(workflow)
    reachable = list(catalogue.with_reachable(workflow))
    led_to = {one.source.name for one in reachable} - {workflow.source.name}
    _warn_of([problem for problem in warned if problem.file in led_to], warn, strict=strict)
    return [_anywhere(one) for one in reachable]


def refuse_unfit(workflow: Definition, data: JSON) -> None:
    """Raise UsageError if a run of *workflow* would fail at once, because *data* does not match its schema."""
    refusal = workflow.refusal_of({} if data is None else data)
    if refusal is not None:
        raise UsageError(refusal, f"{workflow.words.input_schema} of {workflow.id!r} describes the required input")


@dataclass(frozen=True, slots=True)
class Scheduled:
    """The definitions of files and folders, by whether they have a schedule."""

    families: list[list[Definition]]
    """The definitions with a schedule, each with the sub-workflows that it can lead to."""
    others: list[str]
    """The ids of the definitions without one."""


def scheduled_in(paths: Iterable[Path], folders: Sequence[Path], *, warn: Warn) -> Scheduled:
    """Return the definitions at *paths*. Their sub-workflows are looked for beside the file, and in *folders*."""
    scheduled, others = _scheduled(paths)
    families = [with_sub_workflows(workflow, file, folders, warn=warn) for workflow, file in scheduled]
    return Scheduled(families, others)


def _warn_of(warnings: Sequence[Problem], warn: Warn, *, strict: bool) -> None:
    if strict and warnings:
        raise InvalidDefinition(warnings)
    for warning in warnings:
        warn(warning)


def _anywhere(workflow: Definition) -> Definition:
    """Return *workflow* with an absolute path of its file, since a worker may run in another folder."""
    source = workflow.source
    return workflow.with_source(Source(source.text, str(Path(source.name).resolve())))


def _beside(file: Path, resources: Resources | None, warned: list[Problem], warn: Warn) -> Iterator[Definition]:
    try:
        inside = sorted(file.parent.iterdir())
    except OSError as error:
        raise UsageError(f"{file.parent} cannot be read: {error.strerror}") from None
    for other in inside:
        try:
            if other == file or other.name[0] == "." or not holds_definition(other):
                continue
            checked: Checked = check_file(other, resources=resources)
        except UsageError as error:
            warn(f"{other} is left out: {error.message}")
            continue
        if checked.definition is None:
            warn(f"{other} is left out: it has errors (see `swf validate {other}`)")
        else:
            warned.extend(checked.warnings)
            yield checked.definition


def _scheduled(paths: Iterable[Path]) -> tuple[list[tuple[Definition, Path]], list[str]]:
    """Return the definitions with a schedule at *paths*, each with its file, and the ids of others in folders.

    All are read before anything is changed. Raises UsageError if a folder has none, or two have the same id.
    """
    found: list[tuple[Definition, Path]] = []
    others: list[str] = []
    for path in paths:
        inside = [(load_given(file), file) for file in files_at(path)]
        scheduled = [one for one in inside if one[1] == path or one[0].has_schedule]
        if not scheduled:
            raise UsageError(f"no definition in {path} has a schedule", "it is written under start: schedule:")
        found += scheduled
        others += [workflow.id for workflow, _ in inside if not workflow.has_schedule]
    by_id: dict[str, Path] = {}
    for workflow, file in found:
        if workflow.has_schedule:
            workflow.schedule()  # raises what is wrong with it
        if workflow.id in by_id:
            raise UsageError(
                f"{by_id[workflow.id]} and {file} both define {workflow.id!r}, which has only one schedule"
            )
        by_id[workflow.id] = file
    # A file without a schedule comes first: applying it fails, and says whether the server has the one that it had.
    return sorted(found, key=lambda one: one[0].has_schedule), others
