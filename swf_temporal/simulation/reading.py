"""Reads the scenarios in files, and their definitions, strictly: a claim with a typo would test nothing."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from swf_temporal.base.calendars.previewing import preview
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import InvalidDefinition, Position, Problem, Severity, UsageError
from swf_temporal.base.files import is_folder, read_text, why_unreadable
from swf_temporal.languages.loading import check_file, check_in_mode, check_part, conflicting, documents_in
from swf_temporal.languages.port import Checked, Definition
from swf_temporal.simulation.model.expectations import ExpectedProblem
from swf_temporal.simulation.model.part import ScenarioFile, ScriptedFunction, StubAnswer
from swf_temporal.simulation.model.scenario import InlineDefinition, Scenario
from swf_temporal.text.fetching.resources import ReadingMode, in_mode
from swf_temporal.text.model_errors import ErrorPlace, custom_problem, fields_at, problem_of, problems_of
from swf_temporal.text.origin import Object, Source, UnreadableText
from swf_temporal.text.parsing import read_source
from swf_temporal.text.suggestions import did_you_mean


def workflows_of(scenario: Scenario) -> list[Definition]:
    """Return the workflow of *scenario*, and its other definitions.

    Definitions in separate files that are expected to have errors are left out. Raises InvalidDefinition if another one
    cannot run, or if two of them define one version in different ways.
    """
    workflows, problems = _read(scenario)
    problems = [problem for problem in problems if not _is_left_out(problem, scenario)]
    if any(problem.severity is Severity.ERROR for problem in problems):
        raise InvalidDefinition(problems)
    return [one for workflow in workflows for one in (workflow, *workflow.others)]


def broken_in(scenario: Scenario) -> dict[str, str]:
    """Return the problems of the definitions that *scenario* leaves out, by the paths that sub-workflows call."""
    if not scenario.broken_files:
        return {}
    errors = [problem for problem in _read(scenario)[1] if problem.severity is Severity.ERROR]
    return {f"/{_named(one.file, scenario)}": str(one) for one in reversed(errors) if _is_left_out(one, scenario)}


def starts_of(scenario: Scenario) -> Sequence[datetime] | UsageError:
    """Return the starts by the schedule that *scenario* asks about; or why its workflow has none."""
    asked = scenario.expect.starts
    if asked is None:
        return ()
    try:
        spec = workflows_of(scenario)[0].schedule()
    except UsageError as error:
        return error
    times = preview(spec, asked.after, asked.most)
    return [time for time in times if asked.before is None or time <= asked.before]


def started_by_events(scenario: Scenario) -> list[JSON]:
    """Return the inputs of the instances that the events of *scenario* start."""
    events = [CloudEvent.from_json(event, default_id="-") for event in (*scenario.early, *scenario.events)]
    return workflows_of(scenario)[0].event_starts(events)


def check_reading(scenario: Scenario) -> list[str]:
    """Return the differences between the problems of the definitions of *scenario* and those that it expects."""
    expected = scenario.expect.problems
    if expected is None:
        return []
    _, problems = _read(scenario)
    if len(expected) == len(problems) and all(map(_is_about, expected, problems)):
        return [
            f"problems[{number}].{difference}"
            for number, (one, problem) in enumerate(zip(expected, problems, strict=True))
            for difference in _apart(one, problem, scenario)
        ]
    return list(_missing_and_unexpected(expected, problems, scenario))


def _read(scenario: Scenario) -> tuple[list[Definition], list[Problem]]:
    checked = [_checked(one, scenario.mode) for one in (scenario.workflow, *scenario.definitions)]
    workflows = [one.definition for one in checked if one.definition is not None]
    return workflows, [*(problem for one in checked for problem in one.problems), *conflicting(workflows)]


def _checked(definition: Path | InlineDefinition, mode: ReadingMode | None) -> Checked:
    if isinstance(definition, Path):
        return check_file(definition, resources=None if mode is None else in_mode(mode))
    return _checked_part(definition, mode)


@lru_cache(maxsize=512)
def _checked_part(written: InlineDefinition, mode: ReadingMode | None) -> Checked:
    if mode is not None:
        return check_in_mode(written.definition, written.source, mode)
    return check_part(written.definition, written.source)


def _is_about(expected: ExpectedProblem, problem: Problem) -> bool:
    """Return whether both are the same kind of problem, so that a message should show their differences."""
    return (expected.code, expected.severity) == (problem.code, problem.severity)


def _apart(expected: ExpectedProblem, problem: Problem, scenario: Scenario) -> Iterator[str]:
    actual = _facts_of(problem, scenario)
    for key, value in expected.facts.items():
        if actual[key] != value:
            yield f"{key}: expected {value!r}, but it is {actual[key]!r}"


def _facts_of(problem: Problem, scenario: Scenario) -> dict[str, str | None]:
    """Return the facts of *problem* in the form of scenarios."""
    return {
        "code": problem.code,
        "severity": str(problem.severity),
        "at": f"{problem.position.line}:{problem.position.column}",
        "message": problem.message,
        "hint": problem.hint,
        "file": _named(problem.file, scenario),
    }


def _named(file: str, scenario: Scenario) -> str:
    return scenario.name_of(Path(file))


def _is_left_out(problem: Problem, scenario: Scenario) -> bool:
    return _named(problem.file, scenario) in scenario.broken_files


def _missing_and_unexpected(
    expected: Sequence[ExpectedProblem], problems: Sequence[Problem], scenario: Scenario
) -> Iterator[str]:
    left = list(problems)
    missing = []
    for one in expected:
        found = next((p for p in left if _is_about(one, p) and not list(_apart(one, p, scenario))), None)
        if found is None:
            missing.append(one)
        else:
            left.remove(found)
    for one in missing:
        yield f"problems: expected {one}, but it is not reported"
    for problem in left:
        yield f"problems: this one is not expected:\n    {'    '.join(str(problem).splitlines(keepends=True))}"
    if not missing and not left:
        yield f"problems: their order is different: {', '.join(problem.code for problem in problems)}"


_CODE = "scenario"
"""The code of all problems in such a file."""
_ENDINGS = (".yaml", ".yml")
_SEPARATOR = re.compile(r"---\s*(#.*)?")
_CLAIM = re.compile(r"^[\"']?scenario[\"']?\s*:", re.MULTILINE)
_SCRIPT = dict[str, ScriptedFunction]
_ADAPTERS: dict[Any, TypeAdapter[Any]] = {kind: TypeAdapter(kind) for kind in (Scenario, _SCRIPT)}
"""Cached, since making one takes ten times as long as validating a scenario."""
_Read = TypeVar("_Read")


def find_scenarios(paths: Iterable[str | os.PathLike[str]]) -> list[Scenario]:
    """Return the scenarios in *paths*: in files, and in all the YAML files of folders that hold scenarios.

    Raises UsageError if a path does not exist or a scenario is not valid.
    """
    return [scenario for file in _files(map(Path, paths)) for scenario in read_scenarios(file)]


def read_scenarios(path: str | os.PathLike[str]) -> list[Scenario]:
    """Return the scenarios in the file at *path*: one for each of its documents that has the key `scenario`.

    Raises UsageError, with positions and suggestions, if one is not valid.
    """
    file = Path(path)
    found = []
    for text in _documents(_text(file)):
        source = Source(text, str(file))
        data = _data(source)
        if isinstance(data, Object) and "scenario" in data:
            place = ScenarioFile(file, source, data.where.key("scenario").line)
            found.append(_validated(Scenario, data, place, "the scenario"))
    return found


def read_script(path: str | os.PathLike[str]) -> dict[str, tuple[StubAnswer, ...]]:
    """Return the answers of the functions in the file at *path*: an object with the name of each and its answers.

    Raises UsageError, with positions and suggestions, if it is not valid.
    """
    file = Path(path)
    source = Source(_text(file), str(file))
    data = _data(source)
    if not isinstance(data, Object):
        hint = "write an object: the name of each function, and its result"
        message = f"{file.name} does not contain the results of functions"
        raise UsageError(str(source.problem(_CODE, message, Position(), hint)))
    scripts = _validated(_SCRIPT, data, ScenarioFile(file, source), "the script")
    return {name: script.answers for name, script in scripts.items()}


def _data(source: Source) -> Any:
    try:
        data, _ = read_source(source)
    except UnreadableText as unreadable:
        raise UsageError(str(unreadable)) from None
    return data


def _validated(kind: type[_Read], data: Object, place: ScenarioFile, root: str) -> _Read:
    """Return *data*, called *root* in messages, as a value of *kind*. Raises UsageError with all its problems."""
    try:
        value: _Read = _ADAPTERS[kind].validate_python(data, context=place)
    except ValidationError as refused:
        problems = problems_of(refused, lambda details: _problem(details, kind, data, place.source, root))
        problems.sort(key=lambda problem: (problem.position.line, problem.position.column))
        raise UsageError("\n".join(str(replace(problem, code=_CODE)) for problem in problems)) from None
    return value


def _problem(details: ErrorDetails, model: Any, data: Object, source: Source, root: str) -> Problem:
    if problem := custom_problem(details, data, source, _CODE):
        return problem
    path, kind = details["loc"], details["type"]
    place = ErrorPlace(data, path)
    if kind == "missing":
        return source.problem("missing", f"{_subject(place, root)} has no {path[-1]!r}", place.position)
    if kind == "extra_forbidden":
        known = fields_at(model, path[:-1])
        message = f"{path[-1]!r} is not a field of {_subject(ErrorPlace(data, path[:-1]), root)}"
        hint = did_you_mean(str(path[-1]), known) or f"there are {', '.join(known)}"
        return source.problem(_CODE, message, place.key_position, hint)
    subject = _subject(place, root)
    if kind == "null":
        return source.problem(_CODE, f"{subject} has no value: write one, or leave out the key", place.position)
    if kind == "too_short":
        return source.problem(_CODE, f"{subject} must list at least one entry", place.position)
    return problem_of(details, place, subject, source)


def _subject(place: ErrorPlace, root: str) -> str:
    keys = [step for step, _ in place.steps if isinstance(step, str)]
    if not keys:
        return root
    return repr(keys[-1]) if isinstance(place.steps[-1][0], str) else f"an entry of {keys[-1]!r}"


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if is_folder(path):
            yield from (file for file in documents_in(path, _ENDINGS) if _CLAIM.search(_text(file)))
        else:
            yield path


def _text(path: Path) -> str:
    try:
        return read_text(path)
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {why_unreadable(error)}") from None


def _documents(text: str) -> Iterator[str]:
    """Yield the documents of a YAML text, each after as many empty lines as there are lines before it."""
    begun = 0
    lines = text.splitlines()
    for number, line in enumerate([*lines, "---"]):
        if not _SEPARATOR.fullmatch(line.rstrip()):
            continue
        if any(one.strip() and not one.lstrip().startswith("#") for one in lines[begun:number]):
            yield "\n" * begun + "\n".join(lines[begun:number])
        begun = number + 1
