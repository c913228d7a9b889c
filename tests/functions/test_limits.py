"""How many calls are made at once, and how often."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import pytest

from swf_temporal.base.calls import Function
from swf_temporal.base.function_types import Callee
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.functions.limits import RateLimits
from swf_temporal.settings.calls import Options, Settings
from swf_temporal.settings.forms import Rate
from swf_temporal.settings.network import read_pattern
from tests.failing import fault_of
from tests.functions.conftest import Calling, Service, http_call

Work = Callable[[], Coroutine[Any, Any, None]]


class Crowd:
    """Counts who is inside, and lets nobody out before everybody who may come in is in."""

    def __init__(self) -> None:
        self.inside = self.most = 0

    async def visit(self) -> None:
        self.inside += 1
        self.most = max(self.most, self.inside)
        for _ in range(20):
            await asyncio.sleep(0)
        self.inside -= 1


ROOM = [Options(concurrency=1), Options(rate=Rate(1, 3600))]


def call_of(name: str) -> Call:
    return Call(Function(name=name, type="custom"))


async def made_beside(slow: Sequence[asyncio.Task[Any]], functions: Functions) -> set[asyncio.Task[Any]]:
    """Return which of five quick calls are not made beside *slow* ones, which end then."""
    quick = [asyncio.create_task(functions.call(call_of("quick"))) for _ in range(5)]
    _, waiting = await asyncio.wait(quick, timeout=5)
    for task in (*slow, *quick):
        task.cancel()
    await asyncio.gather(*slow, *quick, return_exceptions=True)
    return waiting


@pytest.mark.parametrize(("settings", "most"), [
    (Settings(), 8),
    (Settings(functions={"VISIT": Options(concurrency=3)}), 3),
    (Settings(functions={"OTHER": Options(concurrency=3)}), 8),
    (Settings(calls=Options(concurrency=2)), 2),
    (Settings(calls=Options(concurrency=2), functions={"VISIT": Options(concurrency=3)}), 2),
])  # fmt: skip
async def test_so_many_calls_at_once(calling: Calling, settings: Settings, most: int) -> None:
    crowd = Crowd()
    functions = calling({"visit": crowd.visit}, settings)
    await asyncio.gather(*(functions.call(call_of("visit")) for _ in range(8)))
    assert crowd.most == most


@pytest.mark.parametrize(("limited", "most"), [
    ({"services": {"visits.yaml": Options(concurrency=3)}}, (3, 3)),
    ({"services": {"other.yaml": Options(concurrency=3)}}, (8, 4)),
    (
        {
            "services": {"visits.yaml": Options(concurrency=3)},
            "functions": {"visit": Options(concurrency=2)},
            "calls": Options(concurrency=4),
        },
        (3, 2),
    ),
])  # fmt: skip
async def test_so_many_calls_of_a_service(limited: dict[str, Any], most: tuple[int, int]) -> None:
    """Whichever functions call it, beside what holds for these; none waits for another in a circle."""
    limits, crowd, own = RateLimits(Settings(**limited)), Crowd(), Crowd()

    async def visit(function: str) -> None:
        async with limits.of_callee(Callee(function, ("specs/visits.yaml", "visits.yaml"))):
            await asyncio.gather(crowd.visit(), *([own.visit()] if function == "visit" else []))

    async with asyncio.timeout(30):
        await asyncio.gather(*(visit(function) for function in ("visit", "other") for _ in range(4)))
    assert (crowd.most, own.most) == most


async def test_so_many_calls_of_a_host(calling: Calling, service: Service) -> None:
    service.answers_with("GET", "/a", {})
    host = read_pattern(service.url.removeprefix("http://"))
    limits = RateLimits(Settings(hosts={host: Options(concurrency=1)}))
    crowd, others = Crowd(), Crowd()

    async def visit(one: Crowd, name: str) -> None:
        async with limits.of_host(name, host.port or 0):
            await one.visit()

    await asyncio.gather(
        *(visit(crowd, "127.0.0.1") for _ in range(4)), *(visit(others, "localhost") for _ in range(4))
    )
    assert (crowd.most, others.most) == (1, 4)

    functions = calling(settings=Settings(hosts={host: Options(concurrency=1)}))
    await asyncio.gather(*(functions.call(http_call("GET", f"{service.url}/a")) for _ in range(4)))
    assert len({request.connection for request in service.requests}) == 1, "one at a time needs one connection"


async def test_so_many_calls_in_a_time(calling: Calling) -> None:
    """Those beyond it wait until there is room, which a call that is cancelled leaves to the others."""
    made: list[int] = []
    settings = Settings(functions={"MARK": Options(rate=Rate(3, 3600))})
    functions = calling({"mark": lambda: made.append(1)}, settings)
    waiting = [asyncio.create_task(functions.call(call_of("mark"))) for _ in range(5)]
    done, pending = await asyncio.wait(waiting, timeout=0.5)
    for task in pending:
        task.cancel()
    await asyncio.gather(*pending, return_exceptions=True)
    assert (len(done), len(pending), len(made)) == (3, 2, 3)


@pytest.mark.parametrize("own", ROOM, ids=["concurrency", "rate"])
async def test_calls_that_wait_for_their_function_leave_others_room(calling: Calling, own: Options) -> None:
    """However many wait: of the calls that may be made at once, they take what one of them takes."""
    settings = Settings(calls=Options(concurrency=3), functions={"SLOW": own})
    functions = calling({"slow": asyncio.Event().wait, "quick": dict}, settings)
    slow = [asyncio.create_task(functions.call(call_of("slow"))) for _ in range(5)]
    await asyncio.sleep(0)
    assert not await made_beside(slow, functions)


@pytest.mark.parametrize("own", ROOM, ids=["concurrency", "rate"])
async def test_calls_that_wait_for_their_host_leave_others_room(
    calling: Calling, service: Service, own: Options
) -> None:
    """However many wait, and though each has had its place before it is known which host it asks."""
    service.hangs("GET", "/slow")
    host, crowd = read_pattern(service.url.removeprefix("http://")), Crowd()
    settings = Settings(calls=Options(concurrency=3), hosts={host: own})
    functions = calling({"quick": crowd.visit}, settings)
    slow = [asyncio.create_task(functions.call(http_call("GET", f"{service.url}/slow"))) for _ in range(6)]
    await asyncio.to_thread(service.asked.wait, 5)
    assert not await made_beside(slow, functions)
    at_once, crowd.most = crowd.most, 0
    await asyncio.gather(*(functions.call(call_of("quick")) for _ in range(8)))
    assert at_once <= 2, "those that are made count still"
    assert crowd.most == 3, "those that were cancelled as they waited have given no place back twice"


async def test_a_failed_call_leaves_its_place(calling: Calling) -> None:
    def fail() -> None:
        raise ValueError("no")

    functions = calling({"fail": fail}, Settings(calls=Options(concurrency=1)))
    await asyncio.gather(*(fault_of(functions.call(call_of("fail")), "ValueError") for _ in range(3)))
