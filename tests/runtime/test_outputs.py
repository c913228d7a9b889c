"""What iterations came to, and what is told before they begin."""

from typing import cast

from swf_temporal import simulate
from swf_temporal.base.data import JSON
from swf_temporal.runtime.host import Host
from swf_temporal.runtime.progress import Front


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
    assert holding.parts == {}
    assert holding.had_control == 2


async def test_what_was_never_handed_over_is_all() -> None:
    """A host that holds nothing leaves it to the progress."""
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
