"""Search attributes and other options of a start: set, kept by all that becomes of an instance, and searched by."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import httpx
import pytest
from temporalio.client import WorkflowExecutionDescription
from temporalio.common import Priority, RetryPolicy, SearchAttributeKey, SearchAttributePair, TypedSearchAttributes

from swf_temporal import RunEnded
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, UsageError
from swf_temporal.events.routing import instance_id
from swf_temporal.languages.loading import load
from swf_temporal.languages.port import Definition
from swf_temporal.operations.client import Client
from swf_temporal.operations.instances import facts_of
from swf_temporal.operations.listing import Conditions, filter_of, listed
from swf_temporal.operations.rerunning import plan_rerun
from swf_temporal.sdk.worker import Worker
from swf_temporal.settings.worker import WorkerSettings
from swf_temporal.temporal.client import Handle
from swf_temporal.temporal.instance_part import OperatorOptions, OperatorOptionsInterceptor
from swf_temporal.temporal.search_attributes import needed_by, set_up
from swf_temporal.temporal.server import local_server
from swf_temporal.temporal.start_options import BUSINESS_KEY, StartOptions
from tests.temporal.building import awaits, inject, subflow
from tests.temporal.conftest import (
    AT_ONCE,
    Bench,
    Running,
    calling,
    define,
    named,
    outcome,
    replays,
    told_in,
    until,
    was_continued,
)
from tests.temporal.suspending import suspending
from tests.temporal.test_event_starts import ORDER, event, send
from tests.temporal.test_gateway import served

pytestmark = pytest.mark.temporal

NAMED = {
    "Customer": "${ .customer.id }",
    "Total": {"type": "Double", "value": "${ .total }"},
    "Number": {"type": "Int", "value": "${ .number }"},
    "Due": {"type": "Datetime", "value": "${ .due }"},
    "IsRush": {"type": "Bool", "value": "${ .rush }"},
    "Team": "blue",
}
ON = OperatorOptionsInterceptor(suspending(search_attributes=True))
OFF = OperatorOptionsInterceptor(suspending())


@pytest.fixture(scope="module")
async def searched() -> AsyncIterator[Bench]:
    """Return what runs definitions on a server on which the search attributes of these tests are registered."""
    registered = [part for one in _REGISTERED for part in ("--search-attribute", one)]
    async with local_server(extra=[*AT_ONCE, *registered]) as server:
        await set_up(server.client, NEEDED)
        yield Bench(server)


def waiting(name: str, attributes: Mapping[str, Any] | None = None, **rest: Any) -> Definition:
    """Return a definition that passes a state at once, waits for an event, and then calls what may fail."""
    return define(
        inject("First"), awaits("Wait", "Go"), calling("Work", "f"), functions=("f",),
        events=[{"name": "Go", "type": "go", "source": "test"}], id=name,
        **({} if attributes is None else {"metadata": {"searchAttributes": attributes}}), **rest,
    )  # fmt: skip


NEEDED = needed_by([waiting("any", NAMED)])
"""What has to be registered for these tests."""


def fail(_: Any) -> Any:
    raise CallFailed("no", name="Broken", code="BROKEN")


async def attributes_of(handle: Handle) -> dict[str, Any]:
    """Return the search attributes of an instance that are not the SDK's, without the time of its last step."""
    found = {one.key.name: one.value for one in (await handle.describe()).typed_search_attributes}
    return {name: value for name, value in found.items() if not name.startswith(("BuildId", "Temporal", "SwfSince"))}


async def upserts(handle: Handle) -> list[dict[str, Any]]:
    found = []
    for one in await told_in(handle, "upsert_workflow_search_attributes"):
        fields = one.search_attributes.indexed_fields
        values = {
            name: json.loads(value.data or "null")
            for name, value in fields.items()
            if name not in ("TemporalChangeVersion", "SwfSince")
        }
        if values:
            found.append(values)
    return found


async def go(running: Running, handle: Handle, *, ends: bool = True) -> None:
    """Send the event that the instance waits for, and let it end."""
    await running.awaiting(handle, "Go")
    await running.send(handle, event("go", "go", "test"))
    with nullcontext() if ends else pytest.raises(RunEnded):
        await outcome(handle)


async def test_they_follow_the_run_to_its_error(searched: Bench) -> None:
    """Those known at the start are set with the first state that waits, then states, then the error."""
    definition = waiting("followed", NAMED)
    given: JSON = {"customer": {"id": 7}, "total": 12.5, "number": 3, "due": "2030-05-06T07:00:00Z", "rush": True}
    async with searched.worker(definition, interceptors=[ON], f=fail) as running:
        handle = await running.start_awaiting("Go", given, options={"memo": {BUSINESS_KEY: "b-1"}})
        found = await attributes_of(handle)
        assert found.pop("Due").isoformat() == "2030-05-06T07:00:00+00:00"
        assert found == {
            "SwfVersion": "1.0.0", "SwfState": "Wait", "SwfBusinessKey": "b-1", "Customer": "7", "Total": 12.5,
            "Number": 3, "IsRush": True, "Team": "blue", "SwfWaitsFor": ["Go"],
        }  # fmt: skip
        await go(running, handle, ends=False)
        found = await attributes_of(handle)
        assert [found[f"Swf{one}"] for one in ("State", "ErrorName", "ErrorCode")] == ["Work", "Broken", "BROKEN"]
        first, *others = await upserts(handle)
        assert first["SwfState"] == "Wait"
        error = {"SwfErrorName": "Broken", "SwfErrorCode": "BROKEN"}
        assert others == [{"SwfState": "Work", "SwfWaitsFor": None}, error]


@pytest.mark.parametrize(("begun", "replayed"), [(ON, OFF), (OFF, ON)])
async def test_a_replay_goes_by_the_history(
    searched: Bench, begun: OperatorOptionsInterceptor, replayed: OperatorOptionsInterceptor
) -> None:
    """Whatever the worker is told that replays it; without them, there is nothing of them in the history."""
    definition = waiting("replayed", {"Customer": "${ .customer }"})
    async with searched.worker(definition, interceptors=[begun], f=1) as running:
        handle = await running.start_awaiting("Go", {"customer": "c"})
        queue = running.queue
    async with searched.worker(definition, interceptors=[replayed], queue=queue, f=1) as running:
        await go(running, handle)
    is_on = begun is ON
    assert bool(await upserts(handle)) == is_on
    assert (await attributes_of(handle) == {}) == (not is_on)
    assert bool(await told_in(handle, "marker_recorded")) == is_on
    history = await handle.fetch_history()
    for interceptors in ((OperatorOptionsInterceptor(OperatorOptions()),), (ON,), (OFF,)):
        assert await replays(history, *interceptors) is None


async def test_what_cannot_be_had_is_left_out(searched: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """A value of another type, one that fails, one that is missing, and an attribute that is not registered."""
    others = {
        "IsRush": {"type": "Keyword", "value": "${ .rush }"}, "Unknown": "${ .customer }", "Team": "${ .team }"
    }  # fmt: skip
    definition = waiting("left-out", {**NAMED, **others})
    given: JSON = {"customer": "c", "total": "a lot", "number": 2**63, "rush": True, "team": "é" * 300 + "\0"}
    async with searched.worker(definition, interceptors=[ON], f=1) as running:
        handle = await running.start(given)
        await go(running, handle)
    found = await attributes_of(handle)
    assert found == {"SwfVersion": "1.0.0", "SwfState": "Work", "Team": "é" * 255}
    told = [one.getMessage() for one in caplog.records if "search attribute" in one.getMessage()]
    assert [one.partition(" (")[0] for one in told] == [
        "the search attribute 'Customer' is left out: ExpressionFailed where it is evaluated",
        "the search attribute 'Total' is left out: it is not Double",
        "the search attribute 'Number' is left out: it is not Int",
        "the search attribute 'IsRush' is not registered as Keyword",
        "the search attribute 'Unknown' is not registered as Keyword",
    ]


async def test_a_moment_is_set_in_utc(searched: Bench) -> None:
    """ISO 8601 has offsets with seconds, which a server takes for no moment: it would refuse the task for ever."""
    definition = waiting("moments", {"Due": {"type": "Datetime", "value": "${ .due }"}})
    async with searched.worker(definition, interceptors=[ON], f=1) as running:
        handle = await running.start({"due": "2026-01-01T00:00:00+01:00:30"})
        await go(running, handle)
    assert (await attributes_of(handle))["Due"] == datetime(2025, 12, 31, 22, 59, 30, tzinfo=UTC)


async def test_other_executions_go_on_with_them(searched: Bench) -> None:
    """A run that continues as new keeps them without a marker, whatever its next worker is told."""
    definition = define(
        *(calling(name, "f") for name in "ABC"), awaits("Wait", "Go"), functions=("f",),
        events=[{"name": "Go", "type": "go", "source": "test"}], id="continued",
        metadata={"searchAttributes": {"Customer": "${ .customer }"}},
    )  # fmt: skip
    async with searched.worker(definition, interceptors=[ON], f={"customer": "another"}) as running:
        handle = await running.start({"customer": "c"}, suspend_after=20)
        await running.awaiting(searched.handle(handle), "Go")
        queue = running.queue
    latest = searched.handle(handle)
    assert await was_continued(latest)
    async with searched.worker(definition, interceptors=[OFF], queue=queue) as running:
        await go(running, latest)
    assert await attributes_of(latest) == {"SwfVersion": "1.0.0", "SwfState": "Wait", "Customer": "c"}
    assert await told_in(latest, "marker_recorded") == []
    history = await latest.fetch_history()
    assert [await replays(history, one) for one in (ON, OFF)] == [None, None]


async def test_a_continuation_has_those_of_its_own_definition(searched: Bench) -> None:
    following = waiting("following", {"Customer": "${ .customer }"}, version="2.0.0")
    first = define(inject("Start", {"customer": "d"}, end={"continueAs": "following"}), id="before")
    async with searched.worker(first, following, interceptors=[ON], f=1) as running:
        handle = await running.start({})
        latest = searched.handle(handle)
        await until(lambda: attributes_of(latest), lambda one: one.get("SwfVersion") == "2.0.0")
        waits: JSON = {"SwfVersion": "2.0.0", "SwfState": "Wait", "SwfWaitsFor": ["Go"], "Customer": "d"}
        assert await attributes_of(latest) == waits
        await go(running, latest)


async def test_a_sub_workflow_has_its_own(searched: Bench) -> None:
    """And not those of the instance that waits for it, nor the key by which that one is known."""
    child = waiting("child", {"Customer": "${ .customer }"}, version="3")
    parent = define(subflow("Sub", "child"), id="parent")
    async with searched.worker(parent, child, interceptors=[ON], f=1) as running:
        handle = await running.start({"customer": "c"}, options={"memo": {BUSINESS_KEY: "b"}})
        facts = await until(lambda: facts_of(Client(searched.client), handle.id), lambda one: one.get("subflows"))
        inner = searched.handle(facts["subflows"][0])
        await running.awaiting(inner, "Go")
        waits: JSON = {"SwfVersion": "3", "SwfState": "Wait", "SwfWaitsFor": ["Go"], "Customer": "c"}
        assert await attributes_of(inner) == waits
        assert await attributes_of(handle) == {"SwfVersion": "1.0.0", "SwfState": "Sub", "SwfBusinessKey": "b"}
        await go(running, inner)
        await outcome(handle)


async def test_a_workflow_of_direktiv_has_those_of_all(searched: Bench) -> None:
    definition = load("states: [{id: greet, type: noop, transition: end}, {id: end, type: noop}]", name="/greet.yaml")
    async with searched.worker(definition, interceptors=[ON]) as running:
        handle = await running.start({}, workflow_id="greeting")
        await outcome(handle)
    assert await attributes_of(handle) == {"SwfState": "end"}


async def test_a_rerun_is_rid_of_the_error(searched: Bench) -> None:
    attempts = count(1)
    async with searched.worker(
        waiting("again"), interceptors=[ON], f=lambda data: fail(data) if next(attempts) == 1 else 1
    ) as running:
        handle = await running.start({})
        await go(running, handle, ends=False)
        assert (await attributes_of(handle))["SwfErrorCode"] == "BROKEN"
        client = Client(searched.client)
        run = await (await plan_rerun(client, handle.id, "Work")).begin(client)
        again = searched.handle(handle, run)
        await outcome(again)
        assert await attributes_of(again) == {"SwfVersion": "1.0.0", "SwfState": "Work"}


async def test_lists_are_filtered_by_them(searched: Bench) -> None:
    """By each, and show them, as the gateway does; a text is found that is longer than an attribute holds."""
    key = "b's " + "é" * 300
    definition = waiting("listed")
    async with (
        searched.worker(definition, interceptors=[ON], f=fail) as running,
        served(searched, [definition], running.queue) as client,
    ):
        handle = await running.start({}, options={"memo": {BUSINESS_KEY: key}})
        other = await running.start({})
        await go(running, handle, ends=False)
        await running.awaiting(other, "Go")
        wanted = {"version": "1.0.0", "state": "Work", "businessKey": key, "errorCode": "BROKEN"}
        for names in (["state"], ["businessKey"], ["errorCode"], list(wanted)):
            wish = filter_of(None, "listed", conditions=Conditions(attributes={name: wanted[name] for name in names}))
            assert [row["id"] for row in await rows(searched, wish)] == [handle.id]
            shown = await rows_over_http(client, {name: wanted[name] for name in names})
            assert [one["id"] for one in shown] == [handle.id]
        [row] = await rows(searched, filter_of(None, "listed", conditions=Conditions(attributes={"state": "Wait"})))
        assert (row["id"], row["state"], row["version"]) == (other.id, "Wait", "1.0.0")
        assert {"businessKey", "errorCode"}.isdisjoint(row)
        assert await rows_over_http(client, {"state": "Wait"}) == [row]
        await other.terminate()


async def test_what_they_wait_for_is_found(searched: Bench) -> None:
    """While they wait, by the event and by for how long; afterwards by the error, its name or its code, and time."""
    definition = waiting("found")
    begun = datetime.now(UTC)

    def wish(**conditions: Any) -> str:
        return filter_of(None, "found", conditions=Conditions(**conditions))

    async with searched.worker(definition, interceptors=[ON], f=fail) as running:
        waits, fails, over = [await running.start_awaiting("Go", {}, workflow_id=f"found-{n}") for n in range(3)]
        await until(lambda: rows(searched, wish(waits_for="Go")), lambda one: len(one) == 3)
        await over.terminate()
        await go(running, fails, ends=False)
        for error in ("Broken", "BROKEN"):
            [failed] = await rows(searched, wish(error=error, ended_since=begun, found_by="found-1"))
            assert (failed["id"], failed["errorName"], failed.get("waitsFor")) == (fails.id, "Broken", None)
        lasting = wish(waits_for="Go", longer_than=timedelta(milliseconds=1), started_since=begun)
        [row] = await until(lambda: rows(searched, lasting), lambda one: len(one) == 1)
        assert (row["id"], row["waitsFor"]) == (waits.id, ["Go"])
        assert datetime.fromisoformat(row["since"]) >= begun
        nothing = (
            {"longer_than": timedelta(hours=1)}, {"waits_for": "Stop"}, {"started_before": begun},
            {"error": "Broken", "ended_before": begun}, {"error": "broken"}, {"found_by": "ound"},
        )  # fmt: skip
        for conditions in nothing:
            assert (await listed(Client(searched.client), wish(**conditions), 10)).rows == [], conditions
        await waits.terminate()


async def rows(bench: Bench, wanted: str) -> list[dict[str, Any]]:
    """Return what is listed, once there is anything: the server lists some time late."""
    found = await until(lambda: listed(Client(bench.client), wanted, 10), lambda one: one.rows)
    return list(found.rows)


async def rows_over_http(client: httpx.AsyncClient, parameters: dict[str, str]) -> list[dict[str, Any]]:
    """Return what the gateway lists, once there is anything."""
    answer = await until(lambda: client.get("/instances", params=parameters), lambda one: one.json()["instances"])
    assert answer.status_code == 200, answer.text
    return list(answer.json()["instances"])


async def test_what_is_not_registered_is_told(bench: Bench) -> None:
    """By a worker that is to set them, which does not begin, and by a list that is to be filtered by them."""
    unprepared = Client(bench.client)
    definition = waiting("missing", {"Total": {"type": "Double", "value": "${ .total }"}})
    settings = WorkerSettings(task_queue="missing", search_attributes=True)
    with pytest.raises(UsageError, match=r"lacks the search attributes SwfVersion \(Keyword\), .*, Total \(Double\)"):
        async with Worker(unprepared, definitions=[definition], settings=settings):
            pass
    with pytest.raises(UsageError, match="lacks the search attribute SwfState") as refused:
        await listed(unprepared, filter_of(None, None, conditions=Conditions(attributes={"state": "A"})), 10)
    assert "swf setup" in str(refused.value)
    async with served(bench, [definition], "missing") as client:
        answer = await client.get("/instances", params={"errorCode": "A"})
        assert (answer.status_code, answer.json()["code"]) == (409, "not-registered")
    async with Worker(unprepared, definitions=[definition], settings=WorkerSettings(task_queue="without")):
        pass


async def test_one_of_another_type_is_told(searched: Bench) -> None:
    """By the set-up and by a worker; and one that two definitions give two types by neither's server."""
    wrong = waiting("wrong", {"Total": {"type": "Int", "value": "${ .total }"}})
    settings = WorkerSettings(task_queue="wrong", search_attributes=True)
    with pytest.raises(UsageError, match=r"has the type Double .* and Int is needed"):
        async with Worker(Client(searched.client), definitions=[wrong], settings=settings):
            pass
    with pytest.raises(UsageError, match="is Double in 'right', and Int in 'wrong'"):
        needed_by([waiting("right", NAMED), wrong])


TEAM, SIZE = SearchAttributeKey.for_keyword("Team"), SearchAttributeKey.for_int("Size")
DUE, TAGS = SearchAttributeKey.for_datetime("Due"), SearchAttributeKey.for_keyword_list("Tags")
_REGISTERED = ("Team=Keyword", "Size=Int", "Due=Datetime", "Tags=KeywordList")
OPTIONS: StartOptions = {
    "run_timeout": timedelta(hours=1),
    "retry_policy": RetryPolicy(
        initial_interval=timedelta(seconds=2), maximum_attempts=1, non_retryable_error_types=["Never"]
    ),
    "priority": Priority(2, "team", 3.0),
    "memo": {"team": {"name": "a"}},
    "search_attributes": TypedSearchAttributes(
        [
            SearchAttributePair(TEAM, "a"),
            SearchAttributePair(SIZE, 7),
            SearchAttributePair(DUE, datetime(2030, 5, 6, 7, tzinfo=UTC)),
            SearchAttributePair(TAGS, ["x", "y"]),
        ]
    ),
}


async def _kept(described: WorkflowExecutionDescription, bench: Bench) -> dict[str, Any]:
    handle = bench.handle(described.id, described.run_id)
    started = (await anext(handle.fetch_history_events(page_size=1))).workflow_execution_started_event_attributes
    config = described.raw_description.execution_config
    return {
        "run_timeout": config.workflow_run_timeout.ToTimedelta(),
        "retry_policy": RetryPolicy.from_proto(started.retry_policy),
        "priority": Priority._from_proto(described.raw_info.priority),
        "memo": await described.memo(),
        "search_attributes": TypedSearchAttributes(
            [one for one in described.typed_search_attributes if one.key in (TEAM, SIZE, DUE, TAGS)]
        ),
    }


def _same(found: dict[str, Any]) -> bool:
    """Tell whether they are those of the start; the server has filled in the longest pause, and orders attributes."""
    policy, wanted = found["retry_policy"], OPTIONS["search_attributes"]
    assert isinstance(wanted, TypedSearchAttributes)
    told = (policy.initial_interval, policy.maximum_attempts, policy.non_retryable_error_types)
    attributes = [{one.key: one.value for one in each} for each in (found["search_attributes"], wanted)]
    return (
        all(found[key] == OPTIONS[key] for key in ("run_timeout", "priority", "memo"))
        and told == (timedelta(seconds=2), 1, ["Never"])
        and attributes[0] == attributes[1]
    )


async def test_other_executions_and_a_rerun_keep_them(searched: Bench) -> None:
    """Those of a run that continues as new, and the one that a reset begins."""
    definition = define(calling("A", "f"), calling("B", "f"), calling("C", "f"), functions=("f",), id="options")
    async with searched.worker(definition, f=1) as running:
        first = await running.start({}, suspend_after=10, options=OPTIONS)
        await outcome(first)
        handle = searched.handle(first)
        assert await was_continued(handle)
        assert _same(found := await _kept(await handle.describe(), searched)), found
        plan = await plan_rerun(Client(searched.client), first.id, "C")
        run = await plan.begin(Client(searched.client))
        again = searched.handle(first, run)
        await outcome(again)
        assert _same(found := await _kept(await again.describe(), searched)), found


async def test_the_next_instance_of_a_key_has_the_options_of_the_one_before(searched: Bench) -> None:
    """A mailbox begins it with those and the events that were not taken, but without the state."""
    definition = named(ORDER)
    async with searched.worker(definition, interceptors=[ON]) as running:
        handle = searched.handle(instance_id(definition.id, {"order": "1"}))
        first = await running.start_awaiting("Placed", workflow_id=handle.id, options=OPTIONS)
        await send(running, *(event(str(n), "placed", "shop", n, order=1) for n in range(2)))
        await running.awaiting(first, "Paid")
        await until(lambda: handle.query("status"), lambda one: one["kept"])
        await running.send(handle, event("p0", "paid", "bank", 0, order=1))
        assert await outcome(first) == {"placed": 0, "paid": 0}
        described = await until(handle.describe, lambda one: one.run_id != first.first_execution_run_id)
        assert _same(found := await _kept(described, searched)), found
        await running.awaiting(handle, "Paid")
        [started] = await told_in(handle, "workflow_execution_started")
        assert "SwfState" not in started.search_attributes.indexed_fields
        assert (await attributes_of(handle))["SwfState"] == (await attributes_of(first))["SwfState"]
        await handle.terminate()
