"""What is a cycle, and what only looks like one?"""

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from swf_temporal import simulate
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import StepLimitExceeded
from swf_temporal.simulation.clock import MAX_STEPS, MAX_TIMES_THE_SAME, StateHistory


def _course() -> StateHistory:
    course = StateHistory()
    course.begin("w")
    return course


def _given_up(course: StateHistory, steps: Iterator[tuple[str, JSON]]) -> tuple[int, str]:
    """Return after how many *steps*, all of them in one moment, the course is given up, and what is told."""
    for number, (state, data) in enumerate(steps):
        try:
            course.enter(state, data, 0.0)
        except StepLimitExceeded as fault:
            return number, fault.message
    raise AssertionError("it was not given up")


def test_long_loops_come_to_their_end() -> None:
    """Thousands of states in one moment are no cycle as long as their data changes."""
    loop = {
        "id": "counts", "specVersion": "0.8",
        "states": [{"name": "Add", "type": "inject", "data": {"n": "${ .n + 1 }"}, "transition": "Enough"},
                   {"name": "Enough", "type": "switch",
                    "dataConditions": [{"condition": "${ .n >= 4000 }", "end": True}],
                    "defaultCondition": {"transition": "Add"}}],
    }  # fmt: skip
    run = simulate(loop, {"n": 0})
    assert (run.status, run.output) == ("completed", {"n": 4000})


def test_the_same_data_again_and_again_is_a_cycle() -> None:
    """The states before a cycle do not hide it, and are not named with it when they are long past."""
    course = _course()
    for number in range(40):
        course.enter(f"before {number}", {}, 0.0)
    steps, message = _given_up(course, (("ABC"[n % 3], {"third": n % 3}) for n in count()))
    assert MAX_TIMES_THE_SAME * 3 <= steps <= MAX_TIMES_THE_SAME * 3 + 200
    assert message.endswith(
        " began with the same data 500 times without waiting for anything, in a cycle: states 'A', 'B' and 'C'"
    )


COUNTING = {"name": "A", "type": "inject", "data": {"n": "${ .n + 1 }"}, "transition": "B"}
POLLING = {"name": "A", "type": "operation", "actions": [{"functionRef": "poll"}], "transition": "B"}
WAITING = {"name": "B", "type": "sleep", "duration": "PT5S", "transition": "A"}


@pytest.mark.parametrize(
    "states", [[COUNTING, {**COUNTING, "name": "B", "transition": "A"}], [POLLING, WAITING], [COUNTING, WAITING]]
)
def test_what_goes_on_is_given_up(states: list[dict[str, Any]]) -> None:
    """A loop that counts, and one that asks again and again, end after a number of steps that can be set."""
    functions = [{"name": "poll", "operation": "poll.json#poll"}]
    loop = {"id": "loop", "specVersion": "0.8", "functions": functions, "states": states}
    answers = {"poll": {"status": "RUNNING"}}
    for most, run in (
        (MAX_STEPS, simulate(loop, {"n": 0}, functions=answers)),
        (100, simulate(loop, {"n": 0}, functions=answers, max_steps=100)),
    ):
        assert run.error is not None
        assert run.error.name == "StepLimitExceeded"
        assert run.error.message.startswith(f"{most:,} states and retries ran, which is the limit set by max_steps: ")
        assert run.error.message.endswith(": lately states 'A' and 'B'")


def test_states_that_wait_are_no_cycle() -> None:
    course, entered = _course(), 0
    for moment in range(2 * MAX_STEPS):
        course.enter("A", {}, float(moment))
        entered += 1
    assert entered == 2 * MAX_STEPS


def test_a_large_cycle_is_named_in_part() -> None:
    _, message = _given_up(_course(), ((str(n % 25), {}) for n in count()))
    assert "states '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' and 15 more" in message
