"""Pictures of instances on pages. Those of large ones are drawn in another process, so as not to block requests.

Replaying a history takes as long as its workflow tasks took, and blocks everything else. The process is started when
it is first needed, draws one picture after the other, and ends with this one.
"""

import asyncio
import os
import pickle
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from struct import Struct
from typing import Any, Final, NamedTuple

from temporalio.api.history.v1 import HistoryEvent
from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.client import WorkflowHistory
from temporalio.converter import DataConverter

from swf_temporal.base.errors import UsageError
from swf_temporal.drawing.model import Picture
from swf_temporal.drawing.svg import svg_of
from swf_temporal.drawing.timeline import Timeline
from swf_temporal.operations.client import Client
from swf_temporal.operations.instance_history import InstanceHistory, RunHistory, history_of, history_of_run
from swf_temporal.operations.pictures import runs_drawn
from swf_temporal.settings.payloads import PayloadSettings
from swf_temporal.temporal.converter import CONVERTER, converter_of

_SMALL: Final = 128 * 1024
"""The size of histories that are replayed in this process, in bytes: that takes about as long as starting another."""
_PATIENCE: Final = 60.0
"""Seconds after which a picture is given up."""
_AT_ONCE: Final = 4
"""The number of histories that are held at once."""
_IDLE: Final = 60.0
"""Seconds without work after which the process is ended."""
LENGTH: Final = Struct(">I")


class Order(NamedTuple):
    """A request to draw, as it is sent to the process."""

    executions: list[tuple[str, list[bytes], int | None]]
    """For each execution: the id of the instance, its history, and the number of entries of its trace to show."""
    pending: list[bytes]
    payloads: PayloadSettings | None
    namespace: str

    @classmethod
    def of(cls, history: InstanceHistory, client: Client) -> "Order":
        executions = [
            (one.history.workflow_id, [event.SerializeToString() for event in one.history.events], one.entries)
            for one in history.runs
        ]
        return cls(executions, [one.SerializeToString() for one in history.pending], client.payloads, client.namespace)

    async def carried_out(self) -> list[str]:
        """Return the pictures, as SVG."""
        executions = [
            RunHistory("", WorkflowHistory(instance, [HistoryEvent.FromString(one) for one in events]), entries)
            for instance, events, entries in self.executions
        ]
        history = InstanceHistory(executions, [PendingActivityInfo.FromString(one) for one in self.pending])
        return await _drawn(history, converter_of(self.payloads, self.namespace))


class Drawing:
    """Draws instances, a few at once, and large ones one after the other."""

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(_AT_ONCE)
        self._turn = asyncio.Lock()
        self._process: Process | None = None
        self._ending: asyncio.TimerHandle | None = None

    async def pictures_of(self, client: Client, workflow_id: str, run_id: str | None = None) -> list[str]:
        """Return what an instance, or one run of it, has done, as SVG: on its definitions, and as timelines.

        Raises UsageError if it cannot be drawn.
        """
        try:
            async with asyncio.timeout(_PATIENCE), self._places:
                found = history_of_run(client, workflow_id, run_id) if run_id else history_of(client, workflow_id)
                return await self._pictures(await found, client)
        except TimeoutError:
            raise UsageError("drawing it takes too long here", "`swf graph --instance` draws it") from None

    async def _pictures(self, history: InstanceHistory, client: Client) -> list[str]:
        converter = client.temporal.data_converter
        is_known = client.payloads is not None or converter is CONVERTER
        if history.size <= _SMALL or not is_known:
            return await _drawn(history, converter)
        async with self._turn:
            return await self._drawn_elsewhere(Order.of(history, client))

    async def _drawn_elsewhere(self, order: Order) -> list[str]:
        if self._ending is not None:
            self._ending.cancel()
        try:
            process = self._process = self._process or await _started()
            assert process.stdin is not None  # noqa: S101 - it was started with both pipes
            assert process.stdout is not None  # noqa: S101 - as above
            written = await asyncio.to_thread(pickle.dumps, order)
            process.stdin.write(LENGTH.pack(len(written)) + written)
            await process.stdin.drain()
            [size] = LENGTH.unpack(await process.stdout.readexactly(LENGTH.size))
            answer: Any = pickle.loads(await process.stdout.readexactly(size))  # noqa: S301 - our own program wrote it
        except BaseException as error:
            self._end()
            if isinstance(error, OSError | EOFError):
                raise UsageError("the process that draws has ended") from None
            raise
        self._ending = asyncio.get_running_loop().call_later(_IDLE, self._end)
        if isinstance(answer, list):
            return answer
        raise UsageError(*answer)

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()


async def _drawn(history: InstanceHistory, converter: DataConverter) -> list[str]:
    drawn = list[str]()
    for number, run in enumerate(await runs_drawn(history, converter)):
        shown: list[Picture | Timeline] = [run.picture, *([run.timeline] if run.timeline is not None else [])]
        for place, one in enumerate(shown):
            drawn.append(await asyncio.to_thread(svg_of, one, is_styled=False, ids=f"c{number}{place}-"))
    return drawn


async def _started() -> Process:
    command = [sys.executable, "-m", "swf_temporal.http.console.drawing_process"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, env=environment)
