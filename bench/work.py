"""What work is measured, and how often is it done in one batch?"""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

ACTIVITIES = 10
ELEMENTS = 100
REST_CALLS = 500
POST = "post"
"""The function of Direktiv's workflows, and its image."""
GO = "Go"
"""The signal that the work waits for that waits for one; it carries `SIGNALLED`."""
SIGNALLED = {"accepted": True}


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

    by_hand: str = ""
    """The name of the workflow written by hand, where that is not the work's own."""

    metadata: dict[str, Any] = field(default_factory=dict)
    """Those of the function that calls the service."""

    direktiv: bool = False
    """Whether it is written in Direktiv's language."""

    dsl: bool = False
    """Whether it is written in DSL 1.0."""

    by_type: bool = False
    """Whether the interpreted one is started by its type, as by `temporal workflow start`: without its definition."""

    signalled: bool = False
    """Whether it waits for the signal `GO`, which is sent once it does."""

    def data_for(self, service: str) -> dict[str, Any]:
        """Return what a workflow begins with."""
        return {**self.data, "service": service} if self.calls_service else self.data

    def definition(self, service: str) -> dict[str, Any]:
        """Return the definition that the interpreter is to run."""
        if self.direktiv:
            post = {"type": "knative-workflow", "id": POST, "image": POST}
            return {"id": self.name, "functions": [post], "states": self.states()}
        if self.dsl:
            document = {"dsl": "1.0.3", "namespace": "bench", "name": self.name, "version": "1.0.0"}
            return {"document": document, "do": self.states()}
        rest = {"name": "ask", "operation": f"{service}/openapi.json#answer", "metadata": self.metadata}
        custom = {"name": "answer", "type": "custom", "operation": "answer"}
        events = [{"name": GO, "type": "go", "source": "bench"}] if self.signalled else []
        return {
            "id": self.name,
            "name": self.title,
            "version": "1.0.0",
            "specVersion": "0.8",
            "functions": [rest if self.calls_service else custom],
            "events": events,
            "states": self.states(),
        }


def _no_activity() -> list[dict[str, Any]]:
    return [{"name": "Answer", "type": "inject", "data": {"accepted": True}, "end": True}]


def _signal() -> list[dict[str, Any]]:
    return [{"name": "Answer", "type": "event", "onEvents": [{"eventRefs": [GO]}], "end": True}]


def _operation(actions: int, mode: str = "sequential", function: str = "answer") -> list[dict[str, Any]]:
    action = {"functionRef": {"refName": function, "arguments": {"number": "${ .number }"}}}
    actions_of_it = [{"name": f"answer {number}", **action} for number in range(actions)]
    return [{"name": "Answer", "type": "operation", "actionMode": mode, "actions": actions_of_it, "end": True}]


def _direktiv_no_action() -> list[dict[str, Any]]:
    return [{"id": "answer", "type": "noop", "transform": {"number": "jq(.number)", "accepted": True}}]


def _direktiv(actions: int) -> list[dict[str, Any]]:
    kept = {"number": "jq(.return.number)", "accepted": "jq(.return.accepted)"}
    action = {"function": POST, "input": {"number": "jq(.number)"}}
    state = {
        "type": "action",
        "action": action,
        "transform": {**kept, "calls": "jq(.calls)", "service": "jq(.service)"},
    }
    states = [{"id": f"answer-{number}", **state} for number in range(actions)]
    return [*({**one, "transition": after["id"]} for one, after in pairwise(states)), states[-1]]


def _calls(title: str, calls: int, *, direktiv: bool) -> Work:
    """Return the work of so many calls over HTTP, one after the other."""
    language, by_hand = ("direktiv", "posts") if direktiv else ("rest", "asks")
    return Work(
        f"{language}-{calls}",
        title,
        lambda: _direktiv(calls) if direktiv else _operation(calls, function="ask"),
        {"number": 7, "calls": calls},
        batch=30 if calls == 1 else 10,
        calls_service=True,
        by_hand=by_hand,
        direktiv=direktiv,
    )


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


def _in_turn() -> list[dict[str, Any]]:
    return [{**state, "mode": "sequential"} for state in _foreach()]


def _dsl_call(name: str, **more: Any) -> dict[str, Any]:
    number = {"number": "${ .number }"}
    return {name: {"call": "answer:1.0.0@default", "with": number, "output": {"as": "${ $input + . }"}, **more}}


def _dsl_parallel() -> list[dict[str, Any]]:
    branches = [_dsl_call(f"answer{number}") for number in range(ACTIVITIES)]
    return [{"answer": {"fork": {"branches": branches}, "output": {"as": "${ $input + (. | add) }"}}}]


def _dsl_for() -> list[dict[str, Any]]:
    kept = "${ $input + {answers: ($input.answers + [.])} }"
    call = _dsl_call("answer", **{"with": {"number": "${ $number }"}, "output": {"as": kept}})
    return [{"answerAll": {"for": {"each": "number", "in": "${ .numbers }"}, "do": [call]}}]


WORK = (
    Work("none", "no activity", _no_activity, {"number": 7}, batch=40),
    Work("typed", "no activity, by type", _no_activity, {"number": 7}, batch=40, by_hand="none", by_type=True),
    Work("signal", "1 signal", _signal, {"number": 7}, batch=30, signalled=True),
    Work("one", "1 activity", lambda: _operation(1), {"number": 7}, batch=30),
    Work("sequence", "10 in sequence", lambda: _operation(ACTIVITIES), {"number": 7}, batch=10),
    Work("parallel", "10 in parallel", lambda: _operation(ACTIVITIES, "parallel"), {"number": 7}, batch=10),
    Work("foreach", "foreach of 100", _foreach, {"numbers": list(range(ELEMENTS))}, batch=4),
    Work(
        "rest",
        "500 REST calls at once",
        lambda: _foreach("ask"),
        {"numbers": list(range(REST_CALLS))},
        batch=3,
        calls_service=True,
    ),
    Work(
        "direktiv-none",
        "no action, Direktiv",
        _direktiv_no_action,
        {"number": 7},
        batch=40,
        by_hand="none",
        direktiv=True,
    ),
    Work("in-turn", "foreach of 100, in turn", _in_turn, {"numbers": list(range(ELEMENTS))}, batch=4),
    Work(
        "dsl-none",
        "no activity, DSL 1.0",
        lambda: [{"answer": {"set": {"number": "${ .number }", "accepted": True}}}],
        {"number": 7},
        batch=40,
        by_hand="none",
        dsl=True,
    ),
    Work("dsl-one", "1 activity, DSL 1.0", lambda: [_dsl_call("answer")], {"number": 7}, 30, by_hand="one", dsl=True),
    Work(
        "dsl-sequence",
        "10 in sequence, DSL 1.0",
        lambda: [_dsl_call(f"answer{number}") for number in range(ACTIVITIES)],
        {"number": 7},
        batch=10,
        by_hand="sequence",
        dsl=True,
    ),
    Work("dsl-parallel", "10 in parallel, DSL 1.0", _dsl_parallel, {"number": 7}, 10, by_hand="parallel", dsl=True),
    Work(
        "dsl-for",
        "for of 100, DSL 1.0",
        _dsl_for,
        {"numbers": list(range(ELEMENTS))},
        batch=4,
        by_hand="in-turn",
        dsl=True,
    ),
    _calls("1 call over HTTP", 1, direktiv=False),
    _calls("1 action, Direktiv", 1, direktiv=True),
    _calls("10 calls over HTTP", ACTIVITIES, direktiv=False),
    _calls("10 actions, Direktiv", ACTIVITIES, direktiv=True),
)
