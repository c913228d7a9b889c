"""What scenarios does a file hold? They are read strictly: a claim with a slip in it would test nothing."""

import os
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from datetime import timedelta
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from swf_temporal.dialects.placed import Array, Object, Unreadable, plain
from swf_temporal.dialects.source import read_source
from swf_temporal.durations import parse_duration
from swf_temporal.errors import Position, Severity, UsageError
from swf_temporal.model.cloudevent import CloudEvent
from swf_temporal.model.workflow import Source
from swf_temporal.simulation.description import HOSTS, Answer, Expected, ExpectedProblem, Scenario, Written

_ENDINGS = (".yaml", ".yml")
_SEPARATOR = re.compile(r"---\s*(#.*)?")
_CLAIM = re.compile(r"^[\"']?scenario[\"']?\s*:", re.MULTILINE)
_ANSWERS = ("returns", "raises", "computes", "then")
_FAILURE = ("code", "message", "status", "name", "body", "retryable", "retryAfter")
_STATUSES = ("completed", "failed", "waiting", "cancelled")
_FIELDS = (
    "scenario", "spec", "workflow", "definitions", "input", "functions", "events", "secrets", "cancel", "expect",
    "hosts", "why",
)  # fmt: skip
_EXPECTATIONS = ("status", "output", "error", "produced", "calls", "states", "elapsed", "problems")
_OF_A_RUN = ("input", "functions", "events", "secrets", "cancel", "hosts", "why")
_PROBLEM = ("code", "severity", "at", "message", "hint", "file")
_AT = re.compile(r"[1-9][0-9]*:[1-9][0-9]*")


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
    reader = _Reader(source, file.parent)
    if not isinstance(data, Object):
        hint = "write an object: the name of each function, and its result"
        reader.fail(f"{file.name} does not say what functions answer", Position(), hint)
    return {name: reader.answers(value, data.where.value(name)) for name, value in data.items()}


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            inside = sorted(file for file in path.rglob("*") if file.suffix in _ENDINGS and file.is_file())
            yield from (file for file in inside if _CLAIM.search(_text(file)))
        else:
            yield path


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
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


class _Reader:
    """Reads one document, which *source* holds."""

    def __init__(self, source: Source, folder: Path) -> None:
        self.source = source
        self.folder = folder

    def fail(self, message: str, position: Position, hint: str | None = None) -> NoReturn:
        raise UsageError(str(self.source.problem("scenario", message, position, hint)))

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
            expect=self.expected(data),
            spec=self.texts(data, "spec"),
            definitions=tuple(self.definition(*one) for one in self.items(data, "definitions")),
            input=plain(data.get("input", {})),
            functions={name: self.answers(*one) for name, one in self.entries(data, "functions")},
            events=tuple(event for event, early in events if not early),
            early=tuple(event for event, early in events if early),
            secrets=plain(self.typed(data, "secrets", Object, "an object", Object(Position()))),
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

    # Functions

    def answers(self, value: Any, position: Position) -> tuple[Answer, ...]:
        if not _is_script(value):
            return (Answer(returns=plain(value)),)
        if "then" not in value:
            return (self.answer(value, position),)
        then = self.items(value, "then")
        if not then:
            self.fail("`then` lists at least one answer", value.where.value("then"))
        answers = tuple(self.answer(*one) if _is_script(one[0]) else Answer(plain(one[0])) for one in then)
        takes = self.length(value, "takes")
        return answers if takes is None else tuple(replace(answer, takes=answer.takes or takes) for answer in answers)

    def answer(self, value: Object, position: Position) -> Answer:
        ways = [key for key in _ANSWERS if key in value]
        if len(ways) > 1 or "then" in ways:
            self.fail(f"an answer is one of returns, raises and computes, not {' and '.join(ways)}", position)
        takes = self.length(value, "takes") or timedelta()
        if "raises" in value:
            return Answer(raises=self.failure(value), takes=takes)
        computes = self.typed(value, "computes", str, "an expression", None)
        return Answer(plain(value.get("returns")), computes, takes=takes)

    def failure(self, value: Object) -> dict[str, Any]:
        facts: Object = self.typed(value, "raises", Object, "an object such as {code: 404}")
        self.known(facts, _FAILURE, "an error")
        self.typed(facts, "status", int, "an HTTP status", None)
        for key in ("message", "name"):
            self.typed(facts, key, str, "a text", None)
        self.typed(facts, "retryable", bool, "true or false", None)
        failure: dict[str, Any] = plain(facts)
        if (wait := self.length(facts, "retryAfter")) is not None:
            failure["retry_after"] = wait.total_seconds()
            del failure["retryAfter"]
        return failure

    # Events and expectations

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

    def expected(self, data: Object) -> Expected:
        given: Object = self.typed(data, "expect", Object, "an object", Object(data.where.position))
        self.known(given, _EXPECTATIONS, "`expect`")
        error: Object = self.typed(given, "error", Object, "an object", Object(Position()))
        self.known(error, ("name", "code", "state", "action", "message"), "an error")
        said: dict[str, Any] = {"status": "failed" if error else "completed", "error": plain(error)}
        if "status" in given:
            said["status"] = self.choice(given["status"], given.where.value("status"), _STATUSES)
        if "output" in given:
            said["output"] = plain(given["output"])
        if "produced" in given:
            said["produced"] = tuple(self.event_like(*one) for one in self.items(given, "produced"))
        if "states" in given:
            said["states"] = self.texts(given, "states")
        if "problems" in given:
            said["problems"] = tuple(self.problem(*one) for one in self.items(given, "problems"))
        calls = {name: self.calls(*one) for name, one in self.entries(given, "calls")}
        return Expected(**said, calls=calls, elapsed=self.length(given, "elapsed"))

    def problem(self, value: Any, position: Position) -> ExpectedProblem:
        if not isinstance(value, Object):
            self.fail("a problem is an object with its code, and where and what it is", position)
        self.known(value, _PROBLEM, "a problem")
        code = self.typed(value, "code", str, "the code of a problem")
        severity = Severity.ERROR
        if "severity" in value:
            words = [str(one) for one in Severity]
            severity = Severity(self.choice(value["severity"], value.where.value("severity"), words))
        for key in ("at", "message", "file"):
            self.typed(value, key, str, "a text", None)
        if not isinstance(value.get("hint", ""), str | None):
            self.fail("'hint' is a text, or null where there is none", value.where.value("hint"))
        if "at" in value and not _AT.fullmatch(value["at"]):
            self.fail("'at' is a line and a column, such as 14:17", value.where.value("at"))
        facts = {key: value[key] for key in ("at", "message", "hint", "file") if key in value}
        return ExpectedProblem(code, severity, facts)

    def event_like(self, value: Any, position: Position) -> dict[str, Any]:
        if not isinstance(value, Object):
            self.fail("a produced event is an object with the fields to compare", position)
        fields: dict[str, Any] = plain(value)
        return fields

    def calls(self, value: Any, position: Position) -> int | tuple[Any, ...]:
        if isinstance(value, Array):
            return tuple(plain(value))
        if not isinstance(value, int) or isinstance(value, bool):
            self.fail("the calls of a function are their number, or a list of their arguments", position)
        return value

    # Kinds of values

    def known(self, value: Object, keys: Collection[str], owner: str) -> None:
        for key in value:
            if key not in keys:
                near = get_close_matches(key, keys, 1)
                hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(keys)}"
                self.fail(f"{key!r} is not a field of {owner}", value.where.key(key), hint)

    def typed(self, data: Object, key: str, kind: type, words: str, default: Any = ...) -> Any:
        if key not in data and default is not ...:
            return default
        value = data.get(key)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            self.fail(f"{key!r} is {words}", data.where.value(key))
        return value

    def choice(self, value: Any, position: Position, choices: Collection[str]) -> str:
        if value not in choices:
            near = get_close_matches(str(value), choices, 1)
            hint = f"did you mean {near[0]!r}?" if near else None
            self.fail(f"{value!r} is none of {', '.join(choices)}", position, hint)
        return str(value)

    def items(self, data: Object, key: str) -> list[tuple[Any, Position]]:
        array: Array = self.typed(data, key, Array, "a list", Array())
        return list(zip(array, array.positions, strict=True))

    def entries(self, data: Object, key: str) -> list[tuple[str, tuple[Any, Position]]]:
        entries: Object = self.typed(data, key, Object, "an object", Object(Position()))
        return [(name, (value, entries.where.value(name))) for name, value in entries.items()]

    def texts(self, data: Object, key: str, choices: Collection[str] = ()) -> tuple[str, ...]:
        def text(value: Any, position: Position) -> str:
            if not isinstance(value, str):
                self.fail(f"{key!r} is a list of texts", position)
            return self.choice(value, position, choices) if choices else value

        return tuple(text(*one) for one in self.items(data, key))

    def length(self, data: Object, key: str) -> timedelta | None:
        if key not in data:
            return None
        text = self.typed(data, key, str, "a duration such as PT5S")
        try:
            return parse_duration(text)
        except ValueError as error:
            self.fail(str(error), data.where.value(key))


def _is_script(value: Any) -> bool:
    """Tell whether *value* says how a function answers, and is not itself the answer."""
    return isinstance(value, Object) and bool(value) and all(key in (*_ANSWERS, "takes") for key in value)
