"""What work is measured, and how often is it done in one batch?"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

ACTIVITIES = 10
ELEMENTS = 1000
REST_CALLS = 500


@dataclass(frozen=True, slots=True)
class Work:
    """One piece of work: as a definition, and under the same name as a workflow written by hand."""

    name: str
    title: str
    states: Callable[[], list[dict[str, Any]]]
    data: dict[str, Any]
    batch: int
    """How many workflows, one after the other, make one measurement."""

    calls_service: bool = False
    """Whether it calls the service of `bench.service`, whose URL is then part of the data."""

    def data_for(self, service: str) -> dict[str, Any]:
        """Return what a workflow begins with."""
        return {**self.data, "service": service} if self.calls_service else self.data

    def definition(self, service: str) -> dict[str, Any]:
        """Return the definition that the interpreter is to run."""
        rest = {"name": "ask", "operation": f"{service}/openapi.json#answer"}
        custom = {"name": "answer", "type": "custom", "operation": "answer"}
        return {
            "id": self.name,
            "name": self.title,
            "version": "1.0.0",
            "specVersion": "0.8",
            "functions": [rest if self.calls_service else custom],
            "states": self.states(),
        }


def _no_activity() -> list[dict[str, Any]]:
    return [{"name": "Answer", "type": "inject", "data": {"accepted": True}, "end": True}]


def _operation(actions: int, mode: str = "sequential") -> list[dict[str, Any]]:
    action = {"functionRef": {"refName": "answer", "arguments": {"number": "${ .number }"}}}
    actions_of_it = [{"name": f"answer {number}", **action} for number in range(actions)]
    return [{"name": "Answer", "type": "operation", "actionMode": mode, "actions": actions_of_it, "end": True}]


def _foreach(function: str = "answer") -> list[dict[str, Any]]:
    call = {"refName": function, "arguments": {"number": "${ .number }"}}
    return [
        {
            "name": "Answer all",
            "type": "foreach",
            "inputCollection": "${ .numbers }",
            "iterationParam": "number",
            "outputCollection": "${ .answers }",
            "actions": [{"functionRef": call}],
            "end": True,
        }
    ]


WORK = (
    Work("none", "no activity", _no_activity, {"number": 7}, batch=40),
    Work("one", "1 activity", lambda: _operation(1), {"number": 7}, batch=30),
    Work("sequence", "10 in sequence", lambda: _operation(ACTIVITIES), {"number": 7}, batch=10),
    Work("parallel", "10 in parallel", lambda: _operation(ACTIVITIES, "parallel"), {"number": 7}, batch=10),
    Work("foreach", "foreach of 1,000", _foreach, {"numbers": list(range(ELEMENTS))}, batch=2),
    Work(
        "rest",
        "500 REST calls at once",
        lambda: _foreach("ask"),
        {"numbers": list(range(REST_CALLS))},
        batch=3,
        calls_service=True,
    ),
)
