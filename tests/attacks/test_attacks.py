"""What clients do to a gateway stops nobody else: neither one request, nor many connections, nor tokens."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack

import httpx
import jwt
import pytest

from swf_temporal.temporal.server import local_server
from tests.attacks.crowds import crowding, of_client
from tests.attacks.gateway import ATTACKS, Attack, Target, attacked, status_of
from tests.attacks.others import probed
from tests.attacks.places import COOKIE, Attacked, large_instance
from tests.attacks.rows import ROWS, Row, others_beside
from tests.sampling import sample

pytestmark = [pytest.mark.temporal, pytest.mark.skipif(sys.platform != "linux", reason="the kernel is asked")]

MEMORY = 200
"""MiB that a request may take: a body of 8 MiB has a dozen of copies at one moment."""
FILES = 1024
NUMBERS = {
    "kept connections": 700, "drawings": 10, "forms": 10,
    **dict.fromkeys(("pages of a large instance", "data of a large instance", "data of large instances"), 60),
}  # fmt: skip
"""How many are held: not more than there can be, where others of the same address cannot be told from them.

What takes the processor is less here, where other tests run beside it.
"""
SECONDS = 3
KEY = "a-key-of-16-chars"
TOKENS = 30


@pytest.fixture(scope="module")
async def temporal() -> AsyncIterator[str]:
    async with local_server() as server:
        yield server.client.service_client.config.target_host


@pytest.fixture(scope="module")
def target(temporal: str) -> Iterator[Target]:
    with attacked(temporal, "", "--console", files=FILES) as target:
        yield target


def client_of(target: Target) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=f"http://{target.host}:{target.port}", trust_env=False, timeout=110)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_a_request_is_refused_while_others_are_answered(target: Target, attack: Attack) -> None:
    with probed(f"http://{target.host}:{target.port}/livez", target.pid) as seen:
        status = status_of(attack, target.host, target.port)
    print(f"{attack.name}: {status}, {seen}")
    assert status in attack.statuses
    assert seen.mebibytes < MEMORY


QUICK = [one._replace(number=NUMBERS.get(one.name, one.number)) for one in ROWS if one.files == FILES]


@pytest.fixture(scope="module")
async def places(temporal: str) -> AsyncIterator[Callable[[Row], Awaitable[Attacked]]]:
    """Each process that is attacked, started when it is first needed."""
    begun: dict[object, Attacked] = {}
    async with AsyncExitStack() as stack:

        async def place_of(row: Row) -> Attacked:
            if row.place not in begun:
                begun[row.place] = await stack.enter_async_context(row.place(temporal, FILES))
            return begun[row.place]

        yield place_of


@pytest.mark.parametrize("row", sample(QUICK, "attacks", 10), ids=lambda row: row.name)
async def test_a_crowd_leaves_room_for_others(places: Callable[[Row], Awaitable[Attacked]], row: Row) -> None:
    others = await others_beside(row, await places(row), SECONDS)
    print(f"{row.name}: {others}")
    assert not others.failures
    assert all(one.seconds for one in others.served.values())
    assert others.mebibytes < row.mebibytes
    assert others.descriptors < FILES


async def test_those_who_watch_more_than_they_may_are_told_so(temporal: str) -> None:
    """Their pages show why they are not live; those that are, and pictures, are still shown."""
    async with large_instance(temporal) as attacked:
        path = f"/console/instances/{attacked.instance}"
        name, _, value = COOKIE.partition(": ")
        crowd = of_client("GET", f"{path}/stream", COOKIE)
        host, port, *_ = attacked.target
        async with crowding(host, port, 600, crowd), client_of(attacked.target) as client:
            await asyncio.sleep(SECONDS)
            refused = await client.get(f"{path}/stream", headers={name: value})
            drawn = await client.get(f"{path}/pictures", headers={name: value})
            while drawn.status_code == 503:  # a busy machine does not draw in time, and says so
                drawn = await client.get(f"{path}/pictures", headers={name: value})
    assert refused.status_code == 429
    assert "50 pages of instances are open with this key, which is the limit" in refused.text
    assert drawn.text.count("<svg") == 2


async def test_an_issuer_that_does_not_answer_holds_up_only_tokens(temporal: str) -> None:
    """Instances are read and started by an API key meanwhile; tokens are answered with 503."""
    with socket.create_server(("127.0.0.1", 0)) as issuer:  # which takes connections, and says nothing
        url = f"http://127.0.0.1:{issuer.getsockname()[1]}/jwks.json"
        tenant = "{workflows: ['*'], keys: ['env:SWF_TEST_KEY'], claims: {group: us}}"
        configuration = f"gateway: {{jwks: '{url}', audience: us, tenants: {{us: {tenant}}}}}"
        junk = [jwt.encode({"n": n}, "a" * 32, headers={"kid": str(n)}) for n in range(TOKENS)]
        with attacked(temporal, configuration, SWF_TEST_KEY=KEY) as target:
            async with client_of(target) as client, asyncio.TaskGroup() as group:
                shown = [{"Authorization": f"Bearer {one}"} for one in junk]
                asked = [group.create_task(client.get("/workflows", headers=one)) for one in shown]
                started = await client.post("/workflows/hello", json={"name": "Ada"}, headers={"X-API-Key": KEY})
                assert not all(one.done() for one in asked)
    assert (started.status_code, [one.result().status_code for one in asked]) == (202, [503] * TOKENS)
