"""Reads the scenarios in a file, strictly: a claim with a slip in it would test nothing."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from swf_temporal.cloud_event import CloudEvent
from swf_temporal.errors import Position, UsageError
from swf_temporal.files import read_text
from swf_temporal.simulation.description import HOSTS, Answer, Scenario, Written
from swf_temporal.simulation.reading.answers import Answers
from swf_temporal.simulation.reading.expectations import Expectations
from swf_temporal.simulation.reading.services import Services
from swf_temporal.simulation.reading.strict import Strict
from swf_temporal.text.located import Object, Unreadable, plain
from swf_temporal.text.origin import Source
from swf_temporal.text.parsing import read_source

_ENDINGS = (".yaml", ".yml")
_SEPARATOR = re.compile(r"---\s*(#.*)?")
_CLAIM = re.compile(r"^[\"']?scenario[\"']?\s*:", re.MULTILINE)
_FIELDS = (
    "scenario", "spec", "workflow", "definitions", "input", "functions", "services", "events", "secrets", "chance",
    "cancel", "expect", "hosts", "why",
)  # fmt: skip
_OF_A_RUN = ("input", "functions", "services", "events", "secrets", "chance", "cancel", "hosts", "why")


def find_scenarios(paths: Iterable[str | os.PathLike[str]]) -> list[Scenario]:
    """Return the scenarios in *paths*: in files, and in all the YAML files of folders that hold scenarios.

    Raises UsageError if a path is not there or a scenario is not written as it should be.
    """
    return [scenario for file in _files(map(Path, paths)) for scenario in read_scenarios(file)]


def read_scenarios(path: str | os.PathLike[str]) -> list[Scenario]:
    """Return the scenarios in the file at *path*: one for each of its documents that has the key `scenario`.

    Raises UsageError, with the place and what was perhaps meant, if one is not written as it should be.
    """
    file = Path(path)
    found = []
    for text in _documents(_text(file)):
        source = Source(text, str(file))
        try:
            data, _ = read_source(source)
        except Unreadable as unreadable:
            raise UsageError(str(unreadable)) from None
        if isinstance(data, Object) and "scenario" in data:
            found.append(_Reader(source, file.parent).scenario(data, file))
    return found


def read_script(path: str | os.PathLike[str]) -> dict[str, tuple[Answer, ...]]:
    """Return how functions answer, as the file at *path* says: an object in the form of a scenario's `functions`.

    Raises UsageError, with the place and what was perhaps meant, if it is not written as it should be.
    """
    file = Path(path)
    source = Source(_text(file), str(file))
    try:
        data, _ = read_source(source)
    except Unreadable as unreadable:
        raise UsageError(str(unreadable)) from None
    reader = Answers(source)
    if not isinstance(data, Object):
        hint = "write an object: the name of each function, and its result"
        reader.fail(f"{file.name} does not say what functions answer", Position(), hint)
    return {name: reader.read(value, data.where.value(name)) for name, value in data.items()}


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            inside = sorted(file for file in path.rglob("*") if file.suffix in _ENDINGS and file.is_file())
            yield from (file for file in inside if _CLAIM.search(_text(file)))
        else:
            yield path


def _text(path: Path) -> str:
    try:
        return read_text(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not text in UTF-8") from None


def _documents(text: str) -> Iterator[str]:
    """Yield the documents of a YAML text, each after as many empty lines as stand before it."""
    begun = 0
    lines = text.splitlines()
    for number, line in enumerate([*lines, "---"]):
        if not _SEPARATOR.fullmatch(line.rstrip()):
            continue
        if any(one.strip() and not one.lstrip().startswith("#") for one in lines[begun:number]):
            yield "\n" * begun + "\n".join(lines[begun:number])
        begun = number + 1


class _Reader(Strict):
    """Reads one scenario."""

    def __init__(self, source: Source, folder: Path) -> None:
        super().__init__(source)
        self.folder = folder

    def scenario(self, data: Object, file: Path) -> Scenario:
        self.known(data, _FIELDS, "a scenario")
        if "workflow" not in data:
            self.fail("a scenario names the workflow that it is about", data.where.position)
        claim = self.typed(data, "scenario", str, "a sentence")
        hosts = self.texts(data, "hosts", HOSTS) or HOSTS
        why = self.typed(data, "why", str, "a text", "")
        if "hosts" in data and not why:
            self.fail("a scenario that runs on some hosts only says `why`", data.where.key("hosts"))
        events = self.events(data)
        scenario = Scenario(
            claim=claim,
            file=file,
            line=data.where.key("scenario").line,
            workflow=self.definition(data["workflow"], data.where.value("workflow")),
            expect=Expectations(self.source).read(data),
            spec=self.texts(data, "spec"),
            definitions=tuple(self.definition(*one) for one in self.items(data, "definitions")),
            input=plain(data.get("input", {})),
            functions={name: Answers(self.source).read(*one) for name, one in self.entries(data, "functions")},
            services=Services(self.source, self.folder).read(data),
            events=tuple(event for event, early in events if not early),
            early=tuple(event for event, early in events if early),
            secrets=plain(self.typed(data, "secrets", Object, "an object", Object(Position()))),
            chance=self.chance(data),
            cancel=self.typed(data, "cancel", bool, "true or false", default=False),
            hosts=hosts,
            why=why,
        )
        if scenario.is_refused:
            self.runs_nowhere(data)
        return scenario

    def runs_nowhere(self, data: Object) -> None:
        """Refuse what only a run could show."""
        expect: Object = data["expect"]
        for owner, keys in ((data, _OF_A_RUN), (expect, [key for key in expect if key != "problems"])):
            for key in keys:
                if key in owner:
                    message = f"a definition that is refused runs nowhere: {key!r} would show nothing"
                    self.fail(message, owner.where.key(key))

    def definition(self, value: Any, position: Position) -> Path | Written:
        if isinstance(value, Object):
            return Written(value, self.source)
        if not isinstance(value, str):
            self.fail("a workflow is the path of its file, or the definition itself", position)
        if not (self.folder / value).is_file():
            self.fail(f"there is no file {value!r} beside this one", position)
        return self.folder / value

    def chance(self, data: Object) -> tuple[float, ...]:
        dealt = self.items(data, "chance")
        if "chance" in data and not dealt:
            self.fail("'chance' lists at least one number", data.where.value("chance"))
        for value, position in dealt:
            if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
                hint = "0 takes the most of jitter away, 0.5 changes nothing, 1 adds the most"
                self.fail("what chance deals is a number from 0 to 1", position, hint)
        return tuple(float(value) for value, _ in dealt)

    def events(self, data: Object) -> list[tuple[dict[str, Any], bool]]:
        found = []
        for event, position in self.items(data, "events"):
            if not isinstance(event, Object):
                self.fail("an event is an object with type, source and data", position)
            early = self.typed(event, "early", bool, "true or false", default=False)
            facts = {key: item for key, item in plain(event).items() if key != "early"}
            try:
                CloudEvent.from_json(facts, default_id="-")
            except ValueError as error:
                self.fail(str(error), position)
            found.append((facts, early))
        return found
