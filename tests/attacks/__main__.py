"""Attacks a gateway, and prints what other clients see of it: `python -m tests.attacks [NAME …]`."""

import asyncio
import sys
from collections.abc import Sequence
from typing import Final

from swf_temporal.temporal.server import local_server
from tests.attacks.crowds import CROWDS, crowding
from tests.attacks.gateway import ATTACKS, attacked, status_of
from tests.attacks.others import Others, probed
from tests.attacks.streams import COOKIE, large_instance

_CROWDS: Final = ((600, 1024), (4300, 20_000))
"""How many connections are held, and how many files the gateway may have open."""
_PAGES: Final = ((600, "/stream"), (40, "/stream"), (4, "/pictures"))
_SECONDS: Final = 20


def _attack(address: str, words: Sequence[str]) -> None:
    with attacked(address) as target:
        for attack in ATTACKS:
            if words and not any(word in attack.name for word in words):
                continue
            with probed(f"http://{target.host}:{target.port}/livez", target.pid) as seen:
                status = status_of(attack, target.host, target.port)
            print(f"{attack.name}: {status or 'closed'}; {seen}", flush=True)


async def _crowd(address: str, words: Sequence[str]) -> None:
    for crowd in [name for name in CROWDS if name != "pages"]:
        for number, files in _CROWDS:
            if words and not any(word in crowd for word in words):
                continue
            with attacked(address, "", "--console", files=files) as target:
                others = Others(target.host, target.port)
                async with others.asking(), crowding(target.host, target.port, number, crowd):
                    await asyncio.sleep(_SECONDS)
            print(f"{number:,} {crowd}, {files:,} files: {others}", flush=True)


async def _watch(address: str, words: Sequence[str]) -> None:
    for number, what in _PAGES:
        if words and not any(word in what for word in words):
            continue
        async with large_instance(address) as watched:
            host, port, _ = watched.target
            others = Others(host, port, "/console/definitions", COOKIE)
            crowd = crowding(host, port, number, "pages", path=f"{watched.path}{what}", cookie=COOKIE)
            async with others.asking(), crowd:
                await asyncio.sleep(_SECONDS)
        print(f"{number} times {what} of a large instance: {others}", flush=True)


async def _main(words: Sequence[str]) -> None:
    async with local_server() as server:
        address = server.client.service_client.config.target_host
        _attack(address, words)
        await _crowd(address, words)
        await _watch(address, words)


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1:]))
