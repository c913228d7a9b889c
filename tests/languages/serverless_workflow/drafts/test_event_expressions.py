"""Event expressions and repeating intervals are read as their authors mean them."""

import pytest

from swf_temporal.languages.serverless_workflow.drafts.lowering import repetition_of
from swf_temporal.languages.serverless_workflow.drafts.november_2019.event_expressions import (
    MAX_DEPTH,
    BadEventExpression,
    names_in,
    parsed,
)
from swf_temporal.languages.serverless_workflow.model.states import EventNeed


def shown(need: EventNeed) -> object:
    """Return a need as nested lists: the word that joins, and what it joins."""
    return need.ref if need.join == "event" else [need.join, *map(shown, need.parts)]


@pytest.mark.parametrize(("text", "read"), [
    ("a", "a"),
    ("a or b", ["or", "a", "b"]),
    ("a and b or c", ["or", ["and", "a", "b"], "c"]),
    ("a and (b or c)", ["and", "a", ["or", "b", "c"]]),
    ("a AND b && c", ["and", "a", "b", "c"]),
    ("a||b", ["or", "a", "b"]),
    ("((a))", "a"),
    ("order paid and 'and'", ["and", "order paid", "and"]),
    ('"x or y" or order-paid', ["or", "x or y", "order-paid"]),
    ("android or organ", ["or", "android", "organ"]),
    ("order or order paid", ["or", "order", "order paid"]),
])  # fmt: skip
def test_reads(text: str, read: object) -> None:
    assert shown(parsed(text, {"order", "order paid"})) == read


@pytest.mark.parametrize(("text", "message", "offset"), [
    ("", "the name of a trigger is missing at the end", 0),
    ("a and", "the name of a trigger is missing at the end", 5),
    ("and a", "the name of a trigger is missing before 'and'", 0),
    ("a b", "'and' or 'or' is missing before 'b'", 2),
    ("a and (b", "this parenthesis is not closed", 6),
    ("a)", "'and' or 'or' is missing before ')'", 1),
    ("a & b", "'&' is not known in an event expression", 2),
    ("(" * (MAX_DEPTH + 1) + "a", "parentheses are nested too deeply", MAX_DEPTH),
])  # fmt: skip
def test_refuses(text: str, message: str, offset: int) -> None:
    with pytest.raises(BadEventExpression) as refused:
        parsed(text)
    assert (refused.value.message, refused.value.offset) == (message, offset)


def test_names() -> None:
    assert names_in(parsed("(b or a) and b")) == ("b", "a")


@pytest.mark.parametrize(("text", "taken_apart"), [
    (None, (None, 0)), ("PT15M", ("PT15M", 0)), ("R5/PT15M", ("PT15M", 5)), (" R/PT1M ", ("PT1M", None)),
    ("R0/PT1M", ("PT1M", 0)),
])  # fmt: skip
def test_repetitions(text: str | None, taken_apart: tuple[str | None, int | None]) -> None:
    assert repetition_of(text) == taken_apart
