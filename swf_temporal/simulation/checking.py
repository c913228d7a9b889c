"""Compares a run with the expectations of its scenario, and the runs of two hosts."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from difflib import ndiff
from typing import Any, Final, TypeAlias

from swf_temporal.base.data import JSON, identity
from swf_temporal.base.errors import UsageError
from swf_temporal.base.grammar import counted
from swf_temporal.base.strict_json import show_json
from swf_temporal.runtime.host import TraceEntry, TraceKind
from swf_temporal.simulation.model.expectations import Expected, ExpectedRequest, ExpectedRequests
from swf_temporal.simulation.model.scenario import Scenario
from swf_temporal.simulation.reading import check_reading, started_by_events, workflows_of
from swf_temporal.simulation.result import ObservedRun

_SHORT = 60

_Request: TypeAlias = Mapping[str, JSON]


def unequal(what: str, expected: JSON, actual: JSON) -> list[str]:
    """Return the difference between *actual* and *expected*, named *what*; empty if they are equal as JSON."""
    if identity(expected) == identity(actual):
        return []
    short = _written(expected), _written(actual)
    if max(map(len, short)) <= _SHORT:
        return [f"{what}: expected {short[0]}, but it is {short[1]}"]
    return [line_by_line(what, _lines(expected), _lines(actual))]


def line_by_line(what: str, expected: list[str], actual: list[str]) -> str:
    """Return the differences between the lines *expected* and *actual*."""
    changes = [line.rstrip() for line in ndiff(expected, actual) if not line.startswith("?")]
    return "\n    ".join([f"{what}: the expected value (-) and the actual one (+) differ", *changes])


def request_differences(expected: ExpectedRequests, actual: Sequence[_Request]) -> list[str]:
    """Return the differences between *actual* requests and those *expected*: all in order, or by kind."""
    if not isinstance(expected, Mapping):
        return _in_order("requests", expected, actual)
    found = []
    for asked, wanted in expected.items():
        came = [one for one in actual if asked in {one["request"], _without_query(one)}]
        if not isinstance(wanted, int):
            found += _in_order(f"requests {asked}", wanted, came)
        elif wanted != len(came):
            found.append(f"requests {asked}: expected {wanted}, but there were {len(came)}")
    return found


def _lines(value: JSON) -> list[str]:
    return show_json(value, indent=2, sort_keys=True).splitlines()


def _written(value: JSON) -> str:
    return show_json(value, sort_keys=True)


def _in_order(what: str, expected: Sequence[ExpectedRequest], actual: Sequence[_Request]) -> list[str]:
    if len(expected) != len(actual):
        asked = ", ".join(str(one["request"]) for one in actual) or "none"
        return [f"{what}: expected {len(expected)}, but there were {len(actual)}: {asked}"]
    pairs = enumerate(zip(expected, actual, strict=True))
    return [text for index, (wanted, came) in pairs for text in _apart(f"{what}[{index}]", wanted, came)]


def _apart(what: str, wanted: ExpectedRequest, came: _Request) -> Iterable[str]:
    for key, value in wanted.given.items():
        if key == "request" and "query" in wanted.given:
            yield from unequal(f"{what}.request", value, _without_query(came))
        elif key == "headers" and isinstance(value, dict):
            yield from _headers(f"{what}.headers", value, came["headers"])
        else:
            yield from unequal(f"{what}.{key}", value, came[key])


def _headers(what: str, expected: Mapping[str, JSON], actual: JSON) -> Iterable[str]:
    sent = actual if isinstance(actual, dict) else {}
    for name, value in expected.items():
        yield from unequal(f"{what}.{name}", value, sent.get(name.lower()))


def _without_query(request: _Request) -> str:
    return str(request["request"]).partition("?")[0]


_TICK = timedelta(milliseconds=1)
"""Delays that differ by no more count as equal: it is Temporal's shortest pause, which even a delay of 0 takes."""
_OWN_TO_A_RUN = ("id", "time")


def check(scenario: Scenario, observed: ObservedRun) -> list[str]:
    """Return the differences between *observed* and the expectations of *scenario*, one text each."""
    expect = scenario.expect
    found = check_reading(scenario) + _unknown(scenario)
    if observed.status != expect.status:
        found.append(f"status: expected {expect.status}, but the run {_status(observed)}")
    if expect.says_output and observed.status == "completed":
        found += unequal("output", expect.output, observed.output)
    if expect.error.given:
        found += _error(expect.error.given, observed.error)
    if expect.produced is not None:
        found += _produced(expect.produced, observed.produced)
    found += _of_functions(expect, observed)
    found += [f"services: {missing}" for missing in observed.unanswered]
    if expect.requests is not None:
        found += request_differences(expect.requests, observed.requests)
    found += _of_states(expect, observed)
    if None not in (expect.elapsed, observed.elapsed) and expect.elapsed != observed.elapsed:
        found.append(f"elapsed: expected {expect.elapsed}, but it took {observed.elapsed}")
    if expect.starts is not None:
        found += _starts(expect.starts.at, observed.starts)
    if expect.started is not None:
        found += unequal("started", list(expect.started), started_by_events(scenario))
    return found


def canonical(trace: Iterable[TraceEntry]) -> dict[str, list[list[Any]]]:
    """Return *trace* in the form in which the traces of two hosts are compared.

    Entries are grouped by lane, since only those of one lane are in the same order on every host. Times and ids are
    left out, and so are retries, which some hosts make where they cannot be traced.
    """
    lanes: dict[str, list[list[Any]]] = {}
    for entry in trace:
        if entry.kind is not TraceKind.ACTION_RETRIED:
            facts = [str(entry.kind), entry.state, entry.name, _anonymous(_compared_details(entry))]
            lanes.setdefault(entry.lane, []).append(facts)
    return dict(sorted(lanes.items()))


_NOT_COMPARED: Final = {
    TraceKind.EVENT_TAKEN: "id", TraceKind.EVENT_PRODUCED: "id", TraceKind.EVENT_AWAITED: "until",
}  # fmt: skip


def _compared_details(entry: TraceEntry) -> dict[str, JSON]:
    """Return the details of *entry*, without the id of an event and the deadline of a wait."""
    left_out = _NOT_COMPARED.get(entry.kind)
    return {key: value for key, value in entry.detail.items() if key != left_out}


def _unknown(scenario: Scenario) -> list[str]:
    """Return the functions in the scenario that do not exist: claims about them would hold for any run."""
    named = dict.fromkeys([*scenario.functions, *scenario.expect.calls, *scenario.expect.delays])
    if not named:
        return []
    known = {use.function.name for workflow in workflows_of(scenario) for use in workflow.functions}
    return [f"functions: no definition has a function {name!r}" for name in named if name not in known]


def _anonymous(value: JSON) -> JSON:
    if isinstance(value, list):
        return [_anonymous(item) for item in value]
    if not isinstance(value, dict):
        return value
    dropped = _OWN_TO_A_RUN if "specversion" in value else ()
    return {key: _anonymous(item) for key, item in value.items() if key not in dropped}


def _status(observed: ObservedRun) -> str:
    if observed.status == "failed" and observed.error:
        where = f" in state {observed.error['state']!r}" if observed.error.get("state") else ""
        return f"failed with {observed.error.get('name')}{where}: {observed.error.get('message')}"
    return {"waiting": "waits for an event", "cancelled": "was cancelled"}.get(observed.status, observed.status)


def _error(expected: Mapping[str, JSON], actual: Mapping[str, JSON] | None) -> list[str]:
    if actual is None:
        return [f"error: expected {dict(expected)}, but there was none"]
    found = []
    for key, value in expected.items():
        given = actual.get(key)
        if key == "message":
            if str(value) not in str(given):
                found.append(f"error.message: expected one that contains {value!r}, but it is {given!r}")
        elif str(given) != str(value):
            found.append(f"error.{key}: expected {value!r}, but it is {given!r}")
    return found


def _produced(expected: Sequence[Mapping[str, JSON]], actual: Sequence[Mapping[str, JSON]]) -> list[str]:
    if len(expected) != len(actual):
        types = ", ".join(str(event.get("type")) for event in actual) or "none"
        return [f"produced: expected {counted(len(expected), 'event')}, but there were {len(actual)}: {types}"]
    found = []
    for index, (wanted, event) in enumerate(zip(expected, actual, strict=True)):
        for key, value in wanted.items():
            found += unequal(f"produced[{index}].{key}", value, event.get(key))
    return found


def _of_states(expect: Expected, observed: ObservedRun) -> list[str]:
    found = []
    if expect.states is not None:
        found += unequal("states", list(expect.states), list(observed.states))
    if expect.logs is not None:
        found += unequal("logs", list(expect.logs), list(observed.logs))
    for name, answer in expect.answers.items():
        if name not in observed.answers:
            found.append(f"answers: expected one to {name!r}, but there was none")
        else:
            found += unequal(f"answers.{name}", answer, observed.answers[name])
    if "metadata" in expect.given:
        found += unequal("metadata", expect.metadata, observed.metadata)
    return found


def _of_functions(expect: Expected, observed: ObservedRun) -> list[str]:
    found = []
    for name, calls in expect.calls.items():
        found += _calls(name, calls, [arguments for called, arguments in observed.calls if called == name])
    for name, delays in expect.delays.items():
        found += _delays(name, delays, [delay for called, delay in observed.delays if called == name])
    return found


def _calls(name: str, expected: int | tuple[JSON, ...], actual: list[JSON]) -> list[str]:
    if not isinstance(expected, int):
        return unequal(f"calls of {name}", list(expected), actual)
    if len(actual) == expected:
        return []
    return [f"calls of {name}: expected {expected}, but there were {len(actual)}"]


def _delays(name: str, expected: Sequence[timedelta], actual: Sequence[timedelta]) -> list[str]:
    if len(expected) == len(actual) and all(
        abs(one - other) <= _TICK for one, other in zip(expected, actual, strict=True)
    ):
        return []
    there = f"they are {_listed(actual)}" if actual else "no delays were found"
    return [f"delays of {name}: expected {_listed(expected)}, but {there}"]


def _listed(delays: Sequence[timedelta]) -> str:
    return ", ".join(map(str, delays)) or "none"


def _starts(expected: Sequence[datetime], actual: Sequence[datetime] | UsageError) -> list[str]:
    if isinstance(actual, UsageError):
        return [f"starts: {actual}"]
    # Equal times are written in the same way, whatever their offsets from UTC.
    written = {one: one.isoformat().replace("+00:00", "Z") for one in (*actual, *expected)}
    wanted, got = ([written[one] for one in times] for times in (expected, actual))
    return [] if wanted == got else [line_by_line("starts", wanted, got)]
