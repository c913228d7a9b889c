"""Activities that exist already, on a worker that knows nothing of us; and the policies by which they are retried."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from google.protobuf.struct_pb2 import Struct, Value
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from temporalio import activity
from temporalio.api.common.v1 import Payload
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.common import RawValue
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from swf_temporal import RunEnded
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.languages.port import Definition
from swf_temporal.languages.serverless_workflow.execution.retries import rule_of
from swf_temporal.languages.serverless_workflow.model.workflow import Retry
from swf_temporal.runtime.external_activities import ExternalRetryPolicy
from swf_temporal.runtime.retrying import RetryRule, jitter_of
from swf_temporal.temporal import client as swf
from swf_temporal.temporal.local_calls import policy_for, policy_of
from swf_temporal.temporal.server import local_server
from tests.temporal.building import operation
from tests.temporal.conftest import Bench, Running, define, outcome, replays, told_in, until, was_continued

TICK = 0.002
"""In seconds: how far the clocks of the server and of this process may be apart."""


class Card(BaseModel):
    owner: str
    expires: datetime


@dataclass
class Receipt:
    owner: str
    amount: int
    at: datetime


@dataclass
class Shop:
    fails: int = 0
    raises: Callable[[], Exception] = lambda: RuntimeError("still busy")
    times: list[float] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    stopped: asyncio.Event = field(default_factory=asyncio.Event)
    started: asyncio.Event = field(default_factory=asyncio.Event)

    @activity.defn(name="ChargeCard")
    async def charge(self, card: Card, amount: int) -> Receipt:
        return Receipt(card.owner, amount, card.expires)

    @activity.defn
    async def owner(self, card: Card) -> str:
        return card.owner

    @activity.defn
    async def nothing(self) -> None:
        """Take none."""

    @activity.defn
    async def odd(self) -> RawValue:
        return RawValue(Payload(metadata={"encoding": b"binary/odd"}, data=b"?"))

    @activity.defn
    async def message(self) -> Struct:
        return Struct(fields={"a": Value(string_value="b")})

    @activity.defn
    async def raw(self) -> bytes:
        return b"\x00\xff"

    @activity.defn
    async def work(self, label: str) -> str:
        self.times.append(asyncio.get_running_loop().time())
        self.seen.append(activity.info().activity_id)
        if len(self.times) <= self.fails:
            raise self.raises()
        return label

    @activity.defn
    async def wait(self) -> None:
        self.started.set()
        try:
            while True:
                activity.heartbeat()
                await asyncio.sleep(0.05)
        except asyncio.CancelledError:
            self.stopped.set()
            raise

    @activity.defn
    async def silent(self) -> None:
        self.times.append(asyncio.get_running_loop().time())
        await asyncio.sleep(60)


@asynccontextmanager
async def other_worker(bench: Bench, shop: Shop) -> AsyncIterator[str]:
    config = bench.client.service_client.config
    client = await Client.connect(config.target_host, data_converter=pydantic_data_converter)
    queue = f"shop-{os.getpid()}-{next(Bench.numbers)}"
    simple = (shop.charge, shop.owner, shop.nothing, shop.raw, shop.odd, shop.message)
    activities: list[Callable[..., Any]] = [*simple, shop.work, shop.wait, shop.silent]
    async with Worker(client, task_queue=queue, activities=activities):
        yield queue


def calling(operation: str, arguments: JSON = None, **rest: Any) -> Definition:
    """Return a workflow that makes one call."""
    function = {"name": "f", "type": "custom", "operation": operation, "metadata": rest.pop("metadata", {})}
    action = {"functionRef": {"refName": "f", "arguments": arguments}, **rest.pop("action", {})}
    state = {"name": "Call", "type": "operation", "actions": [action], **rest.pop("state", {})}
    return define(state, functions=(function,), **rest)


@asynccontextmanager
async def running(
    bench: Bench, shop: Shop, operation: str, arguments: JSON = None, **rest: Any
) -> AsyncIterator[Running]:
    """Run both workers: ours for a workflow that makes one call, and the shop's."""
    async with other_worker(bench, shop) as queue:
        definition = calling(f"temporal:{operation}@{queue}", arguments, **rest)
        async with bench.worker(definition) as worker:
            yield worker


CARD: JSON = {"owner": "Ada", "expires": "2030-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("operation", "arguments", "expected"),
    [
        ("ChargeCard", [CARD, 7], {"owner": "Ada", "amount": 7, "at": "2030-01-01T00:00:00Z"}),
        ("owner", CARD, {"response": "Ada"}),
        ("nothing", None, {}),
        ("message", None, {"a": "b"}),
        ("raw", None, {"mediaType": "application/octet-stream", "base64": "AP8="}),
    ],
)
async def test_arguments_and_results_are_json(bench: Bench, operation: str, arguments: JSON, expected: JSON) -> None:
    """An object is one argument, an array is several, null is none; types are the other side's business."""
    action = {"actionDataFilter": {"toStateData": "${ .response }"}} if operation == "owner" else {}
    async with running(bench, Shop(), operation, arguments, action=action) as worker:
        assert await worker.run() == expected


NOT_REGISTERED = "is not registered on this worker, available activities: ChargeCard"


@pytest.mark.parametrize(
    ("operation", "arguments", "given", "name", "told"),
    [
        ("nothing", ["${ .given }", "${ .given }"], "x" * 1_200_000, "PayloadTooLarge", ""),
        ("nothing", "${ .given }", ["x"] * 40_000, "PayloadTooLarge", ""),
        ("odd", None, None, "MalformedAnswer", "'odd' is written as binary/odd, and not as JSON"),
        ("ChargeCart", None, None, "NotFoundError", NOT_REGISTERED),
    ],
    ids=["too large together", "too many", "a result that is not JSON", "nobody offers it"],
)
async def test_what_goes_wrong_is_told(
    bench: Bench, operation: str, arguments: JSON, given: JSON, name: str, told: str
) -> None:
    """A server takes all arguments as one; each alone would not be too large."""
    async with running(bench, Shop(), operation, arguments) as worker:
        ended = await worker.failure({"given": given})
    assert name in (ended.name, ended.fault and ended.fault.code)
    assert told in str(ended)


async def test_the_history_tells_the_activitys_own_name(bench: Bench) -> None:
    """In the UI the call is that activity, on that queue, with the state's name beside it."""
    async with running(bench, Shop(), "owner", CARD, metadata={"heartbeatTimeout": "PT5S", "priority": 1}) as worker:
        handle = await worker.start()
        await swf.result(handle)
    [told] = await told_in(handle, "activity_task_scheduled")
    assert (told.activity_type.name, told.activity_id) == ("owner", "Call/f#1")
    assert told.task_queue.name.startswith("shop-")
    assert told.heartbeat_timeout.ToTimedelta() == timedelta(seconds=5)
    assert told.priority.priority_key == 1
    assert told.input.payloads[0].data == b'{"owner":"Ada","expires":"2030-01-01T00:00:00Z"}'


async def test_its_failure_is_a_fault(bench: Bench) -> None:
    """The error's type is name and code, its message the message, its details the body."""

    def declined() -> Exception:
        return ApplicationError("the card was declined", {"limit": 5}, type="Declined", non_retryable=True)

    shop = Shop(fails=9, raises=declined)
    retries = [{"name": "again", "delay": "PT0.01S", "maxAttempts": 5}]
    async with running(bench, shop, "work", "x", retries=retries, action={"retryRef": "again"}) as worker:
        ended = await worker.failure()
    assert ended.fault is not None
    assert (ended.fault.name, ended.fault.code, ended.fault.body) == ("Declined", "Declined", {"limit": 5})
    assert (ended.fault.function, ended.fault.state) == ("f", "Call")
    assert "the card was declined" in str(ended)
    assert len(shop.times) == 1


async def test_a_definition_catches_it_by_its_type(bench: Bench) -> None:
    errors = [{"name": "declined", "code": "RuntimeError"}]
    state = {"onErrors": [{"errorRef": "declined", "end": True}]}
    async with running(bench, Shop(fails=9), "work", "x", errors=errors, state=state) as worker:
        assert await worker.run({"kept": 1}) == {"kept": 1}


@pytest.mark.parametrize(
    ("retry", "action", "delays", "activities"),
    [
        ({"delay": "PT0.1S", "multiplier": 2}, {}, [0.1, 0.2, 0.4], 1),
        ({"delay": "PT0.2S", "multiplier": 4, "maxDelay": "PT0.3S"}, {}, [0.2, 0.3, 0.3], 1),
        ({"delay": "PT0S"}, {}, [0, 0, 0], 1),
        ({"delay": "PT0.1S", "increment": "PT0.1S"}, {}, [0.1, 0.2, 0.3], 4),
        ({"delay": "PT0.1S", "jitter": "PT0.01S"}, {}, [0.09, 0.08, 0.07], 4),
        ({"delay": "PT0.1S"}, {"retryableErrors": ["busy"]}, [0.1, 0.1, 0.1], 4),
        ({"delay": "PT0.1S"}, {"nonRetryableErrors": ["other"]}, [0.1, 0.1, 0.1], 1),
    ],
)
async def test_delays_are_the_definitions(
    bench: Bench, retry: dict[str, Any], action: dict[str, Any], delays: list[float], activities: int
) -> None:
    """No attempt comes before its time: by the engine's policy where that says the same, else one by one."""
    shop = Shop(fails=3)
    retries = [{"name": "again", "maxAttempts": 4, **retry}]
    errors = [{"name": "busy", "code": "RuntimeError"}, {"name": "other", "code": "Other"}]
    action = {"retryRef": "again", **action}
    async with running(bench, shop, "work", "done", retries=retries, errors=errors, action=action) as worker:
        handle = await worker.start()
        assert await swf.result(handle) == "done"
    gaps = [later - earlier for earlier, later in pairwise(shop.times)]
    assert all(gap >= least - TICK for gap, least in zip(gaps, delays, strict=True))
    assert len(await told_in(handle, "activity_task_scheduled")) == len(set(shop.seen)) == activities
    assert await replays(await handle.fetch_history()) is None


@pytest.mark.parametrize("increment", ["PT0S", "PT0.01S"])
@pytest.mark.parametrize(
    ("auto_retries", "action", "attempts"),
    [
        ("false", {"retryRef": "again"}, 3),
        ("false", {}, 1),
        ("false", {"retryRef": "again", "retryableErrors": ["other"]}, 1),
        ("true", {"retryRef": "again", "nonRetryableErrors": ["busy"]}, 1),
        ("true", {"retryRef": "again", "nonRetryableErrors": ["told"]}, 1),
    ],
)
async def test_attempts_are_the_definitions(
    bench: Bench, auto_retries: str, action: dict[str, Any], attempts: int, increment: str
) -> None:
    shop = Shop(fails=9)
    codes = {"busy": "RuntimeError", "told": "still b.sy", "other": "Other"}
    parts: dict[str, Any] = {
        "retries": [{"name": "again", "delay": "PT0.01S", "increment": increment, "maxAttempts": 3}],
        "errors": [{"name": name, "code": code} for name, code in codes.items()],
        "autoRetries": auto_retries == "true",
    }
    async with running(bench, shop, "work", "x", action=action, **parts) as worker:
        ended = await worker.failure()
    assert ended.name == "RuntimeError"
    assert len(shop.times) == attempts


async def test_its_own_policy_takes_the_place_of_retries(bench: Bench) -> None:
    shop = Shop(fails=9)
    metadata = {"retryPolicy": {"initialInterval": "PT0.01S", "maximumAttempts": 2}}
    retries = [{"name": "again", "delay": "PT0.01S", "maxAttempts": 5}]
    parts: dict[str, Any] = {"retries": retries, "action": {"retryRef": "again"}}
    async with running(bench, shop, "work", "x", metadata=metadata, **parts) as worker:
        await worker.failure()
    assert len(shop.times) == 2


@pytest.mark.parametrize(
    ("metadata", "code", "told"),
    [
        ({"startToCloseTimeout": "PT0.2S"}, "Timeout", "'silent' did not end in time"),
        ({"heartbeatTimeout": "PT0.2S"}, "Lost", "'silent' sent no heartbeat in time"),
        ({"scheduleToCloseTimeout": "PT0.2S"}, "TimedOut", "took longer than it may"),
    ],
)
async def test_each_timeout_is_a_fault(bench: Bench, metadata: dict[str, str], code: str, told: str) -> None:
    async with running(bench, Shop(), "silent", metadata=metadata) as worker:
        ended = await worker.failure()
    assert ended.fault is not None
    assert ended.fault.code == code
    assert told in str(ended)


@pytest.mark.parametrize("action", [{}, {"nonRetryableErrors": ["late"]}])
@pytest.mark.parametrize("increment", ["PT0S", "PT0.01S"])
async def test_a_timeout_is_tried_again(bench: Bench, action: dict[str, Any], increment: str) -> None:
    """To the engine it is no error with a type, and yet a definition can name it."""
    shop = Shop()
    parts: dict[str, Any] = {
        "retries": [{"name": "again", "delay": "PT0.01S", "maxAttempts": 2, "increment": increment}],
        "errors": [{"name": "late", "code": "Timeout"}],
        "autoRetries": True,
    }
    action = {"retryRef": "again", **action}
    metadata = {"startToCloseTimeout": "PT0.1S"}
    async with running(bench, shop, "silent", action=action, metadata=metadata, **parts) as worker:
        ended = await worker.failure()
    assert ended.fault is not None
    assert ended.fault.code == "Timeout"
    assert len(shop.times) == (1 if "nonRetryableErrors" in action else 2)


async def test_an_action_and_its_retries_have_one_timeout(bench: Bench) -> None:
    """`actionExecTimeout` holds for all attempts together; the fault says what the last one failed with."""

    async def timed(increment: str) -> None:
        retries = [{"name": "again", "delay": "PT2S", "increment": increment}]
        state = {"timeouts": {"actionExecTimeout": "PT3.9S"}}
        parts: dict[str, Any] = {"retries": retries, "action": {"retryRef": "again"}, "state": state}
        shop = Shop(fails=9)
        async with running(bench, shop, "work", "x", **parts) as worker:
            ended = await worker.failure()
        assert ended.name == "TimedOut"
        assert "the last attempt ended with RuntimeError: still busy" in str(ended)
        assert len(shop.times) == 2

    await asyncio.gather(*map(timed, ("PT0S", "PT0.01S")))


async def test_nobody_takes_it(bench: Bench) -> None:
    """A task queue without a worker is told, if the function, or the action, says how long to wait."""
    waiting = calling("temporal:work@nobody-here", "x", metadata={"scheduleToStartTimeout": "PT0.2S"})
    limited = calling(
        "temporal:work@nobody-here", "x", state={"timeouts": {"actionExecTimeout": "PT0.2S"}}, id="limited"
    )
    async with bench.worker(waiting, limited) as worker:
        ended, late = await worker.failure(), await worker.failure(definition=1)
    assert ended.fault is not None
    assert (ended.fault.code, late.name) == ("NoWorker", "TimedOut")
    assert "no worker of the task queue 'nobody-here' took the activity 'work' in time" in str(ended)


@pytest.mark.parametrize("arguments", [None, {"function": {"name": "f", "operation": "os:getcwd"}, "source": "x"}])
async def test_our_own_worker_is_not_taken_for_the_other(bench: Bench, arguments: JSON) -> None:
    """Without a queue it is the workflow's own. Arguments there are data, even if they look like a call of ours."""
    async with bench.worker(calling("temporal:f", arguments), f=lambda _: "called") as worker:
        ended = await worker.failure()
    assert ended.name == "NotFoundError"
    assert "does not have the activity 'f'" in str(ended)
    assert worker.scripted.calls == []


async def test_a_program_adds_activities_to_its_own_worker(bench: Bench) -> None:
    async with bench.worker(calling("temporal:work", "done"), activities=[Shop().work]) as worker:
        assert await worker.run() == "done"


async def test_cancelling_reaches_it(bench: Bench) -> None:
    shop = Shop()
    async with running(bench, shop, "wait", metadata={"heartbeatTimeout": "PT1S"}) as worker:
        handle = await worker.start()
        await asyncio.wait_for(shop.started.wait(), 20)
        await handle.cancel()
        with pytest.raises(RunEnded):
            await swf.result(handle)
        await asyncio.wait_for(shop.stopped.wait(), 20)
    assert (await handle.describe()).status is WorkflowExecutionStatus.CANCELED


async def test_nobody_need_wait_for_it(bench: Bench) -> None:
    shop = Shop()
    action = {"functionRef": {"refName": "f", "arguments": "x", "invoke": "async"}}
    async with running(bench, shop, "work", action=action) as worker:
        assert await worker.run({"kept": 1}) == {"kept": 1}
        await until(lambda: shop.seen)


LONG_SERIES: dict[str, Any] = {
    "retries": [{"name": "again", "delay": "PT0.01S", "jitter": 0.5, "maxAttempts": 30}],
    "action": {"retryRef": "again"}, "state": {"timeouts": {"actionExecTimeout": "PT1M"}},
}  # fmt: skip


async def test_a_long_series_of_attempts_continues_as_new(bench: Bench) -> None:
    """Between two attempts the run goes on in a new execution, and counts on where it was."""
    shop = Shop(fails=29)
    async with running(bench, shop, "work", "${ .label }", **LONG_SERIES) as worker:
        handle = await worker.start({"label": "done"}, suspend_after=60)
        assert await swf.result(handle) == {"label": "done", "response": "done"}
        history = await handle.fetch_history()
        assert await was_continued(bench.handle(handle))
    assert shop.seen == [f"Call/f#1.{number}" for number in range(1, 31)]
    assert await replays(history) is None


async def test_a_long_series_of_attempts_at_a_long_running_call_does_too() -> None:
    """The workflow that makes the call goes on in a new execution, and the run waits for it as before."""
    shop, often = Shop(fails=29), ("--dynamic-config-value", "limit.historyCount.suggestContinueAsNew=60")
    parts = {**LONG_SERIES, "metadata": {"longRunning": "true"}}
    async with local_server(extra=often) as server, running(Bench(server), shop, "work", "x", **parts) as worker:
        handle = await worker.start({})
        assert await outcome(handle) == "x"
        child = await worker.bench.child(handle, "Call/f#1")
        history = await child.fetch_history()
        executions = [one.run_id async for one in server.client.list_workflows(f"WorkflowId = '{child.id}'")]
    assert len(executions) >= 3
    assert shop.seen == [f"f.{number}" for number in range(1, 31)]
    assert await replays(history) is None


RULES = st.builds(
    RetryRule, delay=st.floats(0.001, 1000), multiplier=st.floats(1, 5), max_delay=st.none() | st.floats(0.001, 2000),
    max_attempts=st.none() | st.integers(1, 9),
)  # fmt: skip


@given(RULES, st.integers(1, 12))
def test_a_policy_has_the_rules_delays(rule: RetryRule, attempt: int) -> None:
    """What the engine reckons after each attempt is what the rule says, or neither tries again."""
    policy = policy_for(rule)

    assert policy is not None
    delay = rule.delay_after(attempt)
    if policy.maximum_attempts and attempt >= policy.maximum_attempts:
        assert delay is None
    else:
        assert delay is not None
        assert policy.maximum_interval is not None
        reckoned = policy.initial_interval.total_seconds() * policy.backoff_coefficient ** (attempt - 1)
        longest = policy.maximum_interval.total_seconds()
        assert min(reckoned, longest) == pytest.approx(delay.total_seconds(), rel=1e-3)


@pytest.mark.parametrize(
    "rule",
    [
        RetryRule(increment=1),
        RetryRule(jitter=0.1),
        RetryRule(multiplier=0.5),
        RetryRule(only=(("busy", None),)),
        RetryRule(never=(("busy", "is .* busy"),)),
    ],
)
def test_what_the_engine_cannot_say_has_no_policy(rule: RetryRule) -> None:
    assert policy_for(rule) is None


@pytest.mark.parametrize(
    "rule", [None, RetryRule(never=(("any", "*"),))], ids=["no rule", "an error that is all errors"]
)
def test_one_attempt(rule: RetryRule | None) -> None:
    """The engine's own default would try without end."""
    policy = policy_for(rule)
    assert policy is not None
    assert policy.maximum_attempts == 1


def test_no_delay_stays_none() -> None:
    """The engine takes no delay for its own default, and would let it grow."""
    policy = policy_for(RetryRule(delay=0, multiplier=3))

    assert policy is not None
    assert policy.initial_interval == policy.maximum_interval == timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("name", "code", "types"),
    [
        ("busy", None, {"busy"}),
        ("busy", "Busy", {"busy", "Busy"}),
        ("gone", "HTTP:410", {"gone", "HTTP:410", "410"}),
        ("missing", "NOT_FOUND", {"missing", "NOT_FOUND", "5"}),
        ("missing", "5", {"missing", "NOT_FOUND", "5"}),
        ("late", "Timeout", {"late", "Timeout", "TemporalTimeout:StartToClose"}),
        ("lost", "Lost", {"lost", "Lost", "TemporalTimeout:Heartbeat"}),
    ],
)
def test_errors_that_are_not_tried_again(name: str, code: str | None, types: set[str]) -> None:
    """Each way in which an error may be known is told to the engine, and all of them are the rule's."""
    rule = RetryRule(never=((name, code),))
    policy = policy_for(rule)

    assert policy is not None
    assert set(policy.non_retryable_error_types or ()) == types
    assert not any(rule.covers(CallFailed(name=one, code=one)) for one in types if not one.startswith("Temporal"))


def test_a_policy_of_ones_own_has_the_engines_defaults() -> None:
    policy = policy_of(ExternalRetryPolicy(maximum_attempts=2, never=("Declined",)))

    assert policy.initial_interval == timedelta(seconds=1)
    assert (policy.backoff_coefficient, policy.maximum_interval, policy.maximum_attempts) == (2.0, None, 2)
    assert policy.non_retryable_error_types == ["Declined"]
    assert policy_of(ExternalRetryPolicy(maximum_interval=timedelta(seconds=0.5))).initial_interval == timedelta(
        seconds=0.5
    )


RETRIES: list[tuple[dict[str, Any], list[float] | None]] = [
    ({"delay": "PT0.10S", "increment": "PT0.02S"}, [0.10, 0.12, 0.14, 0.16]),
    ({"delay": "PT0.10S", "multiplier": 2}, [0.10, 0.20, 0.40, 0.80]),
    ({"delay": "PT0.10S", "increment": "PT0.02S", "multiplier": 2}, [0.1, 0.24, 0.52, 1.08]),
    ({"delay": "PT0.10S", "multiplier": 4, "jitter": "PT0.01S", "maxDelay": "PT1S"}, None),
]


async def test_delays_as_the_service_sees_them(bench: Bench) -> None:
    """No attempt comes before its time: the specification's examples, a hundred times as fast."""
    times: dict[int, list[float]] = {number: [] for number in range(len(RETRIES))}
    definitions = [
        define(
            operation("Work", {"functionRef": {"refName": "work", "arguments": number}, "retryRef": "again"}),
            functions=("work",), retries=[{"name": "again", "maxAttempts": 5, **retry}], id=f"retry-{number}",
        )
        for number, (retry, _) in enumerate(RETRIES)
    ]  # fmt: skip

    def work(number: Any) -> JSON:
        times[number].append(asyncio.get_running_loop().time())
        raise CallFailed("still busy", code=503)

    async with bench.worker(*definitions, work=work) as worker:
        await asyncio.gather(*(worker.failure(definition=number) for number in times))

    keys = {number: key for _, number, key, _ in worker.scripted.calls if isinstance(number, int)}
    for number, (retry, delays) in enumerate(RETRIES):
        gaps = [later - earlier for earlier, later in pairwise(times[number])]
        expected = delays or _jittered({"name": "again", "maxAttempts": 5, **retry}, key=keys[number])
        assert all(gap >= least - TICK for gap, least in zip(gaps, expected, strict=True))


def _jittered(written: dict[str, Any], key: str) -> list[float]:
    rule = rule_of(Retry.model_validate(written), auto_retries=False, retryable=(), non_retryable=())
    assert rule is not None
    delays = [rule.delay_after(attempt, jitter_of(key)) for attempt in range(1, 5)]
    return [delay.total_seconds() for delay in delays if delay is not None]
