"""Attacks a gateway, and prints what other clients see of it: `python -m tests.attacks [NAME …]`."""

import asyncio
import sys
from collections.abc import Sequence

from swf_temporal.temporal.server import local_server
from tests.attacks.gateway import ATTACKS, attacked, status_of
from tests.attacks.probing import probed


def _attack(address: str, words: Sequence[str]) -> None:
    with attacked(address) as target:
        for attack in ATTACKS:
            if words and not any(word in attack.name for word in words):
                continue
            with probed(f"http://{target.host}:{target.port}/livez", target.pid) as seen:
                status = status_of(attack, target.host, target.port)
            print(f"{attack.name}: {status or 'closed'}; {seen}", flush=True)


async def _main(words: Sequence[str]) -> None:
    async with local_server() as server:
        _attack(server.client.service_client.config.target_host, words)


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1:]))
