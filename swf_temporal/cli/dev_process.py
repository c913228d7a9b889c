"""How does `swf dev` serve a folder on a server of its own, and follow the files in it?"""

import asyncio
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from swf_temporal.cli.arguments import functions_of
from swf_temporal.cli.documents import missing
from swf_temporal.cli.live import LiveCatalogue
from swf_temporal.cli.logs import News, log_lines
from swf_temporal.cli.options import LogFormat, LogLevel
from swf_temporal.cli.serving import working
from swf_temporal.cli.stopping import run_until_stopped, stop_signal
from swf_temporal.errors import Problem, UsageError
from swf_temporal.functions.operator.configuration import read_settings
from swf_temporal.functions.operator.settings import Settings
from swf_temporal.temporal.conventions import DEFAULT_PORT, TASK_QUEUE
from swf_temporal.temporal.reaching import Server
from swf_temporal.temporal.server import local_server

_INTERVAL = 1.0
"""Seconds between two looks at the files."""


def develop(
    folder: Path,
    *,
    functions: list[str],
    config: Path | None,
    port: int,
    ui_port: int,
    database: Path,
    strict: bool,
    task_queue: str,
    log_format: LogFormat,
    log_level: LogLevel,
) -> None:
    """Serve the definitions in *folder* until told to stop, and exit with the code."""
    if port == ui_port:
        raise UsageError(f"--port and --ui-port are both {port}", "the server and its UI have a port each")
    live = LiveCatalogue(folder, strict=strict)
    settings = read_settings(os.environ, local=True, file=config)
    offered = functions_of(functions, settings.modules)
    log_lines(log_format, log_level)
    news = News(log_format)
    news.tell(*live.refresh())
    if not list(live):
        news.tell(f"there is no definition in {folder} that can be served yet")
    run_until_stopped(_develop(live, offered, settings, news, local=(port, ui_port, database), task_queue=task_queue))


async def _develop(
    live: LiveCatalogue,
    functions: Mapping[str, Callable[..., Any]],
    settings: Settings,
    news: News,
    *,
    local: tuple[int, int, Path],
    task_queue: str,
) -> int:
    told = stop_signal()
    port, ui_port, database = local
    async with local_server(port=port, ui_port=ui_port, database=database) as server:
        async with working(server.client, live, functions, settings, task_queue=task_queue) as serving:
            news.tell(_explanation(server, live, port, task_queue))
            seen, known = 0, list[Problem]()
            while not told.is_set():
                news.tell(*live.refresh())
                if seen != live.revision:
                    before, seen, known = known, live.revision, await missing(live, serving.functions)
                    news.tell(*(str(problem) for problem in known if problem not in before))
                with suppress(TimeoutError):
                    await asyncio.wait_for(told.wait(), _INTERVAL)
        news.tell("stopping the server")
    return 0


def _explanation(server: Server, live: LiveCatalogue, port: int, task_queue: str) -> str:
    example = next((workflow.id for workflow in live), "ID")
    command = f"swf start {example} --input '{{}}'"
    if task_queue != TASK_QUEUE:
        command += f" --task-queue {task_queue}"
    if port != DEFAULT_PORT:
        command += f" --address 127.0.0.1:{port}"
    return f"ready: 127.0.0.1:{port}, UI {server.ui}\nstart an instance with\n  {command}"
