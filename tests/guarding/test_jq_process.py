"""What the program in a helper process does with the requests that it is given."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from swf_temporal.base.accounting import current_account
from swf_temporal.expressions.guarding import jq_process
from swf_temporal.expressions.guarding.guard import JQ, Engine, EngineAnswer
from swf_temporal.expressions.guarding.helper import EvaluationLimits, Helper

COUNTING = """
class compiled:
    count = 0

    def __init__(self, text):
        compiled.count += 1
        self.number = compiled.count

    def input_text(self, text):
        return [str(self.number)]

WARMING = ("warming", "null")
"""
"""An engine whose programs yield how many programs were compiled when they were."""


@pytest.fixture
def counting(tmp_path: Path) -> Iterator[Helper]:
    driver = tmp_path / "counting.py"
    driver.write_text(COUNTING)
    helper = Helper(Engine("counting", "json", "json", str(driver)), EvaluationLimits(seconds=30), 0)
    yield helper
    helper.end()


def test_a_program_is_compiled_once(counting: Helper) -> None:
    """Asked for again, it is the one that was compiled before; the program that warms the engine is the first."""
    assert [counting.ask(program, "null").text for program in "abaab"] == ["2", "3", "2", "2", "3"]


def test_programs_that_were_not_used_for_long_are_forgotten(counting: Helper) -> None:
    """4,096 are kept, with the one that warms the engine; one that was used again is none of the oldest."""
    compiled = ["unused", "used", *map(str, range(4093))]
    for program in compiled:
        counting.ask(program, None)
    assert counting.ask("used", "null").text == "3"
    for program in ("more", "and more", "and one more"):  # than are kept: the first two, and the oldest number
        counting.ask(program, None)
    assert [counting.ask(program, "null").text for program in ("used", "1", "unused")] == ["3", "5", "4100"]


def test_no_more_time_is_told_than_the_process_took() -> None:
    before = current_account().seconds
    helper = Helper(JQ, EvaluationLimits(), 0)
    try:
        assert current_account().seconds == before
        for _ in range(10):
            helper.ask("tojson", "null")
        taken = int(Path(f"/proc/{helper._process.pid}/schedstat").read_text().split()[0]) / 1e9
        assert 0 <= current_account().seconds - before < taken
    finally:
        helper.end()


def test_an_evaluation_that_fails_in_a_process_that_holds_much() -> None:
    helper = Helper(JQ, EvaluationLimits(seconds=30), 0)
    try:
        answer = helper.ask('("x" * 300000000) | length | error("too long")', "null")
        assert answer == EngineAnswer(jq_process.FAILED, "too long")
        assert helper.is_last()
    finally:
        helper.end()


def test_an_evaluation_that_ran_out_of_memory_answers_with_nothing_else() -> None:
    helper = Helper(JQ, EvaluationLimits(seconds=30, memory=64 << 20, output=1 << 30), 0)
    try:
        assert helper.ask("range(3000000) | tojson", "null") == EngineAnswer(jq_process.OUT_OF_MEMORY, "")
    finally:
        helper.end()
