"""Functions that answer as a script says."""

from datetime import timedelta

import pytest

from swf_temporal.base.errors import CallFailed
from swf_temporal.simulation.model.part import StubFailure
from swf_temporal.simulation.scenario import StubAnswer, scripted


async def test_gives_one_answer_after_the_other_and_repeats_the_last() -> None:
    script = scripted({"f": [StubAnswer(returns=1), StubAnswer(returns=2)]}, _no_time)
    assert [await script["f"](None) for _ in range(4)] == [1, 2, 2, 2]


async def test_begins_anew_for_every_run() -> None:
    """Two scripts made from the same answers know nothing of each other."""
    functions = {"f": [StubAnswer(returns=1), StubAnswer(returns=2)]}
    for _ in range(2):
        assert await scripted(functions, _no_time)["f"](None) == 1


async def test_computes_from_the_arguments() -> None:
    script = scripted({"f": [StubAnswer(computes="${ .a + .b }")]}, _no_time)
    assert await script["f"]({"a": 1, "b": 2}) == 3


async def test_raises_what_the_script_says() -> None:
    """A failure has the facts that the script gives; without a code, the status is the code."""
    script = scripted({"f": [StubAnswer(raises=StubFailure(status=503, name="Busy", body={"x": 1}))]}, _no_time)
    with pytest.raises(CallFailed, match="function 'f' failed") as failure:
        await script["f"](None)
    assert (failure.value.code, failure.value.status, failure.value.name) == ("503", 503, "Busy")
    assert failure.value.body == {"x": 1}


async def test_takes_the_time_that_the_script_says() -> None:
    passed: list[timedelta] = []

    async def sleep(duration: timedelta) -> None:
        passed.append(duration)

    await scripted({"f": [StubAnswer(takes=timedelta(seconds=5))]}, sleep)["f"](None)
    assert passed == [timedelta(seconds=5)]


async def _no_time(_: timedelta) -> None:
    return
