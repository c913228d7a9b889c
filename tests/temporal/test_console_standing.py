"""The console's pages of instances that do not answer, and of those that Temporal has ended or begun again."""

import asyncio
import html
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import httpx
import pytest

from swf_temporal.base.data import JSON
from swf_temporal.operations import instances
from swf_temporal.temporal import client as swf
from swf_temporal.temporal.pausing import pause
from swf_temporal.temporal.start_options import StartOptions
from tests.temporal.conftest import Bench, named, reset
from tests.temporal.test_console import page, post, until
from tests.temporal.test_gateway import served

STANDING = """
events: [{name: Go, type: go, source: shop}]
states:
- {name: Wait, type: event, onEvents: [{eventRefs: [Go]}], transition: Again}
- {name: Again, type: switch, dataConditions: [{condition: .again, end: {continueAs: ID}}],
   defaultCondition: {end: true}}
"""
SILENT = "No worker is currently responding."
SAYS = {
    "paused": ("paused", "Paused at 2", ": stocktaking", "Its data can be seen once it is resumed.", "Resume"),
    "reset": ("running", "at <strong>Wait</strong>", "Send Go", '"again": true'),
    "continued": ("running", "at <strong>Wait</strong>", "Send Go", '"again": true'),
    "late": ("timed-out", "The workflow took longer than its start allowed.", "event awaited"),
    "ended": ("terminated", "enough of it", "event awaited"),
    "away": ("running", f"{SILENT[:-1]}: its history shows where it is.", "event awaited", '"again": true'),
    "unbegun": ("running", SILENT, "Shown once a worker answers for it.", '"again": true'),
}
"""By the names of instances, what their pages say, their statuses first."""


@asynccontextmanager
async def standing(bench: Bench) -> AsyncIterator[tuple[httpx.AsyncClient, dict[str, str]]]:
    """Bring instances where they are to be; yield a client of the console, and their ids by their names."""
    definition, deserted = named(STANDING), named(STANDING)
    handles: dict[str, swf.Handle] = {}
    data: JSON = {"again": True}
    async with bench.worker(deserted) as gone:
        handles["away"] = await gone.start(data)
        await gone.awaiting(handles["away"], "Go")
    queue = f"nobody-{os.getpid()}"
    handles["unbegun"] = await swf.start(bench.client, [deserted], data, workflow_id=queue, task_queue=queue)
    settings: Any = {"console": True}
    async with (
        bench.worker(definition) as worker,
        served(bench, [definition, deserted], worker.queue, **settings) as client,
    ):
        for name in ("paused", "reset", "continued", "ended"):
            handles[name] = await worker.start(data)
            await worker.awaiting(handles[name], "Go")
        second = StartOptions(execution_timeout=timedelta(seconds=1))
        handles["late"] = await worker.start({}, options=second)
        await swf.send_event(bench.client, handles["continued"].id, {"id": "1", "type": "go", "source": "shop"})
        await bench.handle(handles["ended"].id).terminate(reason="enough of it")
        await reset(handles["reset"], bench.client)
        await pause(bench.client, handles["paused"].id, "stocktaking")
        try:
            yield client, {name: one.id for name, one in handles.items()}
        finally:
            for name, one in handles.items():
                if name not in ("late", "ended"):
                    await bench.handle(one.id).terminate()


async def test_every_page_tells_what_is_known(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of instances that do not answer, too: their status, input and graph; and it says why the rest is missing."""
    monkeypatch.setattr(instances, "PATIENCE", timedelta(seconds=1))
    monkeypatch.setattr(instances, "_AT_WORK", timedelta(seconds=1.5))
    async with standing(bench) as (client, ids):
        await asyncio.gather(*(_look_at(client, instance, *SAYS[name]) for name, instance in ids.items()))
        definition = await page(client, "/console/definitions")
        listed = await until(client, "/console/instances", '<span class="status timed-out">')
        tasks = html.unescape(await page(client, "/console/tasks"))
        late = await post(client, f"/console/instances/{ids['paused']}/send", tasks, event="Go", json="{}")
        again = await post(client, f"/console/instances/{ids['paused']}/pause", tasks)
        resumed = await post(client, f"/console/instances/{ids['paused']}/resume", tasks)
        await until(client, f"/console/instances/{ids['paused']}", "Send Go")
    assert definition.count("named-") >= 2
    assert all(one in listed for one in ids.values())
    answering, _, silent = tasks.partition("did not answer, because they are paused or no worker is responding")
    assert [name for name, one in ids.items() if one in answering] == ["reset", "continued"]
    assert [name for name, one in ids.items() if one in silent] == ["away", "unbegun", "paused"]
    assert (late.status_code, again.status_code, resumed.status_code) == (422, 422, 303)
    assert "is paused, and answers once it is resumed" in late.text
    assert "is paused already" in again.text


async def _look_at(client: httpx.AsyncClient, instance: str, status: str, *said: str) -> None:
    path, has_not_begun = f"/console/instances/{instance}", instance.startswith("nobody")
    shown = await _saying(client, path, f'<span class="status {status}">{status}</span>', *said)
    assert "None" not in shown
    drawn = await page(client, f"{path}/pictures")
    assert 'data-path="Wait"' in drawn
    assert drawn.count("<svg") == 1 if has_not_begun else drawn.count("<svg") >= 2, "its timeline is missing"
    assert ('class="part wait unreached"' in drawn) == has_not_begun
    live = await _first(client, f"{path}/stream")
    assert status in live["live-head"]


async def _saying(client: httpx.AsyncClient, path: str, *texts: str) -> str:
    """Return a page once it says all of that: its instance may be about to go on."""
    async with asyncio.timeout(60):
        while True:
            shown = html.unescape(await page(client, path))
            if all(one in shown for one in texts):
                return shown
            await asyncio.sleep(0.1)


async def _first(client: httpx.AsyncClient, path: str) -> dict[str, str]:
    async with asyncio.timeout(30), client.stream("GET", path) as answer:
        async for line in answer.aiter_lines():
            if line.startswith("data: "):
                parts: dict[str, str] = json.loads(line.removeprefix("data: "))
                return parts
    raise AssertionError("the stream has ended")
