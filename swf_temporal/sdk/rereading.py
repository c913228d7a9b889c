"""Catalogues that read definitions again when their files change, until the process is asked to stop."""

import asyncio
import logging
import signal
from collections.abc import AsyncIterator, Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeAlias

from swf_temporal.base.errors import InvalidDefinition, Problem, SwfError, UsageError
from swf_temporal.base.files import ENDINGS, files_below, is_folder
from swf_temporal.base.stopping import beside
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.loading import check_file, conflicting, files_in
from swf_temporal.languages.port import Checked, Definition
from swf_temporal.text.origin import UNREADABLE

_WATCHED = (*ENDINGS, ".proto")


class LiveCatalogue(Catalogue):
    """The definitions in a folder as they are now; of a broken one the last valid version.

    With *strict*, a definition with warnings counts as broken.
    """

    def __init__(self, folder: Path, *, strict: bool = False) -> None:
        super().__init__()
        self._strict = strict
        self._folder = folder
        self._stamps: dict[object, object] | None = None
        self._good: dict[Path, Definition] = {}
        self._reported: dict[Path, tuple[Problem, ...]] = {}
        self.revision = 0
        """The number of times that the files were read."""

    def refresh(self) -> list[str]:
        """Check for changes; return the news about them.

        Any file may be one that a definition refers to, so after any change all definitions are read again. If anything
        cannot be read, the previous ones are served, and it is retried each time; the first time raises UsageError.
        """
        stamps = dict(stamps_of(self._folder))
        if stamps == self._stamps:
            self.unreadable = None
            return []
        before = self.unreadable
        try:
            checked = {file: check_file(file) for file in files_in(self._folder, self._good)}
        except (UsageError, OSError) as error:
            if not self.revision:
                raise
            self.unreadable = str(error)
            return [] if before == self.unreadable else [f"{error}; the previous definitions are served"]
        self.unreadable = None
        self._stamps = stamps
        self.revision += 1
        news = [f"{file}: gone" for file in self._good if file not in checked]
        self._good = {file: workflow for file, workflow in self._good.items() if file in checked}
        for file, found in _without_conflicts(checked, self._good).items():
            news += self._take(file, found)
        self._workflows.clear()
        for workflow in self._good.values():
            self.add(workflow)
        return news

    def _take(self, file: Path, checked: Checked) -> Iterator[str]:
        if self._strict and checked.warnings:
            checked = replace(checked, definition=None)
        before = self._good.get(file)
        if checked.definition is None:
            if checked.problems != self._reported.get(file):
                yield from map(str, checked.problems)
                if before is not None:
                    yield f"{file}: has errors; the last valid version is served"
        else:
            self._good[file] = checked.definition
            if before is None or before.digest != checked.definition.digest or file in self._reported:
                yield from map(str, checked.problems)
                yield f"{file}: serving {checked.definition.id} {checked.definition.version or ''}".rstrip()
        self._reported.pop(file, None)
        if checked.definition is None:
            self._reported[file] = checked.problems


def _without_conflicts(checked: Mapping[Path, Checked], served: Mapping[Path, Definition]) -> dict[Path, Checked]:
    """Return *checked* with an error, in place of a definition, for each with the id and version of another.

    The one whose file was *served* under them keeps them, or else the first: a copy must not take its original's place.
    """

    def is_new(file: Path, definition: Definition) -> bool:
        before = served.get(file)
        return before is None or (before.id, before.version) != (definition.id, definition.version)

    found = [(file, one.definition) for file, one in checked.items() if one.definition is not None]
    by_age = [definition for _, definition in sorted(found, key=lambda one: is_new(*one))]
    conflicts = {problem.file: problem for problem in conflicting(by_age)}
    return {
        file: one
        if one.definition is None or (conflict := conflicts.get(one.definition.source.name)) is None
        else replace(one, definition=None, problems=(*one.problems, conflict))
        for file, one in checked.items()
    }


def stamps_of(folder: Path) -> Iterator[tuple[object, object]]:
    """Yield the documents in *folder*, each with its time and size, to detect changes.

    A file that cannot be examined has its error instead: reading finds out whether that matters.
    """
    errors: list[OSError] = []
    for file in files_below(folder, _WATCHED, errors.append):
        try:
            found = file.stat()
        except OSError as error:
            yield file, error.errno
        else:
            yield file, (found.st_mtime_ns, found.st_size)
    yield from ((error.filename, error.errno) for error in errors)


_log = logging.getLogger("swf")

INTERVAL: Final = 5.0
"""Seconds between two checks of the files."""

Read: TypeAlias = Callable[[Container[Path]], Catalogue]
"""Reads the definitions; the given files held some before. Raises InvalidDefinition and UsageError."""


class RereadCatalogue(Catalogue):
    """The definitions at some paths, as they were when all of them were valid: a change takes effect as a whole."""

    def __init__(self, paths: Iterable[Path], read: Read) -> None:
        """Read them for the first time. Raises InvalidDefinition and UsageError."""
        super().__init__()
        self._read = read
        self._folders = {path if is_folder(path) else path.parent for path in paths}
        self._stamps = self._stamped()
        self.share(read(()))
        self._trouble: str | None = None

    async def refresh(self, *, anyway: bool = False) -> None:
        """Read the definitions again if a file has changed, or *anyway*.

        If one of them cannot run, all previous ones are served until a file changes. They also are if anything cannot
        be read, and does not count as deleted: `unreadable` says what, and reading is retried each time.
        """
        try:
            stamps = await beside(self._stamped)
            if stamps == self._stamps and not anyway:
                if self.unreadable is not None:
                    self._recover()
                return
            found = await beside(self._again)
        except Exception as error:  # noqa: BLE001 - no error may end the checks
            known, self._trouble = self._trouble, " ".join(_text_of(error).split())
            if self._trouble != known or anyway:
                _log.error("definitions cannot be read again, and the previous ones are served: %s", self._trouble)
            if isinstance(error, InvalidDefinition) and all(one.code != UNREADABLE for one in error.problems):
                self.unreadable, self._stamps = None, stamps
            else:
                self.unreadable = self._trouble
            return
        self._recover()
        self._stamps = stamps
        before = self._texts()
        self.share(found)
        after = self._texts()
        for id_, version in sorted(after.keys() | before.keys(), key=str):
            if before.get((id_, version)) != after.get((id_, version)):
                what = "serving" if (id_, version) in after else "no longer serving"
                _log.info("%s %s %s", what, id_, version or "")

    def _again(self) -> Catalogue:
        for folder in self._folders:
            if not is_folder(folder):
                raise UsageError(f"{folder} is not a folder")
        return self._read({Path(one.source.name) for one in self})

    def _recover(self) -> None:
        if self._trouble is not None:
            _log.info("the definitions can be read again")
        self.unreadable = self._trouble = None

    def _stamped(self) -> Sequence[object]:
        return [stamp for folder in sorted(self._folders) for stamp in stamps_of(folder)]

    @property
    def where(self) -> str:
        """The folders that are checked."""
        return ", ".join(str(one) for one in sorted(self._folders))

    def _texts(self) -> dict[tuple[str, str | None], str]:
        return {(one.id, one.version): one.digest for one in self}


def _text_of(error: Exception) -> str:
    return str(error) if isinstance(error, SwfError) else f"{type(error).__name__}: {error}"


@asynccontextmanager
async def reread(catalogue: RereadCatalogue) -> AsyncIterator[None]:
    """Keep *catalogue* up to date within the context: every few seconds, and at once on SIGHUP."""
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()
    hangup: signal.Signals | None = getattr(signal, "SIGHUP", None)  # not on Windows

    async def follow() -> None:
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(asked.wait(), INTERVAL)
            anyway = asked.is_set()
            asked.clear()
            await catalogue.refresh(anyway=anyway)

    if hangup is not None:
        loop.add_signal_handler(hangup, asked.set)
    following = asyncio.create_task(follow())
    try:
        yield
    finally:
        if hangup is not None:
            loop.remove_signal_handler(hangup)
        following.cancel()
        await asyncio.wait([following])
