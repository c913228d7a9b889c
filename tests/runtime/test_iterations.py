"""Iterations in turn: those at the front leave only what they came to."""

from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from swf_temporal.runtime.iterations import run_in_turn


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
