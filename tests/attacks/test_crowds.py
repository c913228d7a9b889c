"""Many connections leave room for others, though all come from one address."""

import asyncio
import sys
from collections.abc import AsyncIterator

import httpx
import pytest

from swf_temporal.temporal.server import local_server
from tests.attacks.crowds import CROWDS, crowding
from tests.attacks.gateway import Target, attacked
from tests.attacks.others import Others
from tests.attacks.streams import COOKIE, large_instance

pytestmark = [pytest.mark.temporal, pytest.mark.skipif(sys.platform != "linux", reason="`ulimit -n` is set with sh")]
FILES = 1024
NUMBERS = {"kept connections": 700}
"""How many are held: not more than there can be, where others of the same address cannot be told from them."""
SECONDS = 8


@pytest.fixture(scope="module")
async def target() -> AsyncIterator[Target]:
    async with local_server() as server:
        with attacked(server.client.service_client.config.target_host, "", "--console", files=FILES) as target:
            yield target


@pytest.mark.parametrize("crowd", [name for name in CROWDS if name != "pages"])
async def test_others_are_answered(target: Target, crowd: str) -> None:
    others = Others(target.host, target.port)
    async with crowding(target.host, target.port, NUMBERS.get(crowd, 900), crowd), others.asking():
        await asyncio.sleep(SECONDS)
    print(f"{crowd}: {others}")
    assert not others.failures
    assert all(one.seconds for one in others.served.values())


async def test_others_are_answered_while_a_large_instance_is_watched() -> None:
    """By more than may, with a key that may only read; they are told so, and its page shows it."""
    async with local_server() as server, large_instance(server.client.service_client.config.target_host) as watched:
        host, port, _ = watched.target
        others = Others(host, port, "/console/definitions", COOKIE)
        crowd = crowding(host, port, 600, "pages", path=f"{watched.path}/stream", cookie=COOKIE)
        async with others.asking(), crowd:
            await asyncio.sleep(SECONDS)
            async with httpx.AsyncClient(base_url=f"http://{host}:{port}", trust_env=False, timeout=60) as client:
                refused = await client.get(f"{watched.path}/stream", headers={"cookie": COOKIE})
                drawn = await client.get(f"{watched.path}/pictures", headers={"cookie": COOKIE})
        print(f"streams: {others}")
    assert not others.failures
    assert refused.status_code == 429
    assert "50 pages of instances are open with this key, which is the limit" in refused.text
    assert drawn.text.count("<svg") == 2
