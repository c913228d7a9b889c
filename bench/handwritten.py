"""How would one write the measured work by hand, against the SDK?

This module imports as little as it can: the sandbox imports it anew for every workflow.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

from temporalio import activity, workflow
from temporalio.common import RetryPolicy

with workflow.unsafe.imports_passed_through():
    import httpx

ACTIVITIES = 10
LIMIT = timedelta(minutes=1)
MAX_SEEN = 2000
"""How many ids of events `Counting` remembers."""


OPTIONS: dict[str, Any] = {}
"""The options of each call beside its time limit; the process sets them once, before its worker starts."""
AS_INTERPRETED = {
    "heartbeat_timeout": timedelta(seconds=30),
    "retry_policy": RetryPolicy(
        initial_interval=timedelta(seconds=1),
        maximum_interval=timedelta(seconds=100),
        non_retryable_error_types=["PayloadsTooLarge"],
    ),
    "summary": "Answer › answer 0",
}
"""The options of an interpreted call."""
_RECORD = {
    "function": {"name": "answer", "type": "custom", "operation": "answer"},
    "source": "parallel",
    "language": "serverless-workflow",
}
"""The facts that the activity of an interpreted call gets beside its arguments."""


async def answer(number: int) -> dict[str, Any]:
    """Do what the activities of all contenders do."""
    return {"accepted": True, "number": number}


@activity.defn(name="answer")
async def answer_activity(arguments: dict[str, Any]) -> dict[str, Any]:
    """Answer, as an activity."""
    return await answer(arguments["number"])


class Asking:
    """Calls a service, over connections that are kept open."""

    def __init__(self) -> None:
        self._client = httpx.AsyncClient(timeout=60)

    @activity.defn(name="ask")
    async def ask(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return what the service answers."""
        response = await self._client.get(f"{arguments['service']}/answers/{arguments['number']}")
        response.raise_for_status()
        answered: dict[str, Any] = response.json()
        return answered

    @activity.defn(name="post")
    async def post(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return what the service answers to a number that it is sent."""
        response = await self._client.post(arguments["service"], json={"number": arguments["number"]})
        response.raise_for_status()
        answered: dict[str, Any] = response.json()
        return answered


@workflow.defn(name="none")
class NoActivity:
    """Calls nothing."""

    @workflow.run
    async def run(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the data and the answer."""
        return {**data, "accepted": True}


@workflow.defn(name="signal")
class Signal:
    """Waits for a signal."""

    def __init__(self) -> None:
        self._given: dict[str, Any] | None = None

    @workflow.signal(name="Go")
    def go(self, given: dict[str, Any]) -> None:
        """Take what it carries."""
        self._given = given

    @workflow.run
    async def run(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the data and what came."""
        await workflow.wait_condition(lambda: self._given is not None)
        return {**data, **(self._given or {})}


@workflow.defn(name="one")
class OneActivity:
    """Calls one activity."""

    @workflow.run
    async def run(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the data and the answer."""
        return {**data, **await _call(data["number"], 0)}


@workflow.defn(name="sequence")
class Sequence:
    """Calls one activity after the other."""

    @workflow.run
    async def run(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the data and the answers."""
        for index in range(ACTIVITIES):
            data = {**data, **await _call(data["number"], index)}
        return data


@workflow.defn(name="parallel")
class Parallel:
    """Calls some activities at once."""

    @workflow.run
    async def run(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the data and the answers."""
        for one in await asyncio.gather(*(_call(data["number"], index) for index in range(ACTIVITIES))):
            data = {**data, **one}
        return data


@workflow.defn(name="foreach")
class Foreach:
    """Calls an activity for each number, all of them at once."""

    @workflow.run
    async def run(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the data and the list of answers, in the order of the numbers."""
        answers = await asyncio.gather(*(_call(number, number) for number in data["numbers"]))
        return {**data, "answers": list(answers)}


@workflow.defn(name="in-turn")
class InTurn:
    """Calls an activity for each number, one after the other."""

    @workflow.run
    async def run(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the data and the list of answers, in the order of the numbers."""
        return {**data, "answers": [await _call(number, number) for number in data["numbers"]]}


@workflow.defn(name="rest")
class Rest:
    """Calls a service for each number, all of them at once."""

    @workflow.run
    async def run(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the data and the list of answers, in the order of the numbers."""
        calls = [{"service": data["service"], "number": number} for number in data["numbers"]]
        ask = workflow.execute_activity_method
        answers = await asyncio.gather(*(ask(Asking.ask, call, start_to_close_timeout=LIMIT) for call in calls))
        return {**data, "answers": list(answers)}


@workflow.defn(name="asks")
class Asks:
    """Asks a service, one call after the other."""

    @workflow.run
    async def run(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the data and the answers."""
        return await _answered(Asking.ask, data)


@workflow.defn(name="asks-locally")
class AsksLocally:
    """Asks a service by local activities, one call after the other."""

    @workflow.run
    async def run(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the data and the answers."""
        ask = workflow.execute_local_activity_method
        for _ in range(data["calls"]):
            arguments = {"service": data["service"], "number": data["number"]}
            data = {**data, **await ask(Asking.ask, arguments, start_to_close_timeout=LIMIT)}
        return data


@workflow.defn(name="rest-locally")
class RestLocally:
    """Calls a service for each number by local activities, all of them at once."""

    @workflow.run
    async def run(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the data and the list of answers, in the order of the numbers."""
        calls = [{"service": data["service"], "number": number} for number in data["numbers"]]
        ask = workflow.execute_local_activity_method
        answers = await asyncio.gather(*(ask(Asking.ask, call, start_to_close_timeout=LIMIT) for call in calls))
        return {**data, "answers": list(answers)}


@workflow.defn(name="posts")
class Posts:
    """Sends to a service, one call after the other."""

    @workflow.run
    async def run(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the data and the answers."""
        return await _answered(Asking.post, data)


@workflow.defn(name="counting")
class Counting:
    """Takes numbers that events bring, each of them once, until it is terminated."""

    @workflow.init
    def __init__(self, carried: dict[str, Any]) -> None:
        self._data: dict[str, Any] = carried["data"]
        self._kind: str = carried["kind"]
        self._kept: deque[dict[str, Any]] = deque(carried.get("kept", ()))
        self._seen: dict[str, None] = dict.fromkeys(carried.get("seen", ()))

    @workflow.signal
    def event(self, event: dict[str, Any]) -> None:
        """Keep an event that has not come before."""
        self._take_in(event)

    @workflow.update
    def deliver(self, event: dict[str, Any]) -> dict[str, Any]:
        """Keep an event, and say whether it has come before."""
        return {"status": "kept" if self._take_in(event) else "duplicate"}

    @workflow.query
    def data(self) -> dict[str, Any]:
        """Return what has been counted."""
        return self._data

    @workflow.query
    def status(self) -> dict[str, Any]:
        """Return which events are kept."""
        return {"kept": [event["type"] for event in self._kept]}

    @workflow.run
    async def run(self, carried: dict[str, Any]) -> None:
        """Take one event after the other, and continue as new when the history is long."""
        is_long = workflow.info().is_continue_as_new_suggested
        while True:
            await workflow.wait_condition(lambda: (bool(self._kept) and self._kind != "keeps") or is_long())
            while self._kept and self._kind != "keeps" and not is_long():
                number, data = self._kept.popleft()["data"]["n"], self._data
                if self._kind == "calls":
                    await _call(number, number)
                self._data = {
                    "count": data["count"] + 1,
                    "sum": data["sum"] + number,
                    "squares": data["squares"] + number * number,
                }
            if is_long():
                await workflow.wait_condition(workflow.all_handlers_finished)
                carried = {"data": self._data, "kind": self._kind, "kept": list(self._kept), "seen": list(self._seen)}
                workflow.continue_as_new(carried)

    def _take_in(self, event: dict[str, Any]) -> bool:
        key = f"{event['source']}#{event['id']}"
        if key in self._seen:
            return False
        self._seen[key] = None
        if len(self._seen) > MAX_SEEN:
            del self._seen[next(iter(self._seen))]
        self._kept.append(event)
        return True


async def _answered(
    call: Callable[[Asking, dict[str, Any]], Awaitable[dict[str, Any]]], data: dict[str, Any]
) -> dict[str, Any]:
    for _ in range(data["calls"]):
        arguments = {"service": data["service"], "number": data["number"]}
        data = {**data, **await workflow.execute_activity_method(call, arguments, start_to_close_timeout=LIMIT)}
    return data


async def _call(number: int, index: int) -> dict[str, Any]:
    given: dict[str, Any] = {"number": number}
    if not OPTIONS:
        return await workflow.execute_activity(answer_activity, given, start_to_close_timeout=LIMIT)
    given = {**_RECORD, **given}
    options = {"activity_id": f"Answer/answer {index}#1", "start_to_close_timeout": LIMIT, **OPTIONS}
    return await workflow.execute_activity(answer_activity, given, **options)


WORKFLOWS = (
    NoActivity,
    Signal,
    OneActivity,
    Sequence,
    Parallel,
    Foreach,
    InTurn,
    Rest,
    Asks,
    AsksLocally,
    RestLocally,
    Posts,
    Counting,
)
