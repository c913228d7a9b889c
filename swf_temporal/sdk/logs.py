"""Logging of a worker, and of commands that run one.

The SDK retries continually, and logs each attempt in its own words. A worker logs once that the server does not answer,
and why, and once that it answers again.
"""

import asyncio
import logging
import os
import re
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from cachetools import LRUCache
from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.runtime import LogForwardingConfig, LoggingConfig, Runtime, TelemetryConfig, TelemetryFilter
from temporalio.service import RPCError, RPCStatusCode

from swf_temporal.base.strict_json import show_json
from swf_temporal.events.brokers.families import FAMILIES
from swf_temporal.functions.log_scrubbing import Scrubbing
from swf_temporal.settings.values import LogFormat, LogLevel
from swf_temporal.temporal.client_errors import Trouble, brief, trouble_of
from swf_temporal.temporal.constants import CALLS, FACTS, INSTANCES
from swf_temporal.temporal.tracing import TraceIds, is_tracing

SERVER_LOG = "swf.server"

_ASKED_AGAIN = re.compile(r"gRPC call \w+ retried")
_TASK_FAILED, _OF_PYTHON = "Failing workflow task", 'stack_trace: "  File'
"""What the core says of a task that fails, and what the failure has if it comes from Python, which logs it as well."""
_PAUSE = 1.0
"""Seconds between two attempts to reach a server that does not answer."""
_LIMIT = timedelta(seconds=5)
_QUIET = 60.0
"""Seconds for which the same problem with a server that answers is not logged again."""

_log = logging.getLogger(SERVER_LOG)


class CoreLines(logging.Filter):
    """Rewrites log lines of the SDK's core.

    Retried requests are only reported to the watch; what Python logs as well is left out.
    """

    watch: "ServerWatch | None" = None
    """Is notified of problems. There is one per process, as there is one core."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether *record* is to be written; lines of the core are rewritten."""
        forwarded = getattr(record, "temporal_log", None)
        if forwarded is None:
            return True
        error = str(forwarded.fields.get("error", ""))
        if _ASKED_AGAIN.match(forwarded.message):
            if CoreLines.watch is not None:
                CoreLines.watch.heed(trouble_of(error))
            return False
        if forwarded.message == _TASK_FAILED and _OF_PYTHON in str(forwarded.fields.get("failure")):
            return False
        record.msg, record.args = " ".join(f"{forwarded.message}: {brief(error)}".split()).removesuffix(":"), ()
        return True


class ServerWatch:
    """Checks the server when the core has problems with it."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._host = client.service_client.config.target_host
        self._loop = asyncio.get_running_loop()
        self._looking: asyncio.Task[None] | None = None
        self._last_reported: dict[str, float] = {}

    def heed(self, trouble: Trouble) -> None:
        """Look into *trouble*. Any thread may call this."""
        self._soon(lambda: self._look_into(trouble))

    def stop(self) -> None:
        """Stop checking."""
        if self._looking is not None:
            self._looking.cancel()

    def _soon(self, work: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the worker has ended
            self._loop.call_soon_threadsafe(work)

    def _look_into(self, trouble: Trouble) -> None:
        if self._looking is None or self._looking.done():
            self._looking = self._loop.create_task(self._look(trouble))

    async def _look(self, trouble: Trouble) -> None:
        if await self._answers():
            # The server answers, but refuses the request.
            now = self._loop.time()
            if now - self._last_reported.get(trouble.what, -_QUIET) >= _QUIET:
                self._last_reported[trouble.what] = now
                _log.warning("the server at %s: %s (%s); trying again", self._host, trouble.what, trouble.hint)
            return
        _log.warning("the server at %s does not answer: %s; trying again", self._host, trouble.what)
        while not await self._answers():  # noqa: ASYNC110 - a remote server can only be polled
            await asyncio.sleep(_PAUSE)
        _log.info("the server at %s answers again", self._host)

    async def _answers(self) -> bool:
        try:
            await self._client.service_client.check_health(timeout=_LIMIT)
        except RPCError as error:
            away = (RPCStatusCode.UNAVAILABLE, RPCStatusCode.DEADLINE_EXCEEDED, RPCStatusCode.UNKNOWN)
            return error.status not in away
        return True


@asynccontextmanager
async def watched(client: Client) -> AsyncIterator[None]:
    """Within the context, log when the server of *client* stops answering, and when it answers again."""
    watch = CoreLines.watch = ServerWatch(client)
    try:
        yield
    finally:
        CoreLines.watch = None
        watch.stop()


_NOISY = ("httpx", "httpcore", "asyncio", "temporalio")
_OF_ACTIVITY = ("workflow_id", "activity_type", "attempt")
_OF_WORKFLOW = ("workflow_id",)
"""The fields of a log line that are shown to people: of the instance and of the call."""
_FOR_PROGRAMS = ("workflow_id", "run_id", "workflow_type", "activity_type")
_OF_TRACE = ("trace_id", "span_id")
_LOGGED_ELSEWHERE = ("Completing activity as failed", "Worker failed, shutting down")
"""Messages of the library that are left out, since we log better ones."""


class OneLine(logging.Formatter):
    """Formats a record in one line: of an exception only its type and message, without a traceback."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        bare = logging.makeLogRecord({**vars(record), "exc_info": None, "exc_text": None, "stack_info": None})
        text = super().format(bare)
        keys = _OF_ACTIVITY if hasattr(record, "temporal_activity") else _OF_WORKFLOW
        about = _about(record)
        text += "".join(f" {key}={about[key]}" for key in keys if key in about)
        raised = _raised(record)
        return " ".join((f"{text}: {raised}" if raised else text).split())


class JsonLine(logging.Formatter):
    """Formats a record as one JSON object, with separate members for an instance or a call."""

    def format(self, record: logging.LogRecord) -> str:
        about = _about(record)
        about.setdefault("run_id", about.get("workflow_run_id"))
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": " ".join(record.getMessage().split()),
            **{key: about[key] for key in _FOR_PROGRAMS if about.get(key)},
            **{key: getattr(record, key) for key in _OF_TRACE if hasattr(record, key)},
            **getattr(record, FACTS, {}),
        }
        raised = _raised(record)
        if raised:
            line["exception"] = raised
        if record.exc_info and is_debugging():
            line["traceback"] = self.formatException(record.exc_info)
        return show_json(line)


class HeldDown(logging.Filter):
    """Limits repeated lines of a library to one a minute, with their number: in an outage, some are incessant."""

    _OURS = ("swf", "temporalio.activity", "temporalio.workflow")
    _NO_FILE = "socket.accept() out of system resource"
    _QUIET = 60.0
    _ALIKE = 40
    """The length of the prefix by which lines from one place of a program count as the same."""
    _MAX_KNOWN = 1000

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._said: LRUCache[tuple[str, int, str], list[float]] = LRUCache(self._MAX_KNOWN)
        """When a line was last written, and how often it was left out since."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether *record* is to be written; it may be rewritten."""
        if record.name.startswith(self._OURS):
            return True
        text, now = str(record.msg), self._clock()
        place = (record.name, record.lineno, text[: self._ALIKE])
        when, left_out = self._said.get(place, (-self._QUIET, 0))
        if now - when < self._QUIET:
            self._said[place][1] += 1
            return False
        self._said[place] = [now, 0]
        if text.startswith(self._NO_FILE):
            record.msg = "no connection can be accepted for now; the limit of open files, `ulimit -n`, may be too low"
        if left_out:
            record.msg, record.args = f"{record.getMessage()} ({left_out:.0f} more like this were left out)", ()
        return True


_WITH_DATA = (
    "temporalio.worker", "httpcore", "hpack", "oauthlib",
    *(logger for family in FAMILIES.values() for logger in family.logs_data),
)  # fmt: skip
"""Loggers that would write payloads, headers or frames at the level DEBUG."""


def log_lines(form: LogFormat = LogFormat.TEXT, level: LogLevel = LogLevel.INFO, *, uses_server: bool = True) -> None:
    """Log to stderr, one line for each event. SWF_DEBUG=1 logs everything but data, with tracebacks.

    A process that never *uses_server* does not start the threads of Temporal's SDK.
    """
    handler = logging.StreamHandler(sys.stderr)
    if form is LogFormat.JSON:
        handler.setFormatter(JsonLine())
    elif not is_debugging():
        handler.setFormatter(OneLine())
    if not is_debugging():
        activity.logger.activity_info_on_message = False
        workflow.logger.workflow_info_on_message = False
        for noisy in (*_NOISY, *_WITH_DATA):
            logging.getLogger(noisy).setLevel(max(logging.WARNING, _number(level)))
        handler.addFilter(_is_news)
        handler.addFilter(CoreLines())
        handler.addFilter(HeldDown())
    else:
        for telling in _WITH_DATA:
            logging.getLogger(telling).setLevel(logging.INFO)
    handler.addFilter(Scrubbing())
    if is_tracing():
        handler.addFilter(TraceIds())
    logging.basicConfig(level=logging.DEBUG if is_debugging() else _number(level), handlers=[handler])
    if uses_server:
        _forward()


def be_quiet() -> None:
    """Silence the logs of Temporal's SDK: the command reports what a user has to know."""
    logger = logging.getLogger("temporalio")
    if not is_debugging():
        for quiet in (logger.name, SERVER_LOG, INSTANCES, CALLS):
            logging.getLogger(quiet).setLevel(logging.CRITICAL + 1)
    _forward()


def show_what_functions_say() -> None:
    """Write to stderr what workflows log with `sysout`, and nothing else."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(OneLine())
    logger = logging.getLogger("swf.function")
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG if is_debugging() else logging.INFO)
    logger.propagate = False


def in_one_line(text: str) -> str:
    """Return text from a client, safe for a line of the log."""
    return " ".join("".join(one if one.isprintable() else " " for one in text).split())[:500]


def is_debugging() -> bool:
    """Return whether SWF_DEBUG asks for everything."""
    return bool(os.environ.get("SWF_DEBUG"))


def core_logging() -> LoggingConfig:
    """Return the logging of the SDK's core: by a logger, since by default it writes to stdout, among command output."""
    forwarding = LogForwardingConfig(logging.getLogger("temporalio"))
    return LoggingConfig(filter=TelemetryFilter("WARN", "ERROR"), forwarding=forwarding)


def _forward() -> None:
    Runtime.set_default(Runtime(telemetry=TelemetryConfig(logging=core_logging())), error_if_already_set=False)


def _number(level: LogLevel) -> int:
    return logging.getLevelNamesMapping()[level.name]


def _about(record: logging.LogRecord) -> dict[str, Any]:
    return dict(getattr(record, "temporal_activity", None) or getattr(record, "temporal_workflow", None) or {})


def _raised(record: logging.LogRecord) -> str:
    if not record.exc_info or record.exc_info[1] is None:
        return ""
    return f"{type(record.exc_info[1]).__name__}: {record.exc_info[1]}"


def _is_news(record: logging.LogRecord) -> bool:
    return not (record.name.startswith("temporalio.") and record.msg in _LOGGED_ELSEWHERE)
