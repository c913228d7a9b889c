"""Iterations: how many run at once, and what becomes of their outputs."""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any, cast

import pytest

from swf_temporal import simulate
from swf_temporal.base.data import JSON
from swf_temporal.runtime.host import Host
from swf_temporal.runtime.iterations import run_in_turn
from swf_temporal.runtime.progress import Front


class _Iterations:
    """Iterations of which some are complete, and what happens to them in their order."""

    def __init__(self, complete: set[int]) -> None:
        self._complete = complete
        self.log: list[str] = []

    def begin(self, index: int) -> Callable[[], Coroutine[Any, Any, None]] | None:
        self.log.append(f"asked for {index}")
        if index in self._complete:
            return None

        async def path() -> None:
            self.log.append(f"ran {index}")
            self._complete.add(index)

        return path

    def fold(self, index: int) -> bool:
        if index in self._complete:
            self.log.append(f"folded {index}")
        return index in self._complete


@pytest.mark.parametrize("window", [1, 2, 5])
async def test_what_was_complete_at_the_front_is_not_asked_for(window: int) -> None:
    iterations = _Iterations({0, 1, 3})
    await run_in_turn(5, 0, iterations.begin, iterations.fold, window=window)
    assert iterations.log[:3] == ["folded 0", "folded 1", "asked for 2"]
    assert "asked for 1" not in iterations.log
    assert [entry for entry in iterations.log if entry.startswith("folded")] == [f"folded {n}" for n in range(5)]
    assert [entry for entry in iterations.log if entry.startswith("ran")] == ["ran 2", "ran 4"]


async def test_iterations_after_the_first_that_is_left_are_folded_alone() -> None:
    iterations = _Iterations(set())
    await run_in_turn(4, 2, iterations.begin, iterations.fold, window=1)
    assert [entry for entry in iterations.log if entry.startswith("folded")] == ["folded 2", "folded 3"]


async def test_what_is_passed_over_is_folded_at_the_end() -> None:
    """An iteration that has nothing to do is complete as soon as it is asked for, and no path comes to its end."""
    complete: set[int] = set()
    folded: list[int] = []

    def begin(index: int) -> None:
        complete.add(index)

    def fold(index: int) -> bool:
        if index in complete:
            folded.append(index)
        return index in complete

    await run_in_turn(3, 0, begin, fold, window=1)
    assert folded == [0, 1, 2]


DEFINITION = """
id: crowd
specVersion: "0.8"
functions: [{name: work, operation: "api#work"}]
states:
  - {name: Work, type: foreach, BATCH inputCollection: "${ [range(1001)] }", actions: [{functionRef: work}], end: true}
"""


@pytest.mark.parametrize("batch", ["", "batchSize: 0,", "batchSize: 1100,"])
def test_no_more_than_a_thousand_at_a_time(batch: str) -> None:
    """The last of 1,001 iterations begins when another has ended, though nothing says how many, or more are allowed."""

    async def work(_: JSON) -> None:
        await asyncio.sleep(60)

    run = simulate(DEFINITION.replace("BATCH", batch), {}, functions={"work": work})
    assert (run.status, len(run.calls), run.elapsed) == ("completed", 1001, timedelta(minutes=2))


class Holding:
    """A host that holds whatever there is, one value a part."""

    def __init__(self) -> None:
        self.parts: dict[int, list[JSON]] = {}
        self.had_control = 0

    def hold(self, values: list[JSON]) -> list[int]:
        numbers = range(len(self.parts), len(self.parts) + len(values))
        self.parts |= {number: [value] for number, value in zip(numbers, values, strict=True)}
        return list(numbers)

    def held(self, number: int) -> list[JSON]:
        return self.parts.pop(number)

    async def yield_control(self) -> None:
        self.had_control += 1


async def test_outputs_are_in_their_order_wherever_they_are() -> None:
    """What was handed over comes before what was added since; a run that goes on has them all."""
    holding = Holding()
    host = cast("Host", holding)
    front = Front(3, outputs=[0, 1])
    front.hand_over(host)
    front.hand_over(host)
    front.outputs.append(2)
    assert front == Front(3, outputs=[2], parts=[0, 1])
    assert await Front.from_json(front.to_json()).all_outputs(host) == [0, 1, 2]
    assert (holding.parts, holding.had_control) == ({}, 2)


async def test_what_was_never_handed_over_is_all() -> None:
    assert await Front(1, outputs=[1]).all_outputs(cast("Host", Holding())) == [1]


def test_data_that_no_execution_can_carry_on_are_told_before_the_first_call() -> None:
    """A foreach with more calls than one execution holds does not begin with them; one with fewer does."""
    definition = {
        "id": "each",
        "specVersion": "0.8",
        "functions": [{"name": "load", "operation": "api#load"}, {"name": "work", "operation": "api#work"}],
        "states": [
            {"name": "Load", "type": "operation", "actions": [{"functionRef": "load"}], "transition": "Each"},
            {
                "name": "Each", "type": "foreach", "inputCollection": "${ [range(.number)] }",
                "actions": [{"functionRef": "work", "actionDataFilter": {"useResults": False}}],
                "stateDataFilter": {"output": "${ .number }"}, "end": True,
            },
        ],
    }  # fmt: skip
    functions = {"load": {"loaded": "y" * 1_500_000}, "work": None}
    given: dict[str, JSON] = {"given": "x" * 1_000_000}

    refused = simulate(definition, {**given, "number": 15_001}, functions=functions)
    assert refused.error is not None
    assert refused.error.name == "PayloadTooLarge"
    assert "15,001 calls are too many" in refused.error.message
    assert "bytes of the 2,031,616 that it can; keep less of what" in refused.error.message
    assert [name for name, _ in refused.calls] == ["load"]
    assert simulate(definition, {**given, "number": 20}, functions=functions).output == 20
