"""The settings of this process among several that one `swf worker` started."""

import asyncio
import os
import signal
from dataclasses import dataclass
from typing import Final, Self

from swf_temporal.expressions.guarding.helper import WORKER_PROCESS

LOOPBACK: Final = "127.0.0.1"
_LOOKS_EVERY: Final = 1.0


@dataclass(frozen=True, slots=True)
class WorkerProcess:
    """The identity of this process among others that one command started."""

    number: int
    """Its number, from 1 on, which it keeps when it is restarted."""
    count: int
    health_port: int
    metrics_port: int
    parent: int
    """The parent process: when that has gone, this one stops."""

    @classmethod
    def own(cls) -> Self | None:
        """Return the identity of this process; None if it is the only one."""
        said = os.environ.get(WORKER_PROCESS)
        return None if not said else cls(*map(int, said.split("/")))

    def said(self) -> str:
        return f"{self.number}/{self.count}/{self.health_port}/{self.metrics_port}/{self.parent}"

    async def stop_when_alone(self) -> None:
        """Stop this process once the parent has gone."""
        while os.getppid() == self.parent:  # noqa: ASYNC110 - nothing notifies it
            await asyncio.sleep(_LOOKS_EVERY)
        os.kill(os.getpid(), signal.SIGTERM)
