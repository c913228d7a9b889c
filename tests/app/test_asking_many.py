"""Questions to the workers of many instances, of which some do not answer."""

import asyncio

from swf_temporal.base.errors import UsageError
from swf_temporal.operations.tasks import answers_of


async def test_the_silent_keep_no_place_from_the_others() -> None:
    """However many do not answer, all others do, as long as they take; and it does not wait for the silent ones."""

    async def ask(instance: str) -> str:
        if instance.startswith("silent"):
            await asyncio.Event().wait()
        if instance == "paused":
            raise UsageError("it is paused")
        await asyncio.sleep(0.2 * awake.index(instance))  # in the end longer than the patience, with answers between
        return instance

    silent, awake = [f"silent-{n}" for n in range(60)], [f"awake-{n}" for n in range(5)]
    async with asyncio.timeout(30):
        answers = await answers_of([*silent, "paused", *awake], ask, patience=0.5)
    assert answers == [None] * 61 + awake


async def test_without_instances() -> None:
    assert await answers_of([], lambda _: asyncio.sleep(0)) == []
