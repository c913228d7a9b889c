"""The definitions in a folder, read again when their files change."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from swf_temporal.base.errors import Problem, UsageError
from swf_temporal.base.files import ENDINGS, files_below
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.loading import check_file, files_in
from swf_temporal.languages.port import Checked, Definition

_WATCHED = (*ENDINGS, ".proto")


class LiveCatalogue(Catalogue):
    """The definitions in a folder as they are now; of a broken one the last version that could run.

    Where it is *strict*, one that there are warnings about counts as broken.
    """

    def __init__(self, folder: Path, *, strict: bool = False) -> None:
        super().__init__()
        self._strict = strict
        self._folder = folder
        self._stamps: dict[object, object] | None = None
        self._good: dict[Path, Definition] = {}
        self._reported: dict[Path, tuple[Problem, ...]] = {}
        self.revision = 0
        """How often the files have been read."""

    def refresh(self) -> list[str]:
        """Look for changes; return what is to be told about them.

        Any file may be one that a definition refers to, so after any change all definitions are read again. If anything
        cannot be read, those before are served, and it is tried again each time; the first time, raises UsageError.
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
            return [] if before == self.unreadable else [f"{error}; the definitions before are served"]
        self.unreadable = None
        self._stamps = stamps
        self.revision += 1
        news = [f"{file}: gone" for file in self._good if file not in checked]
        self._good = {file: workflow for file, workflow in self._good.items() if file in checked}
        for file, found in checked.items():
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


def stamps_of(folder: Path) -> Iterator[tuple[object, object]]:
    """Yield the documents in *folder*, each with its time and size, by which a change is noticed.

    What cannot be looked at has its error instead: whether that matters is found out by reading.
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
