"""Clients beside those that attack: what they see of a program, and the memory that it takes."""

import asyncio
import re
import statistics
import time
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Final

from tests.attacks.crowds import read_answer
from tests.attacks.gateway import Target

_PATIENCE: Final = 10
_LATE: Final = 0.15
"""Seconds between a connection and the head that is sent late."""
_EVERY: Final = 0.05
_KEEP_ALIVE: Final = 4
_KEEP_ALIVE_EVERY: Final = 0.25
_AT_REST: Final = 60
"""The number of files that a process may have open without connections."""
_PATIENCE_FOR_REST: Final = 60
_LOGGED: Final = 3000
"""The length of the end of a log that is shown."""


@dataclass
class Served:
    seconds: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def p95(self) -> float:
        return statistics.quantiles(self.seconds, n=20)[-1] if len(self.seconds) > 1 else sum(self.seconds)

    def __str__(self) -> str:
        return f"p95 {self.p95:.3f} s, {len(self.failures)} of {len(self.seconds) + len(self.failures)} failed"


class Others:
    """Clients that send the head of a request at once, that send it late, and that keep their connections."""

    def __init__(self, target: Target, path: str = "/livez", header: str = "accept: */*") -> None:
        self._host, self._port, self._pid, self._log = target
        self._request = f"GET {path} HTTP/1.1\r\nhost: {self._host}\r\n{header}\r\n"
        self._all_are_kept = asyncio.Event()
        self.served = {kind: Served() for kind in ("head at once", "head after 150 ms", "kept connections")}
        self.mebibytes = self.descriptors = 0
        """By how much the memory grew that it held at most, and how many files it had open at most."""

    def __str__(self) -> str:
        told = [f"{kind}: {one}" for kind, one in self.served.items()]
        return "; ".join([*told, f"memory {self.mebibytes:+} MiB", f"{self.descriptors} files"])

    @property
    def p95(self) -> float:
        return max(one.p95 for one in self.served.values())

    @property
    def failures(self) -> list[str]:
        return [f"{kind}: {failure}" for kind, one in self.served.items() for failure in one.failures]

    @asynccontextmanager
    async def asking(self) -> AsyncIterator[None]:
        """Ask again and again for as long as the context lasts, which begins once there are connections to keep."""
        kinds = [
            self._new("head at once", 0),
            self._new("head after 150 ms", _LATE),
            *(self._kept() for _ in range(_KEEP_ALIVE)),
            self._watch(),
        ]
        asking = [asyncio.create_task(one) for one in kinds]
        beginning = asyncio.create_task(self._all_are_kept.wait())
        try:
            await asyncio.wait([beginning, *asking], return_when=asyncio.FIRST_COMPLETED)
            beginning.cancel()
            if not any(one.done() for one in asking):
                yield
        finally:
            for one in asking:
                one.cancel()
            done, _ = await asyncio.wait(asking)
        for one in done:
            if not one.cancelled():
                one.result()

    async def _new(self, kind: str, late: float) -> None:
        while True:

            async def asked() -> float:
                reader, writer = await asyncio.open_connection(self._host, self._port)
                try:
                    await asyncio.sleep(late)
                    writer.write(f"{self._request}connection: close\r\n\r\n".encode())
                    await _answered(reader)
                finally:
                    writer.transport.abort()
                return late

            await self._count(self.served[kind], asked)
            await asyncio.sleep(_EVERY)

    async def _kept(self) -> None:
        while True:
            reader, writer = await asyncio.open_connection(self._host, self._port)

            async def asked(reader: asyncio.StreamReader = reader, writer: asyncio.StreamWriter = writer) -> float:
                writer.write(f"{self._request}\r\n".encode())
                await _answered(reader)
                return 0

            try:
                while await self._count(self.served["kept connections"], asked):
                    if len(self.served["kept connections"].seconds) >= _KEEP_ALIVE:
                        self._all_are_kept.set()
                    await asyncio.sleep(_KEEP_ALIVE_EVERY)
            finally:
                writer.transport.abort()

    async def _watch(self) -> None:
        """Note what the process holds."""
        await self._all_are_kept.wait()
        before = _first_held(self._pid)
        while True:
            if (status := _exit_status(self._pid)) is not None:
                log = "" if self._log is None else self._log.read_text()[-_LOGGED:]
                raise RuntimeError(f"the process that is attacked has ended with the wait status {status}: {log}")
            self.mebibytes = _held(self._pid, "VmHWM") - before
            self.descriptors = max(self.descriptors, _open_files(self._pid))
            await asyncio.sleep(_KEEP_ALIVE_EVERY)

    async def _count(self, served: Served, ask: Callable[[], Awaitable[float]]) -> bool:
        began = time.monotonic()
        try:
            async with asyncio.timeout(_PATIENCE):
                waited = await ask()
        except (OSError, EOFError, TimeoutError, ValueError) as error:
            served.failures.append(repr(error))
            return False
        served.seconds.append(time.monotonic() - began - waited)
        return True


async def _answered(reader: asyncio.StreamReader) -> None:
    status = await read_answer(reader)
    if b" 200 " not in status:
        raise ValueError(status.decode())


_LONG_PATIENCE: Final = 100


@dataclass
class Seen:
    seconds: list[float] = field(default_factory=list)
    """What each request of another client took."""
    mebibytes: int = 0
    """By how much the memory grew that it held at most."""

    def __str__(self) -> str:
        p95 = statistics.quantiles(self.seconds, n=20)[-1] if len(self.seconds) > 1 else sum(self.seconds)
        return f"others: p95 {p95:.3f} s, longest {max(self.seconds):.3f} s; memory: {self.mebibytes:+} MiB"


@contextmanager
def probed(url: str, pid: int) -> Iterator[Seen]:
    """Ask for *url* again and again for as long as the context lasts; each answer has to be a good one."""
    seen, is_over, failures = Seen(), Event(), list[Exception]()

    def probe() -> None:
        try:
            while not is_over.wait(_EVERY) or not seen.seconds:
                begun = time.monotonic()
                with urllib.request.urlopen(url, timeout=_LONG_PATIENCE) as answer:
                    answer.read()
                seen.seconds.append(time.monotonic() - begun)
        except Exception as error:  # noqa: BLE001 - told by the thread that waits
            failures.append(error)

    before, thread = _first_held(pid), Thread(target=probe)
    thread.start()
    try:
        yield seen
    finally:
        is_over.set()
        thread.join()
        seen.mebibytes = _held(pid, "VmHWM") - before
    if failures:
        raise failures[0]


def _first_held(pid: int) -> int:
    """Return the memory that a process holds; the highest mark of it begins anew."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")
    return _held(pid)


async def until_at_rest(pid: int) -> None:
    """Wait until the process has closed the connections of a crowd that has gone."""
    async with asyncio.timeout(_PATIENCE_FOR_REST):
        while _open_files(pid) > _AT_REST:
            await asyncio.sleep(_EVERY)


def _open_files(pid: int) -> int:
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


def _exit_status(pid: int) -> int | None:
    """Return the wait status of a process that has ended and is not reaped; None if it runs."""
    state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[-1]) if state == "Z" else None


def _held(pid: int, mark: str = "VmRSS") -> int:
    found = re.search(rf"{mark}:\s*(\d+)", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) >> 10
