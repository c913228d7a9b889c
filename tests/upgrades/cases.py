"""Instances that go through everything that is stored, and what each of them comes to."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from temporalio.client import Client

from swf_temporal.base.data import JSON
from swf_temporal.languages.loading import load
from swf_temporal.languages.port import Definition
from swf_temporal.temporal.client import Handle
from swf_temporal.temporal.constants import EVENT
from swf_temporal.temporal.records import Pin, pinned
from tests.temporal.building import consumed, inject, operation, sleeps, switch
from tests.temporal.suspending import SUSPEND_AFTER

FEW_EVENTS = 12
ALONE = "tell"
"""The function that is called without being awaited: each of its calls is a run of its own, of this name."""
_FUNCTIONS = [{"name": name, "type": "custom"} for name in ("add", "flaky", "broken", "show", ALONE)]
_LIMIT = {"workflowExecTimeout": {"duration": "PT2H", "interrupt": False, "runBefore": "Tidy"}}
_RETRIES = [
    {"name": "patient", "delay": "PT0.05S", "multiplier": 1.5, "maxDelay": "PT1S", "maxAttempts": 9, "jitter": 0.2}
]


def _call(name: str, arguments: Any = None, to: str | None = None, **more: Any) -> dict[str, Any]:
    call = {"functionRef": {"refName": name, **({} if arguments is None else {"arguments": arguments})}, **more}
    return call if to is None else {**call, "actionDataFilter": {"toStateData": to}}


def _counting(number: int) -> list[dict[str, Any]]:
    return [_call("add", {"a": "${ .sum }", "b": 1}) for _ in range(number)]


@dataclass(frozen=True, slots=True)
class Case:
    """A definition, what it begins with, the events that it is sent, and its output."""

    id: str
    states: list[dict[str, Any]]
    output: JSON
    data: JSON = None
    sends: tuple[str, ...] = ()
    more: tuple[tuple[str, Any], ...] = ()
    subflows: tuple["Case", ...] = ()
    tasks: list[dict[str, Any]] | None = None
    """The tasks, if the definition is of DSL 1.0, which has no states."""

    def definitions(self) -> list[Definition]:
        return [load(self._written()), *(one for case in self.subflows for one in case.definitions())]

    def _written(self) -> dict[str, Any]:
        if self.tasks is not None:
            namespace, _, name = self.id.partition(".")
            return {
                "document": {"dsl": "1.0.3", "namespace": namespace, "name": name, "version": "1.0.0"},
                "do": self.tasks,
            }
        return {
            "id": self.id, "version": "1.0.0", "specVersion": "0.8", "functions": _FUNCTIONS, "retries": _RETRIES,
            "states": self.states, **dict(self.more),
        }  # fmt: skip

    async def start(self, client: Client, workflow_id: str, queue: str) -> Handle:
        """Start an instance, which continues as new every few events, and send it its events."""
        arguments = start_arguments(self.definitions(), self.data)
        handle = await client.start_workflow(self.definitions()[0].id, args=arguments, id=workflow_id, task_queue=queue)
        await self.send(handle)
        return handle

    async def send(self, handle: Handle) -> None:
        for number, kind in enumerate(self.sends):
            event = {"specversion": "1.0", "id": str(number), "source": "shop", "type": kind, "data": {kind: number}}
            await handle.signal(EVENT, {**event, "order": "7"})


def start_arguments(definitions: Sequence[Definition], data: JSON) -> Sequence[Any]:
    """Return the arguments of an instance of the first definition that continues as new every few events."""
    pin = Pin(pinned(definitions), definitions[0].version, others={SUSPEND_AFTER: FEW_EVENTS})
    return [data or {}, pin.to_json()]


def _one(name: str, *actions: Any, **rest: Any) -> list[dict[str, Any]]:
    return [operation(name, *actions, end=True, **rest)]


def _undo(name: str) -> dict[str, Any]:
    calls = [_call("show", {name: False}), _call("show", {f"un{name}": "${ .book }"})]
    return operation(f"Un{name}", *calls, usedForCompensation=True)


def _to_child(number: int) -> dict[str, Any]:
    data = {"fromStateData": "${ {sum: 0} }", "toStateData": f".c{number}"}
    return {"subFlowRef": "child", "actionDataFilter": data}


def _until(most: int, end: Any) -> list[dict[str, Any]]:
    more = switch("More", f"${{ .sum < {most} }}", {"end": {"continueAs": end}}, {"end": True})
    return [operation("Count", *_counting(4), transition="More"), more]


_ITEMS: dict[str, JSON] = {"items": [1, 2, 3, 4, 5, 6]}
_LOOP = {
    "name": "Each", "type": "foreach", "inputCollection": "${ .items }", "iterationParam": "item",
    "outputCollection": "${ .sums }", "batchSize": 2, "end": True,
    "actions": [
        _call("add", {"a": "${ .item }", "b": 1}),
        {**_call("add", {"a": "${ .sum }", "b": 10}), "sleep": {"before": "PT0.05S"}},
    ],
}  # fmt: skip
_SIDES = list(enumerate(("left", "middle", "right")))
_BRANCHES = [
    {"name": name, "actions": [_call("add", {"a": n, "b": m}, f".{name}{m}") for m in range(4)]} for n, name in _SIDES
]
_ALL_THREE = {
    "name": "Wait", "type": "event", "exclusive": False, "transition": "Ask",
    "onEvents": [
        {"eventRefs": [name], "actions": [_call("show", f"${{ .{name} }}", f".seen{name}")]} for name in ("a", "b", "c")
    ],
}  # fmt: skip
_ASK = {"name": "Ask", "type": "callback", "action": _call("show", {"asked": True}), "eventRef": "d"}
_EVENTS = consumed(*"abcd", source="shop", correlation=[{"contextAttributeName": "order"}])
_BOOKED = [
    operation(name, _call("show", {name.lower(): True}), compensatedBy=f"Un{name.lower()}", transition=following)
    for name, following in (("Book", "Pay"), ("Pay", "Send"))
]
_SEND = operation("Send", _call("broken"), onErrors=[{"errorRef": "all", "end": {"compensate": True}}], end=True)
_RUN_BEFORE = {"workflowExecTimeout": {"duration": "PT1H", "runBefore": "Tidy"}}
_TELL = {"functionRef": {"refName": ALONE, "arguments": {"told": True}, "invoke": "async"}}


def _task(name: str, function: str, given: Any, **rest: Any) -> dict[str, Any]:
    return {name: {"call": f"{function}:1.0.0@default", "with": given, **rest}}


def _plus(name: str, number: int) -> dict[str, Any]:
    return _task(name, "add", {"a": "${ .sum }", "b": number})


_HEAR = {"listen": {"to": {"all": [{"with": {"type": kind}} for kind in "ab"]}}, "output": {"as": "${ add }"}}
_PATIENT = {"delay": {"milliseconds": 50}, "backoff": {"exponential": {}}, "limit": {"attempt": {"count": 2}}}
_BROKEN = _task("broken", "broken", {})
_TASKS: list[dict[str, Any]] = [
    {"loop": {"for": {"each": "n", "in": "${ [1, 2, 3] }"}, "do": [_plus("one", 1), _plus("two", 2)]}},
    {"below": {"run": {"workflow": {"namespace": "dsl", "name": "child", "version": "1.0.0"}}}},
    {"both": {
        "fork": {"branches": [{"left": {"do": [_plus("l", 1), _plus("ll", 1)]}}, _plus("right", 9)]},
        "output": {"as": "${ {sums: map(.sum)} }"}, "export": {"as": "."}}},
    {"patient": {"try": [_BROKEN], "catch": {"retry": _PATIENT, "do": [{"anyway": {"set": {}}}]}}},
    {"hear": _HEAR},
    {"nap": {"wait": {"milliseconds": 200}}},
    {"end": {"set": "${ $context + {heard: .} }"}},
]  # fmt: skip
DSL_CHILD = Case("dsl.child", [], {"sum": 19}, tasks=[_plus("ten", 10)])
CHILD = Case("child", _one("Count", *_counting(3)), {"sum": 3})
CASES = (
    Case("calls", _one("Count", *_counting(9)), {"sum": 9}, {"sum": 0}),
    Case(
        "retries", _one("Try", *(_call("flaky", {"n": n}, f".r{n}", retryRef="patient") for n in range(5))),
        {f"r{n}": {"n": n} for n in range(5)},
    ),
    Case(
        "secrets",
        _one("Show", *(_call("show", {"said": "${ $SECRETS.token | length }", "n": n}, f".r{n}") for n in range(6))),
        {f"r{n}": {"said": 11, "n": n} for n in range(6)}, more=(("secrets", ["token"]),),
    ),
    Case("loop", [_LOOP], {**_ITEMS, "sums": [{"sum": n + 11} for n in range(1, 7)]}, _ITEMS),
    Case(
        "branches", [{"name": "Both", "type": "parallel", "branches": _BRANCHES, "end": True}],
        {f"{name}{m}": {"sum": n + m} for n, name in _SIDES for m in range(4)},
    ),
    Case(
        "events", [_ALL_THREE, {**_ASK, "transition": "Nap"}, sleeps("Nap", "PT0.2S", end=True)],
        {"a": 0, "b": 1, "c": 2, "d": 3, "seena": 0, "seenb": 1, "seenc": 2, "asked": True}, sends=("a", "b", "c", "d"),
        more=(("events", _EVENTS),),
    ),
    Case(
        "parents",
        [operation("Delegate", *map(_to_child, range(3)), transition="Count"), *_one("Count", *_counting(3))],
        {"sum": 3, "c0": {"sum": 3}, "c1": {"sum": 3}, "c2": {"sum": 3}}, {"sum": 0}, subflows=(CHILD,),
    ),
    Case(
        "undone", [*_BOOKED, _SEND, _undo("book"), _undo("pay")],
        {"book": False, "pay": False, "unpay": True, "unbook": False},
        more=(("errors", [{"name": "all", "code": "*"}]),),
    ),
    Case("rounds", _until(12, "rounds"), {"sum": 12}, {"sum": 0}),
    Case(
        "limited", [*_until(8, {"workflowId": "limited", **_LIMIT}), inject("Tidy", {"late": True}, end=True)],
        {"sum": 8}, {"sum": 0}, more=(("timeouts", _RUN_BEFORE),),
    ),
    Case(
        "dsl.upgraded", [], {"sums": [21, 28], "heard": {"a": 0, "b": 1}}, {"sum": 0}, sends=("a", "b"),
        subflows=(DSL_CHILD,), tasks=_TASKS,
    ),
    Case("leaving", _one("Tell", _TELL, *_counting(4)), {"sum": 4}, {"sum": 0}),
)  # fmt: skip
"""One for each kind of thing that a run stores."""
