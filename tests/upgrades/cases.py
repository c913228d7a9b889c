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

    def definitions(self) -> list[Definition]:
        own = {
            "id": self.id, "version": "1.0.0", "specVersion": "0.8", "functions": _FUNCTIONS, "retries": _RETRIES,
            "states": self.states, **dict(self.more),
        }  # fmt: skip
        return [load(own), *(one for case in self.subflows for one in case.definitions())]

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


CHILD = Case("child", [{"name": "Count", "type": "operation", "actions": _counting(3), "end": True}], {"sum": 3})

CASES = (
    Case(
        "calls", [{"name": "Count", "type": "operation", "actions": _counting(9), "end": True}], {"sum": 9}, {"sum": 0}
    ),
    Case(
        "retries",
        [
            {
                "name": "Try",
                "type": "operation",
                "actions": [_call("flaky", {"n": n}, f".r{n}", retryRef="patient") for n in range(5)],
                "end": True,
            }
        ],
        {f"r{n}": {"n": n} for n in range(5)},
    ),
    Case(
        "secrets",
        [
            {
                "name": "Show",
                "type": "operation",
                "actions": [
                    _call("show", {"said": "${ $SECRETS.token | length }", "n": n}, f".r{n}") for n in range(6)
                ],
                "end": True,
            }
        ],
        {f"r{n}": {"said": 11, "n": n} for n in range(6)},
        more=(("secrets", ["token"]),),
    ),
    Case(
        "loop",
        [
            {
                "name": "Each",
                "type": "foreach",
                "inputCollection": "${ .items }",
                "iterationParam": "item",
                "outputCollection": "${ .sums }",
                "batchSize": 2,
                "actions": [
                    _call("add", {"a": "${ .item }", "b": 1}),
                    {**_call("add", {"a": "${ .sum }", "b": 10}), "sleep": {"before": "PT0.05S"}},
                ],
                "end": True,
            }
        ],
        {"items": [1, 2, 3, 4, 5, 6], "sums": [{"sum": n + 11} for n in range(1, 7)]},
        {"items": [1, 2, 3, 4, 5, 6]},
    ),
    Case(
        "branches",
        [
            {
                "name": "Both",
                "type": "parallel",
                "branches": [
                    {"name": name, "actions": [_call("add", {"a": n, "b": m}, f".{name}{m}") for m in range(4)]}
                    for n, name in enumerate(("left", "middle", "right"))
                ],
                "end": True,
            }
        ],
        {f"{name}{m}": {"sum": n + m} for n, name in enumerate(("left", "middle", "right")) for m in range(4)},
    ),
    Case(
        "events",
        [
            {
                "name": "Wait",
                "type": "event",
                "exclusive": False,
                "onEvents": [
                    {"eventRefs": [name], "actions": [_call("show", f"${{ .{name} }}", f".seen{name}")]}
                    for name in ("a", "b", "c")
                ],
                "transition": "Ask",
            },
            {
                "name": "Ask",
                "type": "callback",
                "action": _call("show", {"asked": True}),
                "eventRef": "d",
                "transition": "Nap",
            },
            {"name": "Nap", "type": "sleep", "duration": "PT0.2S", "end": True},
        ],
        {"a": 0, "b": 1, "c": 2, "d": 3, "seena": 0, "seenb": 1, "seenc": 2, "asked": True},
        sends=("a", "b", "c", "d"),
        more=(
            (
                "events",
                [
                    {"name": n, "type": n, "source": "shop", "correlation": [{"contextAttributeName": "order"}]}
                    for n in "abcd"
                ],
            ),
        ),
    ),
    Case(
        "parents",
        [
            {
                "name": "Delegate",
                "type": "operation",
                "actions": [
                    {
                        "subFlowRef": "child",
                        "actionDataFilter": {"fromStateData": "${ {sum: 0} }", "toStateData": f".c{n}"},
                    }
                    for n in range(3)
                ],
                "transition": "Count",
            },
            {"name": "Count", "type": "operation", "actions": _counting(3), "end": True},
        ],
        {"sum": 3, "c0": {"sum": 3}, "c1": {"sum": 3}, "c2": {"sum": 3}},
        {"sum": 0},
        subflows=(CHILD,),
    ),
    Case(
        "undone",
        [
            {
                "name": name,
                "type": "operation",
                "actions": [_call("show", {name.lower(): True})],
                "compensatedBy": f"Un{name.lower()}",
                "transition": following,
            }
            for name, following in (("Book", "Pay"), ("Pay", "Send"))
        ]
        + [
            {
                "name": "Send",
                "type": "operation",
                "actions": [_call("broken")],
                "onErrors": [{"errorRef": "all", "end": {"compensate": True}}],
                "end": True,
            }
        ]
        + [
            {
                "name": f"Un{name}",
                "type": "operation",
                "usedForCompensation": True,
                "actions": [_call("show", {name: False}), _call("show", {f"un{name}": "${ .book }"})],
            }
            for name in ("book", "pay")
        ],
        {"book": False, "pay": False, "unpay": True, "unbook": False},
        more=(("errors", [{"name": "all", "code": "*"}]),),
    ),
    Case(
        "rounds",
        [
            {"name": "Count", "type": "operation", "actions": _counting(4), "transition": "More"},
            {
                "name": "More",
                "type": "switch",
                "dataConditions": [{"condition": "${ .sum < 12 }", "end": {"continueAs": "rounds"}}],
                "defaultCondition": {"end": True},
            },
        ],
        {"sum": 12},
        {"sum": 0},
    ),
    Case(
        "limited",
        [
            {"name": "Count", "type": "operation", "actions": _counting(4), "transition": "More"},
            {
                "name": "More",
                "type": "switch",
                "dataConditions": [
                    {"condition": "${ .sum < 8 }", "end": {"continueAs": {"workflowId": "limited", **_LIMIT}}}
                ],
                "defaultCondition": {"end": True},
            },
            {"name": "Tidy", "type": "inject", "data": {"late": True}, "end": True},
        ],
        {"sum": 8},
        {"sum": 0},
        more=(("timeouts", {"workflowExecTimeout": {"duration": "PT1H", "runBefore": "Tidy"}}),),
    ),
    Case(
        "leaving",
        [
            {
                "name": "Tell",
                "type": "operation",
                "actions": [
                    {"functionRef": {"refName": ALONE, "arguments": {"told": True}, "invoke": "async"}},
                    *_counting(4),
                ],
                "end": True,
            }
        ],
        {"sum": 4},
        {"sum": 0},
    ),
)
"""One for each kind of thing that a run stores."""
