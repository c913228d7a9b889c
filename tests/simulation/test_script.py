"""Scripts and their schema."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from swf_temporal.base.errors import CallFailed
from swf_temporal.simulation.model.part import StubFailure
from swf_temporal.simulation.reading import _documents
from swf_temporal.simulation.scenario import StubAnswer
from swf_temporal.simulation.scenario_schema import scenario_schema
from swf_temporal.simulation.script import scripted
from swf_temporal.text.parsing import read_data


async def test_gives_one_answer_after_the_other_and_repeats_the_last() -> None:
    script = scripted({"f": [StubAnswer(returns=1), StubAnswer(returns=2)]}, _no_time)
    assert [await script["f"](None) for _ in range(4)] == [1, 2, 2, 2]


async def test_begins_anew_for_every_run() -> None:
    functions = {"f": [StubAnswer(returns=1), StubAnswer(returns=2)]}
    for _ in range(2):
        assert await scripted(functions, _no_time)["f"](None) == 1


async def test_computes_from_the_arguments() -> None:
    script = scripted({"f": [StubAnswer(computes="${ .a + .b }")]}, _no_time)
    assert await script["f"]({"a": 1, "b": 2}) == 3


async def test_raises_what_the_script_says() -> None:
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


SCENARIOS = Path(__file__).parents[1] / "scenarios"
SCHEMA = Draft202012Validator(scenario_schema())


def _scenarios() -> list[dict[str, Any]]:
    files = [file for file in sorted(SCENARIOS.rglob("*.yaml")) if "scenario:" in file.read_text("utf-8")]
    documents = [read_data(text) for file in files for text in _documents(file.read_text("utf-8"))]
    return [one for one in documents if isinstance(one, dict) and "scenario" in one]


def test_every_scenario_fits() -> None:
    found = _scenarios()
    assert len(found) > 1000
    assert [(one["scenario"], error.message) for one in found for error in SCHEMA.iter_errors(one)] == []


@pytest.mark.parametrize(("key", "value", "message"), [
    ("fucntions", {}, "'fucntions' was unexpected"),
    ("expect", {"ouput": 1}, "'ouput' was unexpected"),
    ("expect", {"status": "complete"}, "'complete' is not one of"),
    ("expect", {"elapsed": None}, "None is not of type 'string'"),
    ("chance", [2], "2 is greater than the maximum of 1"),
])  # fmt: skip
def test_a_slip_is_told(key: str, value: object, message: str) -> None:
    [error] = SCHEMA.iter_errors({"scenario": "a", "workflow": "a.yaml", key: value})
    assert message in error.message


def test_what_may_be_null() -> None:
    """A hint that must be missing, and a header, are claimed by null."""
    expect = {"problems": [{"code": "x", "hint": None}], "requests": [{"headers": {"Accept": None}}], "output": None}
    assert list(SCHEMA.iter_errors({"scenario": "a", "workflow": "a.yaml", "expect": expect})) == []


def test_keys_are_described() -> None:
    """Editors show what a key means: its own text, and that of a key that a part shares with another."""
    schema = scenario_schema("Orders")
    assert schema["title"] == "Orders"
    assert schema["properties"]["spec"]["description"] == "The sections of the specification that it is about."
    takes = schema["$defs"]["AnswerScript"]["properties"]["takes"]
    assert takes["description"] == "The time that the function takes to answer."
