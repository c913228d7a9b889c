"""The service that the calls of a soak reach: now and then it fails, is slow, or answers what nobody hears."""

import asyncio
import json
import random
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tests.upgrades.cases import ALONE

FAILING = ("broken", "sleepy")
"""Functions that fail on purpose, and are not tried again: the first request may be refused, and so not counted."""
_FAILING, _DEAF, _SLOW = 0.06, 0.03, 0.05
"""Shares of requests: refused before anything is done; done, and the connection cut; done, and answered late."""
_LATE = 2.5
"""Seconds, which is more than a worker waits."""


@dataclass
class Service:
    url: str = ""
    requests: int = 0
    refused: int = 0
    unheard: int = 0
    late: int = 0
    done: dict[str, tuple[str, str]] = field(default_factory=dict)
    """By idempotency key, the function and the arguments of what was done: each is done once."""
    repeated: Counter[str] = field(default_factory=Counter)
    """By idempotency key, how many further requests came with it."""
    wrong: list[str] = field(default_factory=list)
    keys_of: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """By instance, the keys of its calls and of those of its sub-workflows."""

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode().split("\r\n")
                headers = {name.lower(): value.strip() for name, _, value in (one.partition(":") for one in lines[1:])}
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                status = await self._take(lines[0].split(" ")[1], headers["idempotency-key"], body)
                if status is None:
                    break
                writer.write(f"HTTP/1.1 {status} .\r\nContent-Length: 0\r\n\r\n".encode())
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # a worker was killed
        finally:
            writer.close()

    async def _take(self, path: str, key: str, body: bytes) -> int | None:
        self.requests += 1
        if path.strip("/") == ALONE:
            # A call that is not awaited is not made again: it has come, whatever it is answered.
            self.keys_of[key.partition("/")[0]].add(key)
        chance = random.random()  # noqa: S311 - no secret
        if chance < _FAILING:
            self.refused += 1
            return 503
        asked = (path, json.dumps(json.loads(body), sort_keys=True))
        before = self.done.setdefault(key, asked)
        if before is not asked:
            self.repeated[key] += 1
        if before != asked:
            self.wrong.append(f"{key}: {before}, then {asked}")
        if path.strip("/") not in FAILING:
            self.keys_of[key.partition("/")[0]].add(key)
        if chance < _FAILING + _DEAF:
            self.unheard += 1
            return None
        if chance < _FAILING + _DEAF + _SLOW:
            self.late += 1
            await asyncio.sleep(_LATE)
        return 200


@asynccontextmanager
async def service() -> AsyncIterator[Service]:
    kept = Service()
    server = await asyncio.start_server(kept.answer, "127.0.0.1", 0)
    kept.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield kept
    finally:
        server.close()
