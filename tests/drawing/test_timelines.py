"""Timelines: a bar for all that took its time, below what it is in."""

import re
from datetime import UTC, datetime, timedelta

from swf_temporal import CallFailed, load, simulate
from swf_temporal.drawing.model import Addresses, EntryId, width_of
from swf_temporal.drawing.svg import svg_of
from swf_temporal.drawing.timeline import MAX_SPANS, Attempted, Timeline, timeline_of
from swf_temporal.runtime.host import TraceEntry, TraceKind

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
