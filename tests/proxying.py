"""A proxy that does to connections what networks do: delays, stalls, cuts, halves and slows them."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from random import Random

_CHUNK = 1 << 16
_SLOW_CHUNK = 512


class Proxy:
    """Passes bytes between its clients and a server, and does harm when it is told to. For a test in any thread."""

    def __init__(self, port: int, loop: asyncio.AbstractEventLoop) -> None:
        self.address = ""
        self._port = port
        self._loop = loop
        self._passing = asyncio.Event()
        self._passing.set()
        self._delay = 0.0
        self._is_slow = self._is_away = False
        self._half: int | None = None
        self._writers: set[asyncio.StreamWriter] = set()

    def stall(self) -> None:
        self._do(self._passing.clear)

    def heal(self) -> None:
        def heal() -> None:
            self._delay, self._is_slow, self._is_away, self._half = 0.0, False, False, None
            self._passing.set()

        self._do(heal)

    def cut(self) -> None:
        self._do(self._abort)

    def go_away(self) -> None:
        def leave() -> None:
            self._is_away = True
            self._abort()

        self._do(leave)

    def halve(self, count: int) -> None:
        """Reset the next connection whose server has sent *count* bytes from now on."""
        self._do(lambda: setattr(self, "_half", count))

    def delay(self, seconds: float) -> None:
        self._do(lambda: setattr(self, "_delay", seconds))

    def slow(self) -> None:
        self._do(lambda: setattr(self, "_is_slow", True))
        self.delay(0.002)

    def harm(self, random: Random, *chosen: str) -> None:
        """Do any of that, or of what is *chosen*, instead of what was done before."""
        self.heal()
        harms: dict[str, Callable[[], None]] = {
            "stall": self.stall, "cut": self.cut, "half": lambda: self.halve(random.randrange(1, 2000)),
            "slow": self.slow, "delay": lambda: self.delay(random.uniform(0.01, 0.1)),
        }  # fmt: skip
        harms[random.choice(chosen or list(harms))]()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass what a client and the server say to each other."""
        both = {writer}
        try:
            if not self._is_away:
                server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self._port)
                both.add(server_writer)
                self._writers |= both
                await asyncio.gather(
                    self._pass(reader, server_writer, is_answer=False),
                    self._pass(server_reader, writer, is_answer=True),
                )
        except (OSError, asyncio.CancelledError):
            pass  # the server is not there, or the test is over
        finally:
            self._writers -= both
            for one in both:
                one.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_answer: bool) -> None:
        with suppress(OSError):
            while data := await reader.read(_SLOW_CHUNK if self._is_slow else _CHUNK):
                await asyncio.sleep(self._delay)
                await self._passing.wait()
                if is_answer and self._half is not None:
                    self._half -= len(data)
                    if self._half <= 0:
                        writer.write(data[: self._half])
                        self._half = None
                        await writer.drain()
                        break
                writer.write(data)
                await writer.drain()
        # What one side closes is closed on both: nobody here goes on with half a connection.
        writer.close()

    def _abort(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    def _do(self, work: Callable[[], object]) -> None:
        async def do() -> None:
            work()

        asyncio.run_coroutine_threadsafe(do(), self._loop).result()


@contextmanager
def proxying(port: int) -> Iterator[Proxy]:
    """Pass connections to *port*, by a thread, until the block ends."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def start() -> tuple[Proxy, asyncio.Server]:
        proxy = Proxy(port, loop)
        server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
        proxy.address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        return proxy, server

    async def stop(server: asyncio.Server) -> None:
        server.close()
        ours = asyncio.current_task()
        others = [one for one in asyncio.all_tasks() if one is not ours]
        for one in others:
            one.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await asyncio.sleep(0)  # then the sockets are closed

    proxy, server = asyncio.run_coroutine_threadsafe(start(), loop).result()
    try:
        yield proxy
    finally:
        asyncio.run_coroutine_threadsafe(stop(server), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
