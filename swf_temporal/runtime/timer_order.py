"""The order of what is due, where several moments have passed before anything could be done about them.

An engine whose workers were away hands over at once what came meanwhile: results of calls, and timers that fired. Which
path of a run then takes the first step depends on how many tasks lie between it and what it waited for. So whoever has
waited for a moment waits for its turn, too: first all is done that can be done with what has come, then with what was
due first, and so on. A result that is there counts, and so does the shorter of two sleeps.
"""

import asyncio
from heapq import heappop, heappush

from swf_temporal.runtime.host import Host


class TimerOrder:
    def __init__(self, host: Host) -> None:
        """Make turns of which each begins when *host* says that nothing is left to do of the one before."""
        self._host = host
        self._due: list[tuple[float, int, asyncio.Future[None]]] = []
        self._number = 0
        self._giving: asyncio.Task[None] | None = None

    async def at(self, moment: float) -> None:
        """Wait for the turn of *moment*, which has passed."""
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[None] = loop.create_future()
        self._number += 1
        heappush(self._due, (moment, self._number, turn))
        if self._giving is None:
            self._giving = loop.create_task(self._give())
        await turn

    async def _give(self) -> None:
        while self._due:
            await self._host.settled()
            while self._due:
                turn = heappop(self._due)[2]
                if not turn.done():
                    turn.set_result(None)
                    break
        self._giving = None
