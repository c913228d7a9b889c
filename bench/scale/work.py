"""What runs without a limit are measured: as definitions, and under the same names as workflows written by hand."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_FOREACH: dict[str, Any] = {
    "name": "Each",
    "type": "foreach",
    "inputCollection": "${ [range(.items)] }",
    "iterationParam": "number",
}
_CALL: dict[str, Any] = {"functionRef": {"refName": "answer", "arguments": {"number": "${ .number }"}}}


@dataclass(frozen=True, slots=True)
class Work:
    """One kind of run. It returns how many items it has done."""

    name: str
    title: str
    items: int
    states: Callable[[], list[dict[str, Any]]]
    rounds: int = 1
    """How often it is measured: the same work costs now more, now less."""

    def definitions(self) -> list[dict[str, Any]]:
        """Return the definition that the interpreter is to run, and those of its sub-workflows."""
        head = {"version": "1.0.0", "specVersion": "0.8"}
        functions = [{"name": "answer", "type": "custom", "operation": "answer"}]
        echo = {"id": "echo", **head, "states": [{"name": "Echo", "type": "inject", "data": {}, "end": True}]}
        return [{"id": self.name, **head, "functions": functions, "states": self.states()}, echo]


def _foreach() -> list[dict[str, Any]]:
    return [{**_FOREACH, "actions": [_CALL], "stateDataFilter": {"output": "${ .number + 1 }"}, "end": True}]


def _collected() -> list[dict[str, Any]]:
    output = {"stateDataFilter": {"output": "${ .items }"}}
    return [{**_FOREACH, **output, "outputCollection": "${ .answers }", "actions": [_CALL], "end": True}]


def _loop() -> list[dict[str, Any]]:
    again = {"condition": "${ .number < .items }", "transition": "Step"}
    return [
        {"name": "Step", "type": "inject", "data": {"number": "${ .number + 1 }"}, "transition": "Again"},
        {"name": "Again", "type": "switch", "dataConditions": [again], "defaultCondition": {"transition": "End"}},
        {"name": "End", "type": "inject", "data": {}, "stateDataFilter": {"output": "${ .number }"}, "end": True},
    ]


def _fan_out() -> list[dict[str, Any]]:
    run = {"subFlowRef": "echo", "actionDataFilter": {"fromStateData": "${ {number} }"}}
    return [{**_FOREACH, "actions": [run], "stateDataFilter": {"output": "${ .number + 1 }"}, "end": True}]


_DEEPER = "runs itself, one level deeper, under a name of the length that people give to what they want to find again"
"""Ids of sub-workflows are made of such names, one for each level; the server takes 1,000 bytes."""


def _nested() -> list[dict[str, Any]]:
    run = {"name": _DEEPER, "subFlowRef": "nested", "actionDataFilter": {"toStateData": "${ .number }"}}
    again = {"condition": "${ .number < .items }", "transition": "Deeper"}
    output = {"stateDataFilter": {"output": "${ .number }"}}
    return [
        {"name": "Count", "type": "inject", "data": {"number": "${ .number + 1 }"}, "transition": "Again"},
        {"name": "Again", "type": "switch", "dataConditions": [again], "defaultCondition": {"transition": "End"}},
        {"name": "Deeper", "type": "operation", "actions": [run], **output, "end": True},
        {"name": "End", "type": "inject", "data": {}, **output, "end": True},
    ]


WORK = (
    Work("foreach", "foreach, 1 KB results merged", 100_000, _foreach),
    Work("collected", "foreach, 1 KB results collected", 100_000, _collected),
    Work("loop", "loop of two transitions", 500_000, _loop),
    Work("fan-out", "fan-out to sub-workflows", 10_000, _fan_out, rounds=3),
    Work("nested", "sub-workflows within one another", 200, _nested, rounds=9),
)
