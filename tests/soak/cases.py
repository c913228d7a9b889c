"""What instances of a soak run: everything that a run stores, all types of states and tasks, and all languages."""

from dataclasses import dataclass, replace
from typing import Any

from temporalio.client import Client

from swf_temporal.base.data import JSON
from swf_temporal.languages.loading import load
from swf_temporal.languages.port import Definition
from swf_temporal.temporal.client import Handle
from swf_temporal.temporal.constants import EVENT
from tests.soak.service import FAILING
from tests.upgrades.cases import CASES, Case, start_arguments

_STUBBORN = {"name": "stubborn", "delay": "PT0.2S", "multiplier": 1.5, "maxDelay": "PT2S", "maxAttempts": 15}


def _patient(part: Any) -> Any:
    if isinstance(part, list):
        return [_patient(one) for one in part]
    if not isinstance(part, dict):
        return part
    part = {key: _patient(one) for key, one in part.items()}
    called = part.get("functionRef")
    name = called.get("refName") if isinstance(called, dict) else called
    return {"retryRef": "stubborn", **part} if name and name not in FAILING else part


def _resilient(case: Case) -> Case:
    retries = [_STUBBORN, {**_STUBBORN, "name": "patient"}]
    return replace(
        case, states=_patient(case.states), more=(*case.more, ("retries", retries)),
        subflows=tuple(_resilient(one) for one in case.subflows),
    )  # fmt: skip


def _call(name: str, arguments: Any, to: str) -> dict[str, Any]:
    return {
        "functionRef": {"refName": name, "arguments": arguments},
        "actionDataFilter": {"toStateData": f"${{ {to} }}"},
    }


DECIDED = Case(
    "decided",
    [
        {"name": "Begin", "type": "inject", "data": {"kind": "parcel"}, "transition": "Which"},
        {"name": "Which", "type": "switch", "defaultCondition": {"end": True},
         "dataConditions": [{"condition": '${ .kind == "parcel" }', "transition": "Late"}]},
        {"name": "Late", "type": "operation", "actions": [{"functionRef": "sleepy"}], "transition": "Never",
         "timeouts": {"actionExecTimeout": "PT1S"}, "onErrors": [{"errorRef": "all", "transition": "Never"}]},
        {"name": "Never", "type": "switch", "eventConditions": [{"eventRef": "never", "end": True}],
         "defaultCondition": {"transition": "Hear"}, "timeouts": {"eventTimeout": "PT1S"}},
        {"name": "Hear", "type": "switch", "eventConditions": [{"eventRef": "a", "transition": "Tell"}],
         "defaultCondition": {"end": True}, "timeouts": {"eventTimeout": "PT1H"}},
        {"name": "Tell", "type": "operation", "actions": [_call("show", {"heard": True}, ".told")], "end": True},
    ],
    {"kind": "parcel", "a": 0, "told": {"heard": True}},
    sends=("a",),
    more=(
        ("errors", [{"name": "all", "code": "*"}]),
        ("events", [{"name": n, "type": n, "source": "shop"} for n in ("a", "never")]),
        ("functions", [{"name": name, "type": "custom"} for name in ("show", "sleepy")]),
    ),
)  # fmt: skip
"""A call that is timed out, an event that never comes, and one that does."""

_ADD = {"functionRef": {"refName": "add", "arguments": {"a": 1, "b": 1}}}
SCHEDULED: dict[str, Any] = {
    "id": "scheduled-soak", "version": "1.0.0", "specVersion": "0.8",
    "start": {"stateName": "Add", "schedule": "R/PT2S"},
    "functions": [{"name": "add", "type": "custom"}],
    "retries": [_STUBBORN],
    "states": [{"name": "Add", "type": "operation", "actions": [_patient(_ADD)], "end": True}],
}  # fmt: skip
"""What the server starts every two seconds."""

_RETRIES = {"max_attempts": 15, "delay": "PT0.2S", "multiplier": 1.3, "codes": ["*"]}
_FUNCTIONS = [{"id": name, "type": "knative-workflow", "image": f"shop/{name}"} for name in ("show", "add", "broken")]


def _ask(name: str, given: Any) -> dict[str, Any]:
    return {"function": name, "input": given, "retries": _RETRIES}


@dataclass(frozen=True, slots=True)
class WholeCase:
    """Definitions as they are written, in any language."""

    id: str
    texts: tuple[dict[str, Any], ...]
    output: JSON
    data: JSON = None
    sends: tuple[str, ...] = ()

    def definitions(self) -> list[Definition]:
        return [load(text) for text in self.texts]

    async def start(self, client: Client, workflow_id: str, queue: str) -> Handle:
        arguments = start_arguments(self.definitions(), self.data)
        handle = await client.start_workflow(self.definitions()[0].id, args=arguments, id=workflow_id, task_queue=queue)
        await self.send(handle)
        return handle

    async def send(self, handle: Handle) -> None:
        for kind in self.sends:
            await handle.signal(
                EVENT, {"specversion": "1.0", "id": kind, "source": "shop", "type": kind, "data": {"order": 7}}
            )


DIREKTIV = (
    WholeCase(
        "/soak-states",
        (
            {
                "id": "/soak-states",
                "functions": _FUNCTIONS,
                "states": [
                    {"id": "check", "type": "validate", "schema": {"type": "object", "required": ["list"]},
                     "transition": "first"},
                    {"id": "first", "type": "action", "action": _ask("show", {"n": 1}),
                     "transform": {"list": "jq(.list)", "first": "jq(.return.n)"}, "transition": "which"},
                    {"id": "which", "type": "switch",
                     "conditions": [{"condition": "jq(.first == 1)", "transition": "keep"}]},
                    {"id": "keep", "type": "setter",
                     "variables": [{"key": "kept", "scope": "instance", "value": "jq(.first + 1)"}],
                     "transition": "fetch"},
                    {"id": "fetch", "type": "getter", "variables": [{"key": "kept", "scope": "instance"}],
                     "transition": "rest"},
                    {"id": "rest", "type": "delay", "duration": "PT1S", "transition": "each"},
                    {"id": "each", "type": "foreach", "array": "jq([.list[] | {n: .}])",
                     "action": _ask("show", "jq(.)"),
                     "transform": {"kept": "jq(.var.kept)", "each": "jq([.return[].n])"}, "transition": "both"},
                    {"id": "both", "type": "parallel", "actions": [_ask("show", {"n": 8}), _ask("show", {"n": 9})],
                     "transform": {"kept": "jq(.kept)", "each": "jq(.each)", "both": "jq([.return[].n])"},
                     "transition": "fail"},
                    {"id": "fail", "type": "action", "action": {"function": "broken"},
                     "catch": [{"error": "*", "transition": "end"}], "transition": "end"},
                    {"id": "end", "type": "noop", "transform": "jq(del(.error) | del(.return))"},
                ],
            },
        ),
        {"kept": 2, "each": [1, 2, 3], "both": [8, 9]},
        {"list": [1, 2, 3]},
    ),
    WholeCase(
        "/soak-events",
        (
            {
                "id": "/soak-events",
                "functions": [*_FUNCTIONS, {"id": "sub", "type": "subflow", "workflow": "/soak-sub"}],
                "states": [
                    {"id": "one", "type": "consumeEvent", "event": {"type": "a"}, "transition": "all"},
                    {"id": "all", "type": "eventAnd", "events": [{"type": "b"}, {"type": "c"}], "transition": "any"},
                    {"id": "any", "type": "eventXor",
                     "events": [{"event": {"type": "d"}, "transition": "call"},
                                {"event": {"type": "never"}, "transition": "call"}]},
                    {"id": "call", "type": "action", "action": {"function": "sub", "input": {"n": 4}},
                     "transform": {"sub": "jq(.return.n)"}},
                ],
            },
            {
                "id": "/soak-sub",
                "functions": _FUNCTIONS,
                "states": [{"id": "show", "type": "action", "action": _ask("show", "jq(.)"),
                            "transform": {"n": "jq(.return.n)"}}],
            },
        ),
        {"sub": 4},
        sends=("a", "b", "c", "d"),
    ),
)  # fmt: skip

_DOCUMENT = {"dsl": "1.0.3", "namespace": "dsl", "version": "1.0.0"}
_USED = {
    "retries": {"stubborn": {"delay": {"milliseconds": 300}, "limit": {"attempt": {"count": 25}}}},
    "functions": {
        "asked": {
            "try": [{"show": {"call": "show:1.0.0@default", "with": {"n": "${ .n }"}}}], "catch": {"retry": "stubborn"},
        },
    },
    "extensions": [{"told": {
        "extend": "emit", "before": [{"pause": {"wait": {"milliseconds": 100}}}], "after": [{"note": {"set": {}}}],
    }}],
}  # fmt: skip
_BROKEN: dict[str, Any] = {"broken": {"call": "broken:1.0.0@default", "with": {}}}
_SLEEPY: dict[str, Any] = {"sleepy": {"call": "sleepy:1.0.0@default", "with": {}, "timeout": {"after": {"seconds": 1}}}}
_HOUR: dict[str, Any] = {"wait": {"hours": 1}}


def _asked(number: Any, **rest: Any) -> dict[str, Any]:
    return {"call": "asked", "with": {"n": number}, **rest}


def _of_shop(kind: str) -> dict[str, Any]:
    return {"with": {"type": kind}, "correlate": {"order": {"from": ".data.order"}}}


DSL = (
    WholeCase(
        "dsl.tasks",
        (
            {
                "document": {**_DOCUMENT, "name": "tasks"},
                "use": _USED,
                "do": [
                    {"first": _asked(1, output={"as": "${ [.n] }"})},
                    {"loop": {"for": {"each": "i", "in": "${ [1, 2, 3] }"}, "do": [
                        {"inner": {"for": {"each": "j", "in": "${ [1, 2] }"}, "do": [
                            {"each": _asked("${ $i * 10 + $j }", output={"as": "${ $task.input + [.n] }"})}]}}]}},
                    {"both": {"fork": {"branches": [
                        {"left": _asked(8)},
                        {"right": {"do": [{"pause": {"wait": {"seconds": 1}}}, {"later": _asked(9)}]}}]},
                        "output": {"as": "${ $input + [.[].n] }"}}},
                    {"race": {"fork": {"compete": True, "branches": [
                        {"lost": {"do": [_BROKEN]}}, {"won": _asked(10)}, {"late": _HOUR}]},
                        "output": {"as": "${ $input + [.n] }"}}},
                    {"safe": {"try": [_SLEEPY], "catch": {"do": [{"handled": _asked(11)}]},
                              "output": {"as": "${ $input + [.n] }"}}},
                    {"given": {"try": [_BROKEN], "catch": {"as": "problem", "retry": {
                        "delay": {"milliseconds": 500}, "limit": {"attempt": {"count": 2}}}, "then": "tell"}}},
                    {"never": {"set": {"never": True}}},
                    {"tell": {"emit": {"event": {"with": {"type": "told", "source": "soak"}}},
                              "output": {"as": "${ $input }"}}},
                ],
            },
        ),
        [1, 11, 12, 21, 22, 31, 32, 8, 9, 10, 11],
    ),
    WholeCase(
        "dsl.heard",
        (
            {
                "document": {**_DOCUMENT, "name": "heard"},
                "use": _USED,
                "do": [
                    {"all": {"listen": {"to": {"all": [_of_shop("a"), _of_shop("b")]}}, "foreach": {
                        "do": [{"seen": _asked("${ $index }")}, {"pause": {"wait": {"milliseconds": 200}}}],
                        "output": {"as": "${ $index }"}}, "export": {"as": "${ . }"}}},
                    {"until": {"listen": {"to": {"any": [{"with": {"type": "c"}}], "until": {
                        "one": {"with": {"type": "d"}}}}, "read": "envelope"},
                        "output": {"as": "${ [.[].type] }"}, "export": {"as": "${ $context + . }"}}},
                    {"late": {"try": [{"never": {"listen": {"to": {"one": {"with": {"type": "never"}}}},
                                                 "timeout": {"after": {"seconds": 1}}}}],
                              "catch": {"errors": {"with": {"status": 408}}}}},
                    {"child": {"run": {"workflow": {
                        "namespace": "dsl", "name": "child", "version": "1.0.0", "input": {"n": 4}}}}},
                ],
                "output": {"as": "${ {heard: $context, child: .n} }"},
            },
            {
                "document": {**_DOCUMENT, "name": "child"},
                "use": _USED,
                "do": [{"pause": {"wait": {"milliseconds": 500}}}, {"ask": _asked("${ .n }")}],
                "output": {"as": "${ {n} }"},
            },
        ),
        {"heard": [0, 1, "c"], "child": 4},
        sends=("a", "b", "c", "d"),
    ),
)  # fmt: skip

# The case of DSL 1.0 there is not made for services that fail: those of `DSL` are.
RESILIENT = (*(_resilient(case) for case in CASES if case.tasks is None), _resilient(DECIDED))

CALLS = {
    "calls": 9, "retries": 5, "secrets": 6, "loop": 12, "branches": 12, "events": 4, "parents": 12, "undone": 6,
    "rounds": 12, "limited": 8, "leaving": 5, "decided": 1, "/soak-states": 6, "/soak-events": 1,
    "dsl.tasks": 11, "dsl.heard": 3,
}  # fmt: skip
"""How many calls an instance makes, however often each is made again: each has an idempotency key of its own."""

ANEW = frozenset(one.id.strip("/") for one in (*DIREKTIV, *DSL))
"""The cases in whose languages another attempt is another call, with a number and a key of its own."""
