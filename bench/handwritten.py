"""How would one write the measured work by hand, against the SDK?

This module imports as little as it can: the sandbox imports it anew for every workflow.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

from temporalio import activity, workflow

with workflow.unsafe.imports_passed_through():
    import httpx

ACTIVITIES = 10
LIMIT = timedelta(minutes=1)


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
        self._client = httpx.AsyncClient()

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


@workflow.defn(name="one")
class OneActivity:
    """Calls one activity."""

    @workflow.run
    async def run(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the data and the answer."""
        return {**data, **await _call(data["number"])}


@workflow.defn(name="sequence")
class Sequence:
    """Calls one activity after the other."""

    @workflow.run
    async def run(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the data and the answers."""
        for _ in range(ACTIVITIES):
            data = {**data, **await _call(data["number"])}
        return data


@workflow.defn(name="parallel")
class Parallel:
    """Calls some activities at once."""

    @workflow.run
    async def run(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the data and the answers."""
        for one in await asyncio.gather(*(_call(data["number"]) for _ in range(ACTIVITIES))):
            data = {**data, **one}
        return data


@workflow.defn(name="foreach")
class Foreach:
    """Calls an activity for each number, all of them at once."""

    @workflow.run
    async def run(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the data and the list of answers, in the order of the numbers."""
        answers = await asyncio.gather(*(_call(number) for number in data["numbers"]))
        return {**data, "answers": list(answers)}


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


@workflow.defn(name="posts")
class Posts:
    """Sends to a service, one call after the other."""

    @workflow.run
    async def run(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the data and the answers."""
        return await _answered(Asking.post, data)


async def _answered(
    call: Callable[[Asking, dict[str, Any]], Awaitable[dict[str, Any]]], data: dict[str, Any]
) -> dict[str, Any]:
    for _ in range(data["calls"]):
        arguments = {"service": data["service"], "number": data["number"]}
        data = {**data, **await workflow.execute_activity_method(call, arguments, start_to_close_timeout=LIMIT)}
    return data


async def _call(number: int) -> dict[str, Any]:
    return await workflow.execute_activity(answer_activity, {"number": number}, start_to_close_timeout=LIMIT)


WORKFLOWS = (NoActivity, OneActivity, Sequence, Parallel, Foreach, Rest, Asks, Posts)
