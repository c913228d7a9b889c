"""How many pages of a tenant are made at the same time."""

import asyncio
import time

import pytest
from starlette.responses import Response

from swf_temporal.http.console import pages
from swf_temporal.http.console.application import Rooms


async def test_a_tenant_fills_in_one_page_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """At most eight are shown at once, but those that have a limit of their own; another tenant waits for none."""
    showing, filling = [0], [0]
    most_shown, most_filled = [0], [0]

    def fill(_: str) -> str:
        filling[0] += 1
        most_filled[0] = max(most_filled[0], filling[0])
        time.sleep(0.005)
        filling[0] -= 1
        return "page"

    async def show() -> Response:
        showing[0] += 1
        most_shown[0] = max(most_shown[0], showing[0])
        await asyncio.sleep(0.01)
        showing[0] -= 1
        return pages.page("any.html")

    monkeypatch.setattr(pages, "html_of", fill)
    rooms = Rooms()
    made = await asyncio.gather(*(rooms.made(show) for _ in range(30)))
    assert {one.body for one in made} == {b"page"}
    assert {one.headers["content-length"] for one in made} == {"4"}
    assert (most_shown, most_filled) == ([8], [1])
    most_shown[0] = 0
    await asyncio.gather(*(rooms.made(show, has_own_room=True) for _ in range(30)))
    assert most_shown == [30]


async def test_a_crowd_of_one_tenant_holds_up_no_other() -> None:
    ends = asyncio.Event()

    async def waiting() -> Response:
        await ends.wait()
        return Response()

    async def quick() -> Response:
        return Response("there")

    rooms = Rooms()
    crowd = [asyncio.create_task(rooms.made(waiting)) for _ in range(20)]
    await asyncio.sleep(0)
    assert (await asyncio.wait_for(Rooms().made(quick), 30)).body == b"there"
    own = asyncio.create_task(rooms.made(quick))
    await asyncio.sleep(0.05)
    assert not own.done()
    ends.set()
    await asyncio.gather(*crowd, own)
