"""The definitions in a folder, read again when their files change."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from swf_temporal.app.definitions import documents_in, files_in
from swf_temporal.errors import Problem
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.port import ENDINGS, Definition
from swf_temporal.loading import check_file

_WATCHED = (*ENDINGS, ".proto")


class LiveCatalogue(Catalogue):
    """The definitions in a folder as they are now; of a broken one the last version that could run.

    Where it is *strict*, one that there are warnings about counts as broken.
    """

    def __init__(self, folder: Path, *, strict: bool = False) -> None:
        super().__init__()
        self._strict = strict
        self._folder = folder
        self._stamps: dict[Path, tuple[int, int]] = {}
        self._good: dict[Path, Definition] = {}
        self._reported: dict[Path, tuple[Problem, ...]] = {}
        self.revision = 0
        """How often the files have been read."""

    def refresh(self) -> list[str]:
        """Look for changes; return what is to be told about them.

        Any file may be one that a definition refers to, so after any change all definitions are read again.
        """
        stamps = dict(stamps_of(self._folder))
        if stamps == self._stamps:
            return []
        self._stamps = stamps
        self.revision += 1
        files = _definitions(self._folder, self._good)
        news = [f"{file}: gone" for file in self._good if file not in files]
        self._good = {file: workflow for file, workflow in self._good.items() if file in files}
        for file in files:
            news += self._read(file)
        self._workflows.clear()
        for workflow in self._good.values():
            self.add(workflow)
        return news

    def _read(self, file: Path) -> Iterator[str]:
        checked = check_file(file)
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


def _definitions(folder: Path, known: Iterable[Path]) -> list[Path]:
    """Return the files that hold definitions, and those *known* to have held one: it may be half written now."""
    return sorted({*files_in(folder), *(file for file in known if file.is_file())})


def stamps_of(folder: Path) -> Iterator[tuple[Path, tuple[int, int]]]:
    """Yield the documents in *folder*, each with its time and size, by which a change is noticed."""
    for file in documents_in(folder, _WATCHED):
        try:
            found = file.stat()
        except FileNotFoundError:
            continue  # gone since the folder was read
        yield file, (found.st_mtime_ns, found.st_size)
