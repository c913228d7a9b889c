"""Comparing what happened with what was expected."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import UsageError
from swf_temporal.runtime.host import TraceEntry, TraceKind
from swf_temporal.simulation.model.expectations import ExpectedStarts
from swf_temporal.simulation.model.part import ScenarioFile
from swf_temporal.simulation.scenario import Expected, ObservedRun, Scenario, canonical, check
from swf_temporal.text.origin import Source
from swf_temporal.text.parsing import read_source

NOW = datetime(2024, 1, 1, tzinfo=UTC)
CET = timezone(timedelta(hours=1))
SOURCE = Source(
    """\
id: w
specVersion: "0.8"
functions: [{name: f, type: custom}]
states: [{name: S, type: operation, actions: [{functionRef: f}], end: true}]
""",
    "f.yaml",
)
STARTS_DIFFER = "starts: the expected value (-) and the actual one (+) differ"


def _check(expected: Expected, **seen: Any) -> list[str]:
    written = {"scenario": "claim", "workflow": read_source(SOURCE)[0], "expect": expected}
    scenario = Scenario.model_validate(written, context=ScenarioFile(Path("f.yaml"), SOURCE))
    return check(scenario, ObservedRun(**{"status": expected.status, **seen}))


def _entry(kind: TraceKind, lane: str, name: str, seconds: int = 0, **detail: Any) -> TraceEntry:
    return TraceEntry(kind, lane, lane, name, NOW + timedelta(seconds=seconds), detail)


def test_finds_nothing_where_all_is_as_expected() -> None:
    assert _check(Expected(), output={"any": 1}, calls=[("f", None)]) == []


@pytest.mark.parametrize(("expected", "seen", "difference"), [
    (Expected(output={"a": 1}), {"output": {"a": 2}}, 'output: expected {"a": 1}, but it is {"a": 2}'),
    (Expected(output=None), {"output": {}}, "output: expected null, but it is {}"),
    (Expected(calls={"f": 2}), {"calls": [("f", 1)]}, "calls of f: expected 2, but there were 1"),
    (Expected(calls={"f": (1,)}), {"calls": [("f", 2)]}, "calls of f: expected [1], but it is [2]"),
    (Expected(delays={"f": (timedelta(seconds=10),)}),
     {"delays": [("f", timedelta(seconds=10.5)), ("g", timedelta(seconds=10))]},
     "delays of f: expected 0:00:10, but they are 0:00:10.500000"),
    (Expected(delays={"f": ()}), {"delays": [("f", timedelta(0)), ("f", timedelta(minutes=1))]},
     "delays of f: expected none, but they are 0:00:00, 0:01:00"),
    (Expected(delays={"f": (timedelta(0),)}), {}, "delays of f: expected 0:00:00, but no delays were found"),
    (Expected(starts=ExpectedStarts(at=(NOW.replace(tzinfo=CET),), after=NOW - timedelta(days=1))),
     {"starts": [NOW]}, f"{STARTS_DIFFER}\n    - 2024-01-01T00:00:00+01:00\n    + 2024-01-01T00:00:00Z"),
    (Expected(starts=ExpectedStarts(at=(), after=NOW, before=NOW + timedelta(days=1))),
     {"starts": UsageError("it has no schedule", "write one")}, "starts: it has no schedule\n  write one"),
    (Expected(states=("A",)), {}, 'states: expected ["A"], but it is []'),
    (Expected(logs=("a",)), {}, 'logs: expected ["a"], but it is []'),
    (Expected(started=({},)), {}, "started: expected [{}], but it is []"),
    (Expected(produced=()), {"produced": [{"type": "t"}]}, "produced: expected no events, but there were 1: t"),
    (Expected(produced=({"type": "t"},)), {"produced": [{"type": "u"}]},
     'produced[0].type: expected "t", but it is "u"'),
    (Expected(elapsed=timedelta(hours=1)), {"elapsed": timedelta(hours=2)},
     "elapsed: expected 1:00:00, but it took 2:00:00"),
    (Expected(status="failed", error={"code": "1"}), {"error": {"code": "2"}},
     "error.code: expected '1', but it is '2'"),
    (Expected(status="failed", error={"message": "b"}), {"error": {"message": "a"}},
     "error.message: expected one that contains 'b', but it is 'a'"),
    (Expected(), {"status": "failed", "error": {"name": "TimedOut", "state": "A", "message": "late"}},
     "status: expected completed, but the run failed with TimedOut in state 'A': late"),
    (Expected(), {"status": "waiting"}, "status: expected completed, but the run waits for an event"),
])  # fmt: skip
def test_tells_a_difference(expected: Expected, seen: dict[str, Any], difference: str) -> None:
    assert _check(expected, **seen) == [difference]


def test_shows_large_differences_line_by_line() -> None:
    expected: JSON = {"customer": {"name": "John", "address": "1234 street", "city": "somewhere else"}}
    actual = {"customer": {"name": "Jane", "address": "1234 street", "city": "somewhere else"}}
    (difference,) = _check(Expected(output=expected), output=actual)
    lines = difference.splitlines()
    assert [line.strip() for line in lines if line.strip()[0] in "+-"] == [
        '-     "name": "John"',
        '+     "name": "Jane"',
    ]


def test_does_not_compare_time_where_it_is_not_virtual() -> None:
    assert _check(Expected(elapsed=timedelta(hours=1)), elapsed=None) == []


def test_compares_starts_as_instants() -> None:
    there = NOW.astimezone(CET)
    assert _check(Expected(starts=ExpectedStarts(at=(there,), after=NOW - timedelta(days=1))), starts=[NOW]) == []


def test_compares_delays_to_the_millisecond() -> None:
    expected = Expected(delays={"f": (timedelta(0), timedelta(seconds=1))})
    seen = [("f", timedelta(milliseconds=1)), ("f", timedelta(seconds=0.9995))]
    assert _check(expected, delays=seen) == []


def test_canonical_traces_do_not_depend_on_interleaving() -> None:
    """Lanes that run side by side may take turns in any way; times and retries do not count either."""
    a = [_entry(TraceKind.ACTION_STARTED, "A", "x", 1), _entry(TraceKind.ACTION_COMPLETED, "A", "x", 2)]
    b = [_entry(TraceKind.ACTION_STARTED, "B", "y", 5)]
    retried = _entry(TraceKind.ACTION_RETRIED, "B", "y", 6)
    assert canonical([*a, *b]) == canonical([a[0], *b, retried, a[1]])
    assert canonical([*a, *b]) != canonical([a[1], a[0], *b])


def test_canonical_traces_hold_no_ids_of_events() -> None:
    event = {"specversion": "1.0", "id": "1", "time": "now", "type": "t", "data": {"id": 7}}
    (told,) = canonical([_entry(TraceKind.ACTION_COMPLETED, "A", "x", result=event)])["A"]
    assert told[3] == {"result": {"specversion": "1.0", "type": "t", "data": {"id": 7}}}
