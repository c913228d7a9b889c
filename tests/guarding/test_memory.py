"""How much memory an evaluation may take."""

import pytest

from swf_temporal.base.errors import ExpressionLimitExceeded
from swf_temporal.expressions.guarding.guard import EvaluationLimits, Guard


def test_too_much_memory_is_told_of_the_first_evaluation() -> None:
    pool = Guard(EvaluationLimits(seconds=30, memory=256 << 20, processes=1))
    with pytest.raises(ExpressionLimitExceeded, match="an expression took more than 256 MiB of memory"):
        pool.run('"x" * 1e9 | length | tojson', "null")
    pool.stop()


def test_results_that_take_too_much_memory() -> None:
    """More results than the helper has memory for are an error of the expression, and the helper goes on."""
    pool = Guard(EvaluationLimits(seconds=30, memory=64 << 20, output=1 << 30, processes=1))
    try:
        with pytest.raises(ExpressionLimitExceeded, match="an expression took more than 64 MiB of memory"):
            pool.run("range(3000000) | tojson", "null")
        assert pool.run("tojson", "[1]").text == "[1]"
    finally:
        pool.stop()


def test_programs_that_others_had_compiled_take_no_memory_of_this_one() -> None:
    """What an expression may take depends on itself alone, and not on what its helper keeps of those before."""
    pool = Guard(EvaluationLimits(memory=200 << 20, seconds=10, processes=1))
    try:
        for number in range(4):
            assert pool.run(_large(number), "null").text
    finally:
        pool.stop()


@pytest.mark.parametrize(
    ("program", "end"), [("range(900000) | tojson", "899999"), ('("x" * 60000030) | length | tojson', "60000030")]
)
def test_an_expression_for_which_too_little_memory_was_left_is_evaluated_by_a_fresh_helper(
    program: str, end: str
) -> None:
    """Whether it ran out while it took the results or in jq: by no other that was used before, either."""
    pool = Guard(EvaluationLimits(memory=170 << 20, seconds=10, processes=2))
    try:
        used = [pool._take(), pool._take()]
        for number, helper in enumerate(used):
            for more in (1, 2):
                assert helper.ask(_large(10 * number + more), "null").text
            pool._give_back(helper)
        assert pool.run(program, "null").text.endswith(end)
        assert not any(helper.is_alive() for helper in used)
    finally:
        pool.stop()


def _large(number: int) -> str:
    """Return a program with a text of 60 million characters, which jq computes as it compiles it, and keeps."""
    return f'("x" * {60_000_000 + number}) | length | tojson'
