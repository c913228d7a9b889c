"""Events reach instances of DSL 1.0 that wait for them, on a real server."""

import os
from typing import Any

import pytest

from swf_temporal.languages.loading import load
from swf_temporal.languages.port import Definition
from swf_temporal.temporal.client import result
from tests.temporal.conftest import Bench, until
from tests.temporal.test_event_starts import event, send


def listening(*to: dict[str, Any]) -> Definition:
    document = {"dsl": "1.0.3", "namespace": "test", "version": "1.0.0"}
    document["name"] = f"listening-{os.getpid()}-{next(Bench.numbers)}"
    tasks = [
        {f"hear{number}": {"listen": {"to": one}, "input": {"from": "$workflow.input"}}}
        for number, one in enumerate(to)
    ]
    return load({"document": document, "do": tasks, "output": {"as": "."}})


async def test_an_event_reaches_the_instance_that_expects_its_value(bench: Bench) -> None:
    correlated = {"with": {"type": "paid"}, "correlate": {"order": {"from": ".data.order", "expect": "${ .id }"}}}
    async with bench.worker(listening({"one": correlated})) as running:
        one, other = (
            await running.start_awaiting("paid", {"id": "1"}),
            await running.start_awaiting("paid", {"id": "2"}),
        )
        await send(running, event("a", "paid", "bank", {"order": "2"}), event("b", "paid", "bank", {"order": "1"}))
        assert await result(one) == [{"order": "1"}]
        assert await result(other) == [{"order": "2"}]


async def test_events_reach_an_instance_that_the_first_of_them_fixes(bench: Bench) -> None:
    both = [
        {"with": {"type": "ordered"}, "correlate": {"order": {"from": ".data.order"}}},
        {"with": {"type": "paid"}, "correlate": {"order": {"from": ".data.order"}}},
    ]
    async with bench.worker(listening({"all": both})) as running:
        one = await running.start_awaiting("ordered")
        for number, (kind, order) in enumerate([("ordered", "1"), ("paid", "2"), ("paid", "1")]):
            await send(running, event(str(number), kind, "shop", {"order": order}))
        assert await result(one) == [{"order": "1"}, {"order": "1"}]


async def test_events_reach_an_instance_by_patterns_and_without_a_type(bench: Bench) -> None:
    async with bench.worker(listening({"all": [{"with": {"type": "a[0-9]"}}, {"with": {"subject": "x"}}]})) as running:
        one = await running.start_awaiting("a[0-9]")
        await send(running, event("1", "b1", "s", 1), event("2", "a1", "s", 2), event("3", "c", "s", 3, subject="x"))
        assert await result(one) == [2, 3]


@pytest.mark.parametrize("correlated_first", [True, False])
async def test_waits_for_one_type_differ_in_what_they_expect(bench: Bench, *, correlated_first: bool) -> None:
    plain = {"one": {"with": {"type": "paid"}}}
    correlated = {
        "one": {"with": {"type": "paid"}, "correlate": {"order": {"from": ".data.order", "expect": "${ .id }"}}}
    }
    both = (correlated, plain) if correlated_first else (plain, correlated)
    async with bench.worker(listening(*both)) as running:
        one = await running.start_awaiting("paid", {"id": "1"})
        first, second = ("1", "9") if correlated_first else ("9", "1")
        await send(running, event("a", "paid", "bank", {"order": first}))
        await until(lambda: one.query("status"), lambda status: status["state"].endswith("hear1"))
        await running.awaiting(one, "paid")
        await send(running, event("b", "paid", "bank", {"order": second}))
        assert await result(one) == [{"order": second}]
