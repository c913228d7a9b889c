"""What a run evaluates where it goes on, and what it leaves to its host."""

import asyncio
from collections.abc import Callable
from contextvars import copy_context
from typing import TypeVar

import pytest

from swf_temporal.base.errors import ExpressionLimitExceeded
from swf_temporal.expressions.guarding import guard
from swf_temporal.expressions.guarding.deferring import (
    MAX_WORK,
    UNBOUNDED,
    Bound,
    Deferred,
    Evaluation,
    MachineTooSlow,
    answer_to,
    ask,
    defer_here,
    jsonpath_bound,
    pattern_bound,
    schema_bound,
)
from swf_temporal.expressions.guarding.helper import EngineAnswer
from swf_temporal.runtime.host import evaluated

T = TypeVar("T")

ENDLESS = "until(false; .)"
MUCH = 1_000_000


def in_run(work: Callable[[], T]) -> T:
    """Return what *work* comes to where what is not bounded is left to the host."""

    def run() -> T:
        defer_here()
        return work()

    return copy_context().run(run)


def test_what_is_bounded_is_evaluated_where_the_run_goes_on() -> None:
    assert in_run(lambda: ask("tojson", "[1]", Bound())).text == "[1]"
    with pytest.raises(Deferred) as deferred:
        in_run(lambda: ask("tojson", "[1]", UNBOUNDED))
    assert deferred.value.evaluation == Evaluation("jq", "tojson", "[1]")
    assert ask("tojson", "[1]", UNBOUNDED).text == "[1]"


def test_a_limit_says_nothing_of_a_run_that_met_it_with_what_is_bounded() -> None:
    guard.configure(guard.EvaluationLimits(seconds=0.05))
    try:
        with pytest.raises(MachineTooSlow, match="ran longer"):
            in_run(lambda: ask(ENDLESS, "1", Bound()))
    finally:
        guard.configure(guard.EvaluationLimits())


def test_a_limit_that_the_host_meets_is_an_answer() -> None:
    guard.configure(guard.EvaluationLimits(seconds=0.05))
    try:
        late = answer_to(Evaluation("jq", ENDLESS, "1"), MUCH)
    finally:
        guard.configure(guard.EvaluationLimits())
    assert late.text == "an expression ran longer than 0.05 s"
    large = answer_to(Evaluation("jq", "[range(100)] | tojson", "1"), 200)
    assert (large.status, large.text) == (late.status, "an expression yielded more than 0.000190735 MiB")


async def test_work_is_done_again_once_what_it_needs_was_found() -> None:
    asked: list[str] = []
    answers = {"1": EngineAnswer(0, "one"), "2": EngineAnswer(-1, "too long")}

    async def evaluate(evaluation: Evaluation) -> EngineAnswer:
        asked.append(evaluation.data)
        await asyncio.sleep(0)
        return answers[evaluation.data]

    async def run(*needed: str) -> list[str]:
        defer_here()
        return await evaluated(lambda: [ask(".", one, UNBOUNDED).text for one in needed], evaluate)

    assert await asyncio.create_task(run("1", "1")) == ["one", "one"]
    with pytest.raises(ExpressionLimitExceeded, match="too long"):
        await asyncio.create_task(run("1", "2"))
    assert asked == ["1", "1", "2"]


@pytest.mark.parametrize(("bound", "largest"), [
    (jsonpath_bound("$.a.b[*].c"), 26_000),
    (jsonpath_bound("$..a"), 26_000),
    (jsonpath_bound("$" + "[*,*]" * 20), 0),
    (jsonpath_bound("$" + ".a" * 50_000), 60),
    (jsonpath_bound("$.a[?@.b > 1]..c"), 300),
    (jsonpath_bound("$.a[?match(@.b, '(a+)+')]"), 0),
    (schema_bound('{"type": "object", "properties": {"a": {"type": "string"}}}'), 26_000),
    (schema_bound('{"anyOf": [{"type": "object"}, {"type": "string"}]}'), 13_000),
    (schema_bound('{"anyOf": [{"not": {"type": "object"}}, {"allOf": [{"type": "string"}]}]}'), 6_500),
    (schema_bound('{"pattern": "(a+)+$"}'), 0),
    (schema_bound('{"$ref": "#"}'), 0),
])  # fmt: skip
def test_bounds_by_size(bound: Bound, largest: int) -> None:
    assert bound.holds(largest) is bool(largest)
    assert not bound.holds(2 * largest + 8)


@pytest.mark.parametrize(("pattern", "text", "is_bounded"), [
    ("timeout|refused", "x" * 10_000, True), (".*timed out.*", "x" * 100, True), (".*timed out.*", "x" * 10_000, False),
    (r"^5\d\d$", "503", True), ("(a+)+$", "a" * 30, False), ("(a+)+$", "a", True), (r"(a|b)\1*", "a" * 30, False),
    ("(?:a|b)*c", "a" * 30, False), ("(?:a|a)" * 30, "a" * 30, False),
])  # fmt: skip
def test_bounds_of_patterns(pattern: str, text: str, *, is_bounded: bool) -> None:
    """Repetitions within others can take years on a short text; others are bounded by the length of the text."""
    assert pattern_bound(pattern, text).holds(0) is is_bounded


def test_a_bound_is_no_number_that_takes_long_to_work_out() -> None:
    assert not Bound(8, MAX_WORK).holds(1 << 30)
    assert not pattern_bound("(?:a|a)?" * 10_000 + "a*" * 10_000, "a" * 1_000_000).holds(0)
