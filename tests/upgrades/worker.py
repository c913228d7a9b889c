"""A worker of whatever release is on the path: `python -P worker.py ADDRESS QUEUE [HEARTBEAT]`.

Where the variable SERVICE has a URL, a service there is asked at each attempt at a call. Where there is
LOCAL_CALLS, calls are local that can be.
"""

import asyncio
import logging
import os
import sys
from datetime import timedelta
from typing import Any

import httpx
from temporalio.client import Client

from swf_temporal.base.errors import CallFailed
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.performing import filled
from swf_temporal.temporal import host
from swf_temporal.temporal.converter import CONVERTER
from swf_temporal.temporal.worker import make_worker
from tests.temporal.suspending import suspending

MAX_FAILURES = 2
HURRY = 2.0
"""Seconds that a service may take."""


class Functions:
    async def perform(self, call: Any, *, source: str, key: str, attempt: int) -> Any:  # noqa: ARG002 - the port's
        arguments: Any = filled(call, {"token": "open sesame"})
        match call.function.operation or call.function.name:  # a task of DSL 1.0 names itself, not what it calls
            case "add":
                return {"sum": arguments["a"] + arguments["b"]}
            case "flaky" if attempt <= MAX_FAILURES:
                raise CallFailed("busy", status=503, code="busy")
            case "broken":
                raise CallFailed("out of order", status=500, code="broken")
            case "sleepy":
                await asyncio.sleep(30)
        return arguments

    async def publish(self, event: Any) -> None:
        """Let the event go."""


class Calling(Functions):
    """The same, each attempt at which reaches a service with the idempotency key of the call."""

    def __init__(self, url: str) -> None:
        self.service = httpx.AsyncClient(base_url=url, timeout=HURRY)

    async def perform(self, call: Any, *, source: str, key: str, attempt: int) -> Any:
        arguments: Any = filled(call, {"token": "open sesame"})
        try:
            answer = await self.service.post(
                f"/{call.function.name}", json={"arguments": arguments}, headers={"Idempotency-Key": key}
            )
        except httpx.HTTPError as error:
            raise CallFailed(f"the service does not answer: {error!r}", code="silent") from None
        if answer.status_code != httpx.codes.OK:
            raise CallFailed("the service is busy", status=answer.status_code, code="busy")
        return await super().perform(call, source=source, key=key, attempt=attempt)


async def connected(address: str) -> Client:
    for _ in range(60):
        try:
            return await Client.connect(address, data_converter=CONVERTER)
        except RuntimeError:
            await asyncio.sleep(1)
    raise SystemExit(f"no server answers at {address}")


async def main(address: str, queue: str, heartbeat: str | None = None) -> None:
    """Serve *queue* until the process ends. Calls of a worker that is lost are missed after *heartbeat* seconds."""
    options: dict[str, Any] = {"operator_options": suspending()}
    if heartbeat is not None:
        host.HEARTBEAT = timedelta(seconds=float(heartbeat))
        # On a busy machine a task may take the two seconds after which the SDK would break it off.
        options["debug_mode"] = True
    if "LOCAL_CALLS" in os.environ:
        options["chooses_local_calls"] = True
    client = await connected(address)
    service = os.environ.get("SERVICE")
    functions = Functions() if service is None else Calling(service)
    # When a worker is killed, others are not to wait for its cache.
    sticky = timedelta(seconds=0.5)
    worker = make_worker(
        client, Catalogue(), functions, functions, task_queue=queue, sticky_queue_schedule_to_start_timeout=sticky,
        **options,
    )  # fmt: skip
    async with worker:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asyncio.Future()


if __name__ == "__main__":
    logging.disable()  # that functions fail is what is tried
    asyncio.run(main(*sys.argv[1:]))
