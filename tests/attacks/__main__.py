"""Attacks gateways and a served function, and prints what others see meanwhile: `python -m tests.attacks [NAME …]`.

It ends with 1 if others were not answered, or too late, or if a process held too much. Where others wait longer than
they should, a server that does nothing is attacked in the same way, to tell what of it is the machine's.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from typing import Final

from swf_temporal.temporal.server import local_server
from tests.attacks.gateway import ATTACKS, OF_FUNCTION, Attack, status_of
from tests.attacks.others import probed
from tests.attacks.places import Attacked, bare_server, open_gateway, served_function
from tests.attacks.rows import ROWS, others_beside

_MAX_SECONDS: Final = 0.1
"""The p95 of what others wait."""


async def _requests(address: str, words: Sequence[str]) -> list[str]:
    """Make the single requests; return what is wrong."""
    wrong = list[str]()
    for place, attacks in ((open_gateway, ATTACKS), (served_function, OF_FUNCTION)):
        chosen = [one for one in attacks if _is_chosen(one.name, words)]
        if chosen:
            async with place(address, None) as attacked:
                for attack in chosen:
                    wrong += await asyncio.to_thread(_made, attack, attacked)
    return wrong


def _made(attack: Attack, attacked: Attacked) -> list[str]:
    target = attacked.target
    with probed(f"http://{target.host}:{target.port}{attacked.path}", target.pid) as seen:
        status = status_of(attack, target.host, target.port)
    print(f"{attack.name}: {status or 'closed'}; {seen}", flush=True)
    return [] if status in attack.statuses else [f"{attack.name} is answered with {status}"]


async def _crowds(address: str, words: Sequence[str], seconds: float) -> list[str]:
    wrong = list[str]()
    for row in [one for one in ROWS if _is_chosen(one.name, words)]:
        async with row.place(address, row.files) as attacked:
            others = await others_beside(row, attacked, seconds)
        print(f"{row.number:,} {row.name}: {others}", flush=True)
        wrong += [f"{row.name}: {one}" for one in others.failures[:3]]
        if others.p95 >= _MAX_SECONDS:
            async with bare_server(row.files) as bare:
                floor = await others_beside(row, bare, seconds)
            print(f"    of a server that does nothing: {floor}", flush=True)
            wrong.append(f"{row.name}: others wait {others.p95:.3f} s (p95), of a bare server {floor.p95:.3f} s")
        if others.mebibytes > row.mebibytes:
            wrong.append(f"{row.name}: the memory grows by {others.mebibytes:,} MiB")
        if others.descriptors > row.files:
            wrong.append(f"{row.name}: {others.descriptors:,} files are open")
    return wrong


def _is_chosen(name: str, words: Sequence[str]) -> bool:
    return not words or any(word in name for word in words)


async def _main(words: Sequence[str], seconds: float) -> int:
    async with local_server() as server:
        address = server.client.service_client.config.target_host
        wrong = [*await _requests(address, words), *await _crowds(address, words, seconds)]
    print(*(f"wrong: {one}" for one in wrong), f"{len(wrong)} things are wrong", sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.attacks")
    parser.add_argument("words", nargs="*", metavar="NAME", help="a part of the names of attacks; all without one")
    parser.add_argument("--seconds", type=float, default=20, help="how long each crowd stays")
    given = parser.parse_args()
    sys.exit(asyncio.run(_main(given.words, given.seconds)))
