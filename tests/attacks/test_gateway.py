"""One request stops no gateway, and does not fill its memory."""

import sys
from collections.abc import AsyncIterator

import pytest

from swf_temporal.temporal.server import local_server
from tests.attacks.gateway import ATTACKS, Attack, Target, attacked, status_of
from tests.attacks.probing import probed

pytestmark = [pytest.mark.temporal, pytest.mark.skipif(sys.platform != "linux", reason="memory is read of the kernel")]
MEMORY = 200
"""MiB that a request may take: a body of 8 MiB has a dozen of copies at one moment."""


@pytest.fixture(scope="module")
async def target() -> AsyncIterator[Target]:
    async with local_server() as server:
        with attacked(server.client.service_client.config.target_host) as target:
            yield target


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_is_refused_while_others_are_answered(target: Target, attack: Attack) -> None:
    with probed(f"http://{target.host}:{target.port}/livez", target.pid) as seen:
        status = status_of(attack, target.host, target.port)
    print(f"{attack.name}: {status}, {seen}")
    assert status in attack.statuses
    assert seen.mebibytes < MEMORY
