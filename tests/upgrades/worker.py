"""A worker of whatever release is on the path: `python -P worker.py ADDRESS QUEUE [HEARTBEAT]`."""

import asyncio
import logging
import sys
from datetime import timedelta
from importlib import import_module
from typing import Any

from temporalio.client import Client

from swf_temporal.errors import CallFailed
from swf_temporal.temporal.converter import CONVERTER
from swf_temporal.temporal.worker import make_worker
from swf_temporal.temporal.workflow import Interpreter

MAX_FAILURES = 2


def first_of(*names: str) -> Any:
    """Return the first of some modules that this release has."""
    for name in names:
        try:
            return import_module(name)
        except ModuleNotFoundError:
            continue
    return None


Catalogue = first_of("swf_temporal.languages.catalogue", "swf_temporal.interpreter.catalogue").Catalogue
filled = first_of("swf_temporal.runtime.performing", "swf_temporal.interpreter.performing").filled
suspending = first_of("tests.temporal.suspending") if hasattr(Interpreter, "is_long") else None
"""Earlier releases continue as new early where a run's record says so; this one's tests have a workflow that does."""


class Functions:
    """What the definitions call, and where what they produce goes."""

    async def perform(self, call: Any, *, source: str, key: str, attempt: int) -> Any:  # noqa: ARG002 - the port's
        """Answer a call."""
        arguments = filled(call, {"token": "open sesame"})
        match call.function.name:
            case "add":
                return {"sum": arguments["a"] + arguments["b"]}
            case "flaky" if attempt <= MAX_FAILURES:
                raise CallFailed("busy", status=503, code="busy")
            case "broken":
                raise CallFailed("out of order", status=500, code="broken")
        return arguments

    async def publish(self, event: Any) -> None:
        """Let the event go."""


async def main(address: str, queue: str, heartbeat: str | None = None) -> None:
    """Serve *queue* until the process ends. Calls of a worker that is lost are missed after *heartbeat* seconds."""
    options: dict[str, Any] = {} if suspending is None else {"interpreter": suspending.Suspending}
    if heartbeat is not None:
        host: Any = import_module("swf_temporal.temporal.host")
        host.HEARTBEAT = timedelta(seconds=float(heartbeat))
        # On a busy machine a task may take the two seconds after which the SDK would break it off.
        options["debug_mode"] = True
    client = await Client.connect(address, data_converter=CONVERTER)
    functions = Functions()
    # When a worker is killed, others are not to wait for its cache.
    sticky = timedelta(seconds=0.5)
    worker = make_worker(
        client,
        Catalogue(),
        functions,
        functions,
        task_queue=queue,
        sticky_queue_schedule_to_start_timeout=sticky,
        **options,
    )
    async with worker:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asyncio.Future()


if __name__ == "__main__":
    logging.disable()  # that functions fail is what is tried
    asyncio.run(main(*sys.argv[1:]))
