"""The options of a start hold for all that becomes of an instance: executions, a rerun, the next of its id."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from temporalio.client import WorkflowExecutionDescription
from temporalio.common import Priority, RetryPolicy, SearchAttributeKey, SearchAttributePair, TypedSearchAttributes

from swf_temporal.events.routing import instance_id
from swf_temporal.operations.client import Client
from swf_temporal.operations.rerunning import plan_rerun
from swf_temporal.temporal.client import send_event
from swf_temporal.temporal.server import local_server
from swf_temporal.temporal.start_options import StartOptions
from tests.temporal.conftest import AT_ONCE, Bench, calling, define, named, outcome, until
from tests.temporal.test_event_starts import ORDER, event, send

pytestmark = pytest.mark.temporal

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


@pytest.fixture(scope="module")
async def searched() -> AsyncIterator[Bench]:
    """Return what runs definitions on a server that knows these search attributes."""
    registered = [part for one in _REGISTERED for part in ("--search-attribute", one)]
    async with local_server(extra=[*AT_ONCE, *registered]) as server:
        yield Bench(server)


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
        continued = await handle.describe()
        assert continued.raw_description.workflow_execution_info.first_run_id != continued.run_id
        assert _same(found := await _kept(continued, searched)), found
        plan = await plan_rerun(Client(searched.client), first.id, "C")
        run = await plan.begin(Client(searched.client))
        again = searched.handle(first, run)
        await outcome(again)
        assert _same(found := await _kept(await again.describe(), searched)), found


async def test_the_next_instance_of_a_key_has_those_of_the_one_before(searched: Bench) -> None:
    """Which it is begun in the place of, with the events that were not taken."""
    definition = named(ORDER)
    async with searched.worker(definition) as running:
        id_ = instance_id(definition.id, {"order": "1"})
        first = await running.start(workflow_id=id_, options=OPTIONS)
        await running.awaiting(first, "Placed")
        await send(running, *(event(str(n), "placed", "shop", n, order=1) for n in range(2)))
        await running.awaiting(first, "Paid")
        await _has_kept(running.bench, id_)
        await send_event(searched.client, id_, event("p0", "paid", "bank", 0, order=1).to_json())
        assert await outcome(first) == {"placed": 0, "paid": 0}
        handle = searched.handle(id_)
        described = await until(handle.describe, lambda one: one.run_id != first.first_execution_run_id)
        assert _same(found := await _kept(described, searched)), found
        await running.awaiting(handle, "Paid")
        await handle.terminate()


async def _has_kept(bench: Bench, instance: str) -> None:
    await until(lambda: bench.handle(instance).query("status"), lambda one: one["kept"])
