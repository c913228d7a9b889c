"""Which entries of a trace are new to somebody who watches a run."""

from io import StringIO
from typing import Any

from swf_temporal.cli.progress import line_of
from swf_temporal.operations.instances import news


def trace_of(*entries: tuple[str, int]) -> list[dict[str, Any]]:
    return [{"kind": "state-entered", "name": name, "at": f"2030-01-01T00:00:{at:02}+00:00"} for name, at in entries]


def test_what_follows_the_last() -> None:
    first = trace_of(("A", 1), ("B", 2))
    assert news(first, None) == first
    later = trace_of(("A", 1), ("B", 2), ("A", 3))
    assert news(later, first[-1]) == later[2:]
    assert news(later, later[-1]) == []
    assert news(later, later[0]) == later[1:]


def test_a_run_that_continues_as_new() -> None:
    """Its trace begins again, after what was seen: all of it is new, though a state has the same name."""
    seen = trace_of(("A", 1), ("B", 2))
    again = trace_of(("B", 3), ("C", 4))
    assert news(again, seen[-1]) == again
    assert news([], seen[-1]) == []


def test_a_run_that_was_replayed() -> None:
    seen = trace_of(("A", 5), ("B", 5))
    replayed = trace_of(("A", 4), ("B", 4), ("C", 7))
    assert news(replayed, seen[-1]) == replayed[2:]
    assert news(trace_of(("D", 4)), seen[-1]) == trace_of(("D", 4)), "nothing of what was seen: told rather than lost"


def test_a_failed_action_is_shown_with_its_error_and_where() -> None:
    """The message follows the error, and the branch or the iteration the name."""
    detail = {"function": "card", "error": "Declined", "code": "402", "message": "no money"}
    entry = {"kind": "action-failed", "name": "pay", "lane": "Pay each[7]", "state": "Pay each", "detail": detail}
    assert line_of(entry, StringIO()) == "  ✗ pay failed: Declined (Pay each[7]): no money"
    assert line_of({**entry, "lane": "Pay each"}, StringIO()) == "  ✗ pay failed: Declined: no money"
