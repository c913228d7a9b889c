"""How would one write runs without a limit by hand, against the SDK? A window of calls, and continue-as-new."""

import asyncio
from collections.abc import Awaitable
from datetime import timedelta
from typing import Any

from temporalio import activity, workflow

WINDOW = 1000
"""How many calls are made at once: what a foreach has without a batchSize."""
TEXT = "x" * 980
"""Of what a result is made that takes 1 KB."""
STEPS = 2000
"""Transitions in one workflow task: what the interpreter does in one."""
LIMIT = timedelta(minutes=1)


async def answer(number: int) -> dict[str, Any]:
    """Do what the activities of both contenders do."""
    return {"number": number, "text": TEXT}


@activity.defn(name="answer")
async def answer_activity(arguments: dict[str, Any]) -> dict[str, Any]:
    """Answer, as an activity."""
    return await answer(arguments["number"])


@workflow.defn(name="echo")
class Echo:
    """What a fan-out runs."""

    @workflow.run
    async def run(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the data."""
        return data


class _Window:
    """Calls that are made side by side, until the execution is long enough."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self.next: int = data.get("next", 0)

    async def run(self) -> dict[str, Any]:
        """Make the calls that are left."""
        running: set[asyncio.Task[None]] = set()
        info = workflow.info()
        while self.next < self.data["items"] and not info.is_continue_as_new_suggested():
            while len(running) < WINDOW and self.next < self.data["items"]:
                running.add(asyncio.create_task(self._one(self.next)))
                self.next += 1
            _, left = await workflow.wait(running, return_when=asyncio.FIRST_COMPLETED)
            running = set(left)
        if running:
            await workflow.wait(running)
        if self.next < self.data["items"]:
            workflow.continue_as_new({**self.data, "next": self.next})
        return self.data

    async def _one(self, number: int) -> None:
        result = await self.call(number)
        self.keep(number, result)

    def call(self, number: int) -> Awaitable[Any]:
        """Make one call."""
        return workflow.execute_activity(answer_activity, {"number": number}, start_to_close_timeout=LIMIT)

    def keep(self, number: int, result: Any) -> None:
        """Keep what it came to."""
        if number >= self.data.get("number", -1):
            self.data = {**self.data, **result}


class _Collecting(_Window):
    def __init__(self, data: dict[str, Any]) -> None:
        super().__init__(data)
        self.answers: dict[str, Any] = data.setdefault("answers", {})

    def keep(self, number: int, result: Any) -> None:
        """Keep all results, in the order of the items."""
        self.answers[str(number)] = result


class _FanOut(_Window):
    def call(self, number: int) -> Awaitable[Any]:
        """Run a sub-workflow."""
        return workflow.execute_child_workflow(Echo.run, {"number": number})


@workflow.defn(name="foreach")
class Foreach:
    """Calls an activity for each number and keeps the latest answer."""

    @workflow.run
    async def run(self, data: dict[str, Any]) -> int:
        """Return how many there were."""
        return int((await _Window(data).run())["number"]) + 1


@workflow.defn(name="collected")
class Collected:
    """Calls an activity for each number and keeps all answers."""

    @workflow.run
    async def run(self, data: dict[str, Any]) -> int:
        """Return how many answers there are."""
        done = await _Collecting(data).run()
        return len([done["answers"][str(number)] for number in range(done["items"])])


@workflow.defn(name="fan-out")
class FanOut:
    """Runs a sub-workflow for each number."""

    @workflow.run
    async def run(self, data: dict[str, Any]) -> int:
        """Return how many there were."""
        return int((await _FanOut(data).run())["number"]) + 1


@workflow.defn(name="loop")
class Loop:
    """Counts, a step at a time, and lets the engine have control now and then."""

    @workflow.run
    async def run(self, data: dict[str, Any]) -> int:
        """Return how far it counted."""
        number: int = data.get("next", 0)
        while number < data["items"]:
            number += 1
            if number % STEPS == 0:
                await workflow.sleep(timedelta(milliseconds=1))
                if workflow.info().is_continue_as_new_suggested():
                    workflow.continue_as_new({**data, "next": number})
        return number


@workflow.defn(name="nested")
class Nested:
    """Runs itself as a sub-workflow, until there are enough levels."""

    @workflow.run
    async def run(self, data: dict[str, Any]) -> int:
        """Return how many levels there are."""
        number: int = data["number"] + 1
        if number == data["items"]:
            return number
        return await workflow.execute_child_workflow(Nested.run, {**data, "number": number})


WORKFLOWS = (Foreach, Collected, FanOut, Loop, Nested, Echo)
