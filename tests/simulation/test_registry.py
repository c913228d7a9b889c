"""A simulation with the functions of a registry, and what a test is told that would otherwise hold for nothing."""

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date

import pytest
from pydantic import BaseModel

from swf_temporal import JSON, Call, CloudEvent, Registry, UsageError, current_call, current_resource, simulate
from tests.definitions import definition

DEFINITION = definition("""\
id: order
functions:
  - {name: price, type: custom}
  - {name: shout, type: echo, operation: loud}
  - {name: place, operation: "rest:POST:https://shop.example/orders"}
errors: [{name: any, code: KeyError}]
states:
  - name: Price
    type: operation
    actions:
      - {functionRef: {refName: price, arguments: {item: {name: lamp, since: "2024-05-01"}, number: 2}}}
      - {functionRef: {refName: shout, arguments: {text: hi}}}
      - {functionRef: {refName: place, arguments: {item: lamp}}}
    onErrors: [{errorRef: any, end: true}]
    end: true
""")


class Item(BaseModel):
    name: str
    since: date


@pytest.fixture
def registry() -> Registry:
    registry = Registry()

    @registry.custom("price")
    def price(item: Item, number: int, currency: str = "EUR") -> dict[str, object]:
        assert threading.current_thread() is not threading.main_thread()
        return {"total": 12 * number, "currency": currency, "since": item.since}

    @registry.type("echo")
    class Echo:
        async def perform(self, call: Call) -> JSON:
            assert isinstance(call.arguments, dict)
            return {"echo": str(call.arguments["text"]).upper()}

    @registry.custom("place")
    async def place(item: str) -> dict[str, str]:
        return {"placed": item}

    return registry


def test_functions_are_called_as_by_a_worker(registry: Registry) -> None:
    """By keywords, with models; those of a type of one's own, too, and one for a service by its name."""
    run = simulate(DEFINITION, functions=registry).raise_for_status()
    assert run.output == {
        "total": 24, "currency": "EUR", "since": "2024-05-01", "echo": "HI", "placed": "lamp",
    }  # fmt: skip
    assert [name for name, _ in run.calls] == ["price", "shout", "place"]


def test_functions_know_their_call_and_resources(registry: Registry) -> None:
    told: list[object] = []

    @registry.resource
    @asynccontextmanager
    async def pool() -> AsyncIterator[str]:
        told.append("open")
        yield "pool"
        told.append("closed")

    async def place(item: str) -> dict[str, str]:
        call = current_call()
        told.append((call.function, call.definition, call.state, call.action, call.attempt, current_resource(pool)))
        return {"placed": item}

    registry["place"] = place
    simulate(DEFINITION, functions=registry).raise_for_status()
    assert told == ["open", ("place", "order", "Price", "place", 1, "pool"), "closed"]


def test_wrong_arguments_and_what_leaves_the_process(registry: Registry) -> None:
    wrong = simulate(DEFINITION.replace("number: 2", "count: 2"), functions=registry)
    assert wrong.error is not None
    assert wrong.error.code == "BadArguments"
    del registry["place"]
    outside = simulate(DEFINITION, functions=registry)
    assert outside.error is not None
    assert (outside.error.code, outside.error.message) == (
        "NotScripted", "function 'place' is called elsewhere: register a stand-in",
    )  # fmt: skip


def test_an_exception_is_the_cause(registry: Registry) -> None:
    async def place(item: str) -> dict[str, str]:
        known: dict[str, str] = {}
        return {"placed": known[item]}

    registry["place"] = place
    run = simulate(DEFINITION.replace("onErrors: [{errorRef: any, end: true}]\n    ", ""), functions=registry)
    cause = run.fault
    seen = []
    while cause is not None:
        seen.append(type(cause).__name__)
        cause = cause.__cause__  # type: ignore[assignment]  # whatever it is
    assert seen[-1] == "KeyError"


@pytest.mark.parametrize("registered", [True, False])
def test_a_failed_assertion_comes_out(registry: Registry, *, registered: bool) -> None:
    def price(*_: object, **__: object) -> None:
        raise AssertionError("it costs more")

    registry["price"] = price
    functions = registry if registered else {**registry, "shout": {}, "place": {}}
    with pytest.raises(AssertionError, match="it costs more"):
        simulate(DEFINITION.replace("code: KeyError", 'code: "*"'), functions=functions)


def test_strictness() -> None:
    """A stub for nothing, and an event that nothing takes, make a strict simulation fail."""
    stubs: dict[str, object] = {"price": {}, "shout": {}, "place": {}}
    stray = CloudEvent(id="1", source="bank", type="paid")
    run = simulate(DEFINITION, functions={**stubs, "plaice": 5}, events=[stray])
    assert run.status == "completed"
    assert [one["type"] for one in run.untaken_events] == ["paid"]
    with pytest.raises(UsageError, match=r"no definition has a function 'plaice'\n  did you mean 'place'\?"):
        simulate(DEFINITION, functions={**stubs, "plaice": 5}, strict=True)
    with pytest.raises(UsageError, match="no state took 'paid' from 'bank'"):
        simulate(DEFINITION, functions=stubs, events=[stray], strict=True)
