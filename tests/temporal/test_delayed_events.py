"""An event with a delay is a workflow of its own on a real server: it outlives its instance, and can be taken back."""

import re
from typing import Any

import pytest
from temporalio.client import WorkflowFailureError

from swf_temporal.languages.loading import load
from swf_temporal.temporal.publishing import DELAYED_EVENT
from tests.temporal.conftest import Bench, Running, listed, replays


def telling(name: str, delay: str) -> Any:
    event = {"type": "shop.order", "source": "shop", "data": "jq(.n)"}
    return load({"id": name, "states": [{"id": "tell", "type": "generateEvent", "delay": delay, "event": event}]})


async def only_event(running: Running, workflow_id: str) -> Any:
    """Return the one workflow that sends an event of the instance *workflow_id*, as soon as the server lists it."""
    [begun] = await listed(
        running.bench.client, f"WorkflowType = {DELAYED_EVENT!r} AND TaskQueue = {running.queue!r}", 1
    )
    assert re.fullmatch(f"{workflow_id}/[0-9a-f]{{12}}/event/.*", begun.id)
    return running.bench.handle(begun)


async def test_is_sent_though_the_instance_has_ended(bench: Bench) -> None:
    """The instance completes at once; the event is sent by a workflow beside it, whose history replays."""
    async with bench.worker(telling("event-later", "PT1S")) as running:
        handle = await running.start({"n": 7})
        assert await handle.result() == {"n": 7}
        assert running.scripted.published == []
        event = await only_event(running, handle.id)
        await event.result()
        [sent] = running.scripted.published
        assert (sent.type, sent.source, sent.data) == ("shop.order", "shop", 7)
        assert event.id.endswith(sent.id)
        history = await event.fetch_history()
    assert await replays(history) is None


async def test_can_be_taken_back(bench: Bench) -> None:
    """Whoever cancels its workflow keeps the event from being sent; it answers the query `status` like an instance."""
    async with bench.worker(telling("event-taken-back", "P1D")) as running:
        handle = await running.start({"n": 7})
        await handle.result()
        event = await only_event(running, handle.id)
        assert await event.query("status") == {"state": None, "awaiting": []}
        await event.cancel()
        with pytest.raises(WorkflowFailureError):
            await event.result()
        assert running.scripted.published == []
