"""What of a definition was done, on its picture and as a timeline."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from swf_temporal import CallFailed, load, simulate
from swf_temporal.drawing.course import Course, clock, course_of, coverage_of, lasted
from swf_temporal.drawing.model import Addresses, EntryId, width_of
from swf_temporal.drawing.svg import svg_of
from swf_temporal.drawing.timeline import MAX_SPANS, Attempted, Timeline, timeline_of
from swf_temporal.runtime.host import TraceEntry, TraceKind

WORK = {"actions": [{"functionRef": "work"}]}


def _definition(*states: dict[str, Any]) -> Any:
    return load({
        "id": "drawn",
        "specVersion": "0.8",
        "functions": [{"name": "work", "type": "custom"}, {"name": "bad", "type": "custom"}],
        "retries": [{"name": "twice", "maxAttempts": 3, "delay": "PT1S"}],
        "errors": [{"name": "refused", "code": "NO"}],
        "events": [{"name": name, "type": name, "source": "shop"} for name in ("Paid", "Sent")],
        "states": list(states),
    })  # fmt: skip


def _course(*states: dict[str, Any]) -> Course:
    def bad(_: object) -> object:
        raise CallFailed(code="NO", message="not today")

    definition = _definition(*states)
    run = simulate(definition, functions={"work": 1, "bad": bad})
    course = course_of(definition.outline, run.trace)
    ET.fromstring(svg_of(definition.picture(course)))  # noqa: S314 - our own
    return course


def test_what_was_done_and_was_not() -> None:
    """States that were left are done, with the ways taken; what was not reached is in no course."""
    course = _course(
        {"name": "Which", "type": "switch", "dataConditions": [{"condition": "${ false }", "transition": "Other"}],
         "defaultCondition": {"transition": "Both"}},
        {"name": "Both", "type": "parallel", "branches": [{"name": "a", **WORK}, {"name": "b", **WORK}], "end": True},
        {"name": "Other", "type": "inject", "data": {}, "end": True},
    )  # fmt: skip
    assert {path: one.status for path, one in course.parts.items()} == dict.fromkeys(
        ["Which", "Both", "Both/a", "Both/b"], "done"
    )
    assert (course.taken, course.status) == ({("Which", 1): 1, ("Both", 0): 1}, "done")


def test_waiting_says_for_what_and_until_when() -> None:
    course = _course(
        {"name": "Nap", "type": "sleep", "duration": "PT1H", "transition": "Ask"},
        {"name": "Ask", "type": "callback", "action": {"functionRef": "work"}, "eventRef": "Paid", "end": True},
    )
    assert (course.status, course.parts["Ask"].status, course.parts["Ask"].awaits) == ("waiting", "waiting", "Paid")
    nap = course.parts["Nap"]
    assert nap.ended is not None
    assert nap.ended - nap.began == timedelta(hours=1)


@pytest.mark.parametrize(("state", "hours"), [
    ({"type": "event", "onEvents": [{"eventRefs": ["Paid"]}]}, None),
    ({"type": "event", "onEvents": [{"eventRefs": ["Paid", "Sent"]}], "exclusive": False}, None),
    ({"type": "callback", "action": {"functionRef": "work"}, "eventRef": "Paid"}, 2),
], ids=["the event that starts", "the first of several", "of a callback"])  # fmt: skip
def test_a_deadline_is_shown_that_exists(state: dict[str, Any], hours: int | None) -> None:
    """An event state in which the workflow starts waits without a limit for its first event."""
    definition = _definition({"name": "Ask", **state, "timeouts": {"eventTimeout": "PT2H"}, "end": True})
    trace = simulate(definition, functions={"work": 1}).trace
    waits = next(number for number, entry in enumerate(trace, 1) if entry.kind is TraceKind.EVENT_AWAITED)
    asked = course_of(definition.outline, trace[:waits]).parts["Ask"]
    assert asked.status == "waiting"
    assert asked.until == (None if hours is None else asked.began + timedelta(hours=hours))


def test_failures_retries_and_handlers() -> None:
    bad = {"name": "Try", "type": "operation", "actions": [{"functionRef": "bad", "retryRef": "twice"}]}
    caught = _course(
        {**bad, "onErrors": [{"errorRef": "refused", "transition": "Sorry"}], "end": True},
        {"name": "Sorry", "type": "inject", "data": {}, "end": True},
    )
    assert (caught.parts["Try"].status, caught.parts["Try"].retried) == ("done", 2)
    assert "not today" in caught.parts["Try"].error
    handler = next(
        number for number, way in enumerate(_definition({**bad, "onErrors": [{"errorRef": "refused", "end": True}],
                                                         "end": True}).outline.parts[0].ways) if way.on == "error"
    )  # fmt: skip
    assert caught.taken == {("Try", handler): 1, ("Sorry", 0): 1}
    failed = _course({**bad, "end": True})
    assert (failed.status, failed.parts["Try"].status) == ("failed", "failed")
    assert "not today" in failed.words


def test_attempts_in_a_branch() -> None:
    """What is tried again in a branch is told of the branch, which the trace does not name, and in the timeline."""
    branches = [{"name": "a", **WORK}, {"name": "b", "actions": [{"functionRef": "bad", "retryRef": "twice"}]}]
    both = {"name": "Both", "type": "parallel", "branches": branches, "end": True}
    course = _course(both)
    assert [course.parts[path].retried for path in ("Both", "Both/a", "Both/b")] == [0, 0, 2]

    def bad(_: object) -> object:
        raise CallFailed(code="NO")

    drawn = timeline_of(simulate(_definition(both), functions={"work": 1, "bad": bad}).trace, "both")
    assert drawn is not None
    assert {row.span.name: len(row.span.retried) for row in drawn.rows} == {"Both": 0, "a › work": 0, "b › bad": 2}


def test_iterations_and_skipped_actions() -> None:
    action = {"functionRef": "work", "condition": "${ .one != 2 }"}
    course = _course({"name": "Each", "type": "foreach", "inputCollection": "${ [1, 2, 3] }", "iterationParam": "one",
                      "actions": [action], "end": True})  # fmt: skip
    each = course.parts["Each"]
    assert (len(each.iterations), each.skipped, each.entered) == (3, 1, 1)


def test_cycles_are_counted() -> None:
    course = _course(
        {"name": "Count", "type": "inject", "data": {"n": [1]}, "transition": "More"},
        {"name": "More", "type": "operation", **WORK, "stateDataFilter": {"output": "${ .n += [1] }"},
         "transition": "Enough"},
        {"name": "Enough", "type": "switch", "defaultCondition": {"end": True},
         "dataConditions": [{"condition": "${ (.n | length) < 4 }", "transition": "More"}]},
    )  # fmt: skip
    assert course.parts["More"].entered == 3
    assert course.taken == {("Count", 0): 1, ("More", 0): 3, ("Enough", 0): 2, ("Enough", 1): 1}


def test_what_was_undone() -> None:
    course = _course(
        {"name": "Book", "type": "operation", **WORK, "compensatedBy": "Cancel", "transition": "Give up"},
        {"name": "Cancel", "type": "operation", "usedForCompensation": True, **WORK},
        {"name": "Give up", "type": "inject", "data": {}, "end": {"compensate": True}},
    )
    assert {path: one.status for path, one in course.parts.items()} == {
        "Book": "undone", "Give up": "done", "Cancel": "done",
    }  # fmt: skip
    assert course.taken == {("Book", 0): 1, ("Book", 1): 1, ("Give up", 0): 1}


def test_what_was_ended_from_outside() -> None:
    definition = _definition({"name": "Nap", "type": "sleep", "duration": "PT1H", "end": True})
    trace = simulate(definition, cancel_after=timedelta(minutes=1)).trace
    course = course_of(definition.outline, trace, "stopped")
    assert (course.status, course.parts["Nap"].status) == ("stopped", "stopped")


def test_a_wait_into_another_day_says_which() -> None:
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert clock(noon + timedelta(hours=1), noon) == "13:00:00"
    assert clock(noon + timedelta(days=2), noon) == "2026-03-03 12:00:00"


@pytest.mark.parametrize(
    ("length", "words"),
    [(timedelta(), "0 ms"), (timedelta(milliseconds=320), "320 ms"), (timedelta(seconds=61), "1 min 1 s"),
     (timedelta(hours=25), "1 d 1 h"), (timedelta(days=2), "2 d"), (timedelta(seconds=59.7), "1 min")],
)  # fmt: skip
def test_lengths(length: timedelta, words: str) -> None:
    assert lasted(length) == words


def test_ways_between_tasks_in_lists() -> None:
    """A way is taken within an iteration, also in a language whose paths have the numbers of the tasks."""
    definition = load({
        "document": {"dsl": "1.0.3", "namespace": "test", "name": "drawn", "version": "1.0.0"},
        "do": [
            {"each": {"for": {"in": "[1, 2]"}, "do": [{"first": {"set": {"a": 1}}}, {"second": {"set": {"b": 1}}}]}},
            {"both": {"fork": {"branches": [{"left": {"set": {"l": 1}}}, {"right": {"set": {"r": 1}}}]}}},
        ],
    })  # fmt: skip
    course = course_of(definition.outline, simulate(definition).trace)
    taken = {path: times for (path, _), times in course.taken.items() if times}
    assert taken == {"/do/0/each": 1, "/do/0/each/do/0/first": 2, "/do/0/each/do/1/second": 2, "/do/1/both": 1}


def test_the_end_of_a_workflow_within_a_list_is_not_that_of_the_list() -> None:
    inner = [{"first": {"set": {}, "then": "end"}}, {"second": {"set": {}, "then": "exit"}}]
    definition = load({
        "document": {"dsl": "1.0.3", "namespace": "test", "name": "drawn", "version": "1.0.0"},
        "do": [{"inner": {"if": ".never", "do": inner}}, {"last": {"set": {}, "then": "end"}}],
    })  # fmt: skip
    ends = {part.name: way.end for part in definition.outline.every_part for way in part.ways if way.to is None}
    assert ends == {"first": "the end of all paths", "second": "end", "last": "end"}


def test_functions_extensions_and_handlers() -> None:
    """What a function, an extension or a handler does belongs to its own part, from wherever it is run."""
    definition = load({
        "document": {"dsl": "1.0.3", "namespace": "test", "name": "drawn", "version": "1.0.0"},
        "use": {
            "functions": {
                "check": {"do": [{"first": {"set": {"n": 1}}}, {"second": {"set": {"n": 2}}}]},
                "spare": {"set": {}},
            },
            "extensions": [{"log": {"extend": "raise", "before": [{"note": {"set": {}}}]}}],
        },
        "do": [
            {"once": {"call": "check"}},
            {"again": {"call": "check"}},
            {"safe": {"try": [{"fail": {"raise": {"error": {"type": "x", "status": 400}}}}],
                      "catch": {"do": [{"handle": {"set": {}}}]}}},
        ],
    })  # fmt: skip
    found = course_of(definition.outline, simulate(definition).trace)
    check, log = "/use/functions/check", "/use/extensions/0/log/before"
    reached = {path: (one.status, one.entered, len(one.iterations)) for path, one in found.parts.items()}
    assert reached == {
        "/do/0/once": ("done", 1, 0), "/do/1/again": ("done", 1, 0),
        check: ("done", 2, 0), f"{check}/do/0/first": ("done", 2, 0), f"{check}/do/1/second": ("done", 2, 0),
        "/do/2/safe": ("done", 1, 0), "/do/2/safe/try/0/fail": ("failed", 1, 0),
        log: ("done", 0, 0), f"{log}/0/note": ("done", 1, 0),
        "/do/2/safe/catch": ("done", 0, 0), "/do/2/safe/catch/do/0/handle": ("done", 1, 0),
    }  # fmt: skip
    coverage = coverage_of(definition.outline, [found])
    assert (coverage.unreached, coverage.untaken) == (["/use/functions/spare"], [])
    inside = definition.outline.part_of(f"{check}/do/0/first", "/do/0/once/check/do/0/first")
    assert inside is not None
    assert inside.path == f"{check}/do/0/first"


@pytest.mark.parametrize("each", [
    {"try": [{"work": {"call": "bad"}}], "catch": {"do": [{"handle": {"wait": "PT1H"}}]}},
    {"for": {"in": "[1, 2]"}, "do": [
        {"safe": {"try": [{"work": {"call": "bad"}}], "catch": {"do": [{"handle": {"wait": "PT1H"}}]}}}]},
    {"try": [{"both": {"fork": {"branches": [{"work": {"call": "bad"}}, {"long": {"wait": "PT2H"}}]}}}],
     "catch": {"do": [{"handle": {"wait": "PT1H"}}]}},
], ids=["a try task", "in an iteration", "beside another branch"])  # fmt: skip
def test_what_failed_in_a_function_has_ended_when_the_error_is_handled(each: dict[str, Any]) -> None:
    definition = load({
        "document": {"dsl": "1.0.3", "namespace": "test", "name": "drawn", "version": "1.0.0"},
        "use": {"functions": {"bad": {"do": [{"fail": {"raise": {"error": {"type": "x", "status": 400}}}}]}}},
        "do": [{"begin": each}],
    })  # fmt: skip
    trace = simulate(definition).trace
    sleeps = next(number for number, one in enumerate(trace, 1) if one.state.endswith("/handle") and one.detail)
    parts = course_of(definition.outline, trace[:sleeps]).parts
    running = [path for path, one in parts.items() if one.ended is None]
    assert all(path.startswith("/do/0/begin") and "/try/" not in path for path in running), running
    assert running
    assert {one.status for path, one in parts.items() if path.startswith("/use/")} == {"failed"}


def test_an_extension_has_ended_while_the_task_that_it_extends_goes_on() -> None:
    definition = load({
        "document": {"dsl": "1.0.3", "namespace": "test", "name": "drawn", "version": "1.0.0"},
        "use": {"extensions": [{"log": {"extend": "wait", "before": [{"one": {"set": {}}}, {"two": {"set": {}}}]}}]},
        "do": [{"long": {"wait": "PT1H"}}],
    })  # fmt: skip
    trace, log = simulate(definition).trace, "/use/extensions/0/log/before"
    seen = [course_of(definition.outline, trace[:number]).parts for number in range(1, len(trace))]
    noted = [(parts[log].status, parts["/do/0/long"].status) for parts in seen if log in parts]
    assert noted[0] == ("running", "running")
    assert ("done", "waiting") in noted
    two = next(parts for parts in seen if f"{log}/1/two" in parts)
    assert two[log].status == "running"


DEFINITION = {
    "id": "drawn",
    "specVersion": "0.8",
    "functions": [{"name": "work", "type": "custom"}, {"name": "bad", "type": "custom"}],
    "retries": [{"name": "twice", "maxAttempts": 2, "delay": "PT1S"}],
    "events": [{"name": "Paid", "type": "paid", "source": "shop"}],
    "states": [
        {"name": "Each", "type": "foreach", "inputCollection": "${ .n }", "iterationParam": "one", "mode": "sequential",
         "actions": [{"functionRef": "work"}], "transition": "Nap"},
        {"name": "Nap", "type": "sleep", "duration": "PT10S", "transition": "Wait"},
        {"name": "Wait", "type": "event", "onEvents": [{"eventRefs": ["Paid"]}], "transition": "Fail"},
        {"name": "Fail", "type": "operation", "actions": [{"functionRef": "bad", "retryRef": "twice"}], "end": True},
    ],
}  # fmt: skip


def _drawn(count: int = 2) -> Timeline:
    def bad(_: object) -> object:
        raise CallFailed(code="NO", message="not today")

    events = [{"type": "paid", "source": "shop"}]
    run = simulate(load(DEFINITION), {"n": list(range(count))}, functions={"work": 1, "bad": bad}, events=events)
    found = timeline_of(run.trace, "drawn")
    assert found is not None
    return found


def test_rows() -> None:
    """States have what they do below them; iterations are named, attempts counted, lengths known."""
    drawn = _drawn()
    told = [
        (row.depth, row.span.name, row.span.kind, row.span.status, (row.span.ended or drawn.ended) - row.span.began)
        for row in drawn.rows
    ]
    nothing, nap, second = timedelta(), timedelta(seconds=10), timedelta(seconds=1)
    assert told == [
        (0, "Each", "state", "done", nothing),
        (1, "[0] › work", "call", "done", nothing),
        (1, "[1] › work", "call", "done", nothing),
        (0, "Nap", "state", "done", nap),
        (1, "waits", "wait", "done", nap),
        (0, "Wait", "state", "done", nothing),
        (1, "waits for Paid", "wait", "done", nothing),
        (0, "Fail", "state", "failed", second),
        (1, "bad", "call", "failed", second),
    ]
    last = drawn.rows[-1].span
    assert (len(last.retried), last.words) == (1, "failed, 2 attempts, CallFailed: not today")
    assert svg_of(drawn).count('class="attempt"') == 1


def test_long_ones_are_cut() -> None:
    drawn = _drawn(MAX_SPANS + 10)
    assert (len(drawn.rows), drawn.left_out) == (MAX_SPANS, 17)
    assert "17 more are not shown" in svg_of(drawn)


def test_long_texts_over_it_are_wrapped() -> None:
    run = simulate(
        load({"id": "a", "specVersion": "0.8", "states": [{"name": "A", "type": "inject", "data": {}, "end": True}]})
    )
    drawn = timeline_of(run.trace, "drawn", "failed because of this " * 20)
    assert drawn is not None
    assert len(drawn.subtitles) > 1
    assert all(width_of(one, 11.5) <= 900 for one in drawn.subtitles)


def test_nothing_has_begun() -> None:
    assert timeline_of([], "drawn") is None


ATTEMPTS = {
    "document": {"dsl": "1.0.3", "namespace": "test", "name": "drawn", "version": "1.0.0"},
    "do": [
        {"attempts": {
            "try": [{"work": {"call": "http", "with": {"method": "get", "endpoint": "http://test"}}}],
            "catch": {
                "retry": {"delay": {"seconds": 5}, "limit": {"attempt": {"count": 1}}},
                "do": [{"giveUp": {"set": {}}}],
            },
        }},
        {"race": {"fork": {"compete": True, "branches": [
            {"quick": {"wait": {"seconds": 1}}}, {"slow": {"wait": {"hours": 1}}}]}}},
    ],
}  # fmt: skip


def test_what_was_not_left_ends_with_what_it_is_in() -> None:
    """A failed attempt ends when the next one is decided on, a branch that was too slow with its fork."""

    def busy(_: object) -> object:
        raise CallFailed(code=503, status=503, message="busy")

    drawn = timeline_of(simulate(load(ATTEMPTS), functions={"work": busy}).trace, "drawn")
    assert drawn is not None
    told = [(row.span.name, row.span.status, row.span.ended) for row in drawn.rows if row.span.kind == "state"]
    begun, later = drawn.began, drawn.began + timedelta(seconds=5)
    assert told == [
        ("attempts", "done", later),
        ("work", "failed", begun),
        ("work", "failed", later),
        ("giveUp", "done", later),
        ("race", "done", drawn.ended),
        ("quick", "done", drawn.ended),
        ("slow", "stopped", drawn.ended),
    ]


BEGAN = datetime(2030, 3, 31, 23, 50, tzinfo=UTC)
WAITING = [
    TraceEntry(TraceKind.STATE_ENTERED, "Ask", "Ask", "Ask", BEGAN),
    TraceEntry(TraceKind.EVENT_AWAITED, "Ask", "Ask", "Answer", BEGAN),
]


def _scale(length: timedelta) -> list[str]:
    found = timeline_of(WAITING, "drawn", now=BEGAN + length)
    assert found is not None
    return re.findall(r'text-anchor="middle"[^>]*>([^<]*)<', svg_of(found))


def test_what_waits_reaches_the_present() -> None:
    """It has taken the time until now; what has ended does not go on."""
    found = timeline_of(WAITING, "drawn", now=BEGAN + timedelta(minutes=9))
    assert found is not None
    assert found.ended == BEGAN + timedelta(minutes=9)
    assert "9 min…" in svg_of(found)
    ended = [*WAITING, TraceEntry(TraceKind.WORKFLOW_FAILED, "", "", "Late", BEGAN, {"message": "x"})]
    over = timeline_of(ended, "drawn", now=BEGAN + timedelta(minutes=9))
    assert over is not None
    assert over.ended == BEGAN


def test_the_scale_suits_seconds_minutes_and_days() -> None:
    """Seconds are counted from the beginning; from minutes on, lines are where clocks and calendars have them."""
    assert _scale(timedelta(seconds=9)) == ["23:50:00", "+2 s", "+4 s", "+6 s", "+8 s"]
    assert _scale(timedelta(minutes=18)) == ["31 Mar 23:50", "23:55", "01 Apr 00:00", "00:05"]
    assert _scale(timedelta(days=6)) == [f"{day:02} Apr" for day in range(1, 7)]


def test_attempts_at_a_call_are_bars_in_it_and_everything_can_be_opened() -> None:
    trace = [
        TraceEntry(TraceKind.STATE_ENTERED, "Pay", "Pay", "Pay", BEGAN),
        TraceEntry(TraceKind.ACTION_STARTED, "Pay", "Pay", "charge", BEGAN, {"function": "charge"}),
    ]
    second = timedelta(seconds=1)
    attempted = {1: Attempted(3, [(BEGAN, BEGAN + second), (BEGAN + 3 * second, BEGAN + 4 * second)])}
    ids = [EntryId("a-run", 0), EntryId("a-run", 1)]
    found = timeline_of(trace, "drawn", now=BEGAN + 9 * second, attempted=attempted, ids=ids)
    assert found is not None
    svg = svg_of(found, addresses=Addresses("/steps"))
    assert svg.count('class="tried"') == 2
    assert "9 s…, 3 attempts" in svg
    assert re.findall(r'href="([^"]*)"', svg) == ["/steps?run=a-run&amp;entry=0", "/steps?run=a-run&amp;entry=1"]
