"""What clients do to a gateway stops nobody else: neither one request, nor many connections, nor tokens."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Iterator

import httpx
import jwt
import pytest

from swf_temporal.temporal.server import local_server
from tests.attacks.crowds import CROWDS, crowding
from tests.attacks.gateway import ATTACKS, Attack, Target, attacked, status_of
from tests.attacks.others import Others, probed
from tests.attacks.streams import COOKIE, large_instance

pytestmark = [pytest.mark.temporal, pytest.mark.skipif(sys.platform != "linux", reason="the kernel is asked")]

MEMORY = 200
"""MiB that a request may take: a body of 8 MiB has a dozen of copies at one moment."""
FILES = 1024
NUMBERS = {"kept connections": 700}
"""How many are held: not more than there can be, where others of the same address cannot be told from them."""
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


@pytest.mark.parametrize("crowd", [name for name in CROWDS if name != "pages"])
async def test_a_crowd_leaves_room_for_others(target: Target, crowd: str) -> None:
    others = Others(target.host, target.port)
    async with crowding(target.host, target.port, NUMBERS.get(crowd, 900), crowd), others.asking():
        await asyncio.sleep(SECONDS)
    print(f"{crowd}: {others}")
    assert not others.failures
    assert all(one.seconds for one in others.served.values())


async def test_others_are_answered_while_a_large_instance_is_watched(temporal: str) -> None:
    """By more than may, with a key that may only read; they are told so, and its page shows it."""
    async with large_instance(temporal) as watched:
        host, port, _ = watched.target
        others = Others(host, port, "/console/definitions", COOKIE)
        crowd = crowding(host, port, 600, "pages", path=f"{watched.path}/stream", cookie=COOKIE)
        async with others.asking(), crowd, client_of(watched.target) as client:
            await asyncio.sleep(SECONDS)
            refused = await client.get(f"{watched.path}/stream", headers={"cookie": COOKIE})
            drawn = await client.get(f"{watched.path}/pictures", headers={"cookie": COOKIE})
        print(f"streams: {others}")
    assert not others.failures
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
