"""Pictures and steps of instances on pages. Large ones are followed in another process, so as not to block requests.

Replaying a history takes as long as its workflow tasks took, and blocks everything else. The process is started when
it is first needed, answers one question after the other, and ends with this one.
"""

import asyncio
import os
import pickle
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from struct import Struct
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from temporalio.api.history.v1 import HistoryEvent
from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.client import WorkflowHistory
from temporalio.converter import DataConverter

from swf_temporal.base.client_errors import InstanceNotFoundError
from swf_temporal.base.errors import UsageError
from swf_temporal.drawing.model import Addresses, Picture
from swf_temporal.drawing.svg import svg_of
from swf_temporal.drawing.timeline import Timeline
from swf_temporal.http.console.pages import segment
from swf_temporal.http.gateway.requests import RequestContext
from swf_temporal.operations.client import Client
from swf_temporal.operations.instance_history import InstanceHistory, RunHistory, history_of, history_of_run
from swf_temporal.operations.steps import runs_drawn
from swf_temporal.settings.payloads import PayloadSettings
from swf_temporal.temporal.converter import CONVERTER, converter_of

T = TypeVar("T")

_SMALL: Final = 128 * 1024
"""The size of histories that are replayed in this process, in bytes: that takes about as long as starting another."""
_PATIENCE: Final = 60.0
"""Seconds after which an answer is given up."""
_AT_ONCE: Final = 4
"""The number of histories that are held at once."""
_IDLE: Final = 60.0
"""Seconds without work after which the process is ended."""
LENGTH: Final = Struct(">I")


Question: TypeAlias = Callable[[InstanceHistory, DataConverter], Awaitable[T]]
"""A question to a history, whose payloads a converter reads: a function of a module, perhaps with arguments."""


class Answer(NamedTuple):
    """The answer of the process."""

    value: Any


class Order(NamedTuple):
    """A question about a history, as it is sent to the process."""

    executions: list[tuple[str, str, list[bytes], int | None]]
    """For each run: its id, that of the instance, its history, and the number of entries of its trace to follow."""
    pending: list[bytes]
    payloads: PayloadSettings | None
    namespace: str
    question: Question[Any]

    @classmethod
    def of(cls, history: InstanceHistory, client: Client, question: Question[Any]) -> "Order":
        executions = [
            (
                one.run_id,
                one.history.workflow_id,
                [event.SerializeToString() for event in one.history.events],
                one.entries,
            )
            for one in history.runs
        ]
        pending = [one.SerializeToString() for one in history.pending]
        return cls(executions, pending, client.payloads, client.namespace, question)

    async def carried_out(self) -> Any:
        """Return the answer."""
        executions = [
            RunHistory(run, WorkflowHistory(instance, [HistoryEvent.FromString(one) for one in events]), entries)
            for run, instance, events, entries in self.executions
        ]
        history = InstanceHistory(executions, [PendingActivityInfo.FromString(one) for one in self.pending])
        return await self.question(history, converter_of(self.payloads, self.namespace))


class Drawing:
    """Follows instances, a few at once, and large ones one after the other."""

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(_AT_ONCE)
        self._turn = asyncio.Lock()
        self._process: Process | None = None
        self._ending: asyncio.TimerHandle | None = None

    async def answer(
        self, asked: RequestContext, instance_id: str, question: Question[T], run_id: str | None = None
    ) -> T:
        """Return the answer to *question* about an instance, or one run of it, as far as the tenant may see its runs.

        Raises UsageError if there is none.
        """
        client = asked.client
        try:
            async with asyncio.timeout(_PATIENCE), self._places:
                history = await (
                    history_of_run(client, instance_id, run_id) if run_id else history_of(client, instance_id)
                )
                seen = [one for one in history.runs if asked.tenant.has_workflow(one.start.workflow_type.name)]
                if not seen:
                    raise InstanceNotFoundError(f"there is no run {run_id!r} of {instance_id!r}", instance=instance_id)
                history, converter = history._replace(runs=seen), client.temporal.data_converter
                is_known = client.payloads is not None or converter is CONVERTER
                if history.size <= _SMALL or not is_known:
                    return await question(history, converter)
                async with self._turn:
                    answer: T = await self._answered_elsewhere(Order.of(history, client, question))
                    return answer
        except TimeoutError:
            raise UsageError("following it takes too long here", "`swf graph --instance` draws it") from None

    async def pictures_of(self, asked: RequestContext, instance_id: str, run_id: str | None = None) -> "Drawn":
        """Return what an instance, or one run of it, has done. Raises UsageError if it cannot be drawn."""
        page = f"/console/instances/{segment(instance_id)}/steps"
        return await self.answer(asked, instance_id, partial(_drawn, page=page), run_id)

    async def _answered_elsewhere(self, order: Order) -> Any:
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
        if isinstance(answer, Answer):
            return answer.value
        raise UsageError(*answer)

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()


class Drawn(NamedTuple):
    """Pictures of an instance."""

    pictures: list[str]
    """Its definitions with what was done, and timelines, as SVG; parts and bars are links to steps."""
    entries: int = 0
    """The number of entries of its traces."""
    runs: int = 0


async def _drawn(history: InstanceHistory, converter: DataConverter, page: str) -> Drawn:
    pictures, addresses, entries = list[str](), Addresses(page), 0
    for number, run in enumerate(await runs_drawn(history, converter)):
        shown: list[Picture | Timeline] = [run.picture, *([run.timeline] if run.timeline is not None else [])]
        entries += len(run.trace)
        for place, one in enumerate(shown):
            ids = f"c{number}{place}-"
            pictures.append(await asyncio.to_thread(svg_of, one, is_styled=False, ids=ids, addresses=addresses))
    return Drawn(pictures, entries, len(history.runs))


async def _started() -> Process:
    command = [sys.executable, "-m", "swf_temporal.http.console.drawing_process"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, env=environment)
