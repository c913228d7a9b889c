"""How does `swf worker` serve definitions on a cluster until it is told to stop?"""

import asyncio
import logging
import os
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from temporalio.client import Client
from temporalio.service import RPCError
from temporalio.worker import Worker

from swf_temporal.cli.arguments import functions_of
from swf_temporal.cli.definitions import catalogue_of, resources_of
from swf_temporal.cli.documents import in_one_line, missing
from swf_temporal.cli.health import health_endpoint
from swf_temporal.cli.logs import log_lines
from swf_temporal.cli.options import LogFormat, LogLevel
from swf_temporal.cli.serving import known_server, working
from swf_temporal.cli.stopping import run_until_stopped, stop_signal
from swf_temporal.errors import Problem
from swf_temporal.functions.calling import Functions
from swf_temporal.functions.operator.configuration import read_settings
from swf_temporal.functions.operator.settings import Settings
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.temporal.reaching import Server
from swf_temporal.temporal.worker import tune_gc

_GRACE = timedelta(seconds=30)
"""How long calls that are under way may still take."""

_log = logging.getLogger("swf")


@dataclass(frozen=True, slots=True)
class Work:
    """What a worker serves, and how much of it at once."""

    catalogue: Catalogue
    functions: Mapping[str, Callable[..., Any]]
    settings: Settings
    task_queue: str
    only_known: bool
    activities: int
    health: int | None


def serve(
    paths: list[Path],
    *,
    functions: list[str],
    config: Path | None,
    resources: list[Path] | None,
    strict: bool,
    task_queue: str,
    known_definitions_only: bool,
    max_activities: int,
    health: int | None,
    log_format: LogFormat,
    log_level: LogLevel,
    address: str | None,
    namespace: str | None,
) -> None:
    """Serve the definitions at *paths*, and exit with the code."""
    readable = resources_of(resources)
    warned: list[Problem] = []
    catalogue = catalogue_of(paths, readable, warned, strict=strict)
    settings = read_settings(os.environ, file=config, resources=readable)
    offered = functions_of(functions, settings.modules)
    work = Work(catalogue, offered, settings, task_queue, known_definitions_only, max_activities, health)
    log_lines(log_format, log_level)
    for problem in warned:
        _log.warning("%s", in_one_line(problem))
    run_until_stopped(_serve(work, address, namespace))


async def _serve(work: Work, address: str | None, namespace: str | None) -> int:
    told = stop_signal()
    server = await known_server(address, namespace)
    async with AsyncExitStack() as stack:
        serving = working(
            server.client,
            work.catalogue,
            work.functions,
            work.settings,
            task_queue=work.task_queue,
            only_known=work.only_known,
            activities=work.activities,
            grace=_GRACE,
        )
        running = await stack.enter_async_context(serving)
        if work.health is not None:
            await stack.enter_async_context(
                health_endpoint(work.health, lambda: _is_ready(running.worker, server.client))
            )
        tune_gc()
        _log_what_is_served(work, server)
        looking = asyncio.create_task(_log_what_is_missing(work.catalogue, running.functions))
        await told.wait()
        looking.cancel()
        await asyncio.wait([looking])
        _log.info("told to stop: finishing what is under way")
    _log.info("stopped")
    return 0


def _log_what_is_served(work: Work, server: Server) -> None:
    if not list(work.catalogue):
        who = "nothing" if work.only_known else "only instances that bring their own"
        _log.warning("there is no definition: %s can run", who)
    for workflow in work.catalogue:
        _log.info("serving %s %s from %s", workflow.id, workflow.version or "", workflow.source.name)
    if work.only_known:
        _log.info("refusing instances that bring another definition than these")
    where = server.client.service_client.config.target_host
    _log.info("working for %s, namespace %s, task queue %s", where, server.client.namespace, work.task_queue)


async def _log_what_is_missing(catalogue: Catalogue, functions: Functions) -> None:
    """Look at the documents of all functions that are files, so that the first calls find them read."""
    for problem in await missing(catalogue, functions):
        _log.warning("%s", in_one_line(problem))


async def _is_ready(running: Worker, client: Client) -> bool:
    try:
        return running.is_running and await client.service_client.check_health()
    except RPCError:
        return False
