"""The definitions of a scenario, and the comparison of their problems with those that it expects."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from swf_temporal.base.calendars.previewing import preview
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import InvalidDefinition, Problem, Severity, UsageError
from swf_temporal.languages.loading import check_file, check_in_mode, check_part, conflicting
from swf_temporal.languages.port import Checked, Definition
from swf_temporal.simulation.model.expectations import ExpectedProblem
from swf_temporal.simulation.model.scenario import InlineDefinition, Scenario
from swf_temporal.text.fetching.resources import ReadingMode, in_mode


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
