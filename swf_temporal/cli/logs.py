"""What does a worker log?"""

import logging
import os
import sys

from temporalio import activity, workflow
from temporalio.runtime import LogForwardingConfig, LoggingConfig, Runtime, TelemetryConfig, TelemetryFilter

_TOLD = ("workflow_id", "activity_type", "attempt")
"""What is said of the instance that a line is about, and of the call."""


class OneLine(logging.Formatter):
    """Writes a record in one line: of an exception its kind and what it says, and no traceback."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        """Return *record* as one line."""
        bare = logging.makeLogRecord({**vars(record), "exc_info": None, "exc_text": None, "stack_info": None})
        text = super().format(bare)
        about = getattr(record, "temporal_activity", None) or getattr(record, "temporal_workflow", None)
        if about:
            text += " " + " ".join(f"{key}={about[key]}" for key in _TOLD if key in about)
        if record.exc_info and record.exc_info[1] is not None:
            text += f": {type(record.exc_info[1]).__name__}: {record.exc_info[1]}"
        return " ".join(text.split())


def log_lines() -> None:
    """Log to stderr, one line for each thing that happened. SWF_DEBUG=1 logs more, with tracebacks."""
    handler = logging.StreamHandler(sys.stderr)
    if not _is_debugging():
        handler.setFormatter(OneLine())
        activity.logger.activity_info_on_message = False
        workflow.logger.workflow_info_on_message = False
        for noisy in ("httpx", "httpcore", "temporalio"):
            logging.getLogger(noisy).setLevel(logging.WARNING)
    logging.basicConfig(level=logging.DEBUG if _is_debugging() else logging.INFO, handlers=[handler])
    _forward_to(logging.getLogger("temporalio"))


def be_quiet() -> None:
    """Keep the engine's library from logging: what a user has to know is told by the command."""
    logger = logging.getLogger("temporalio")
    if not _is_debugging():
        logger.setLevel(logging.CRITICAL + 1)
    _forward_to(logger)


def show_what_functions_say() -> None:
    """Write to stderr what workflows log with `sysout`, where nothing else is logged."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(OneLine())
    logger = logging.getLogger("swf.function")
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG if _is_debugging() else logging.INFO)
    logger.propagate = False


def _forward_to(logger: logging.Logger) -> None:
    """Give *logger* what the core of the library logs. Left alone, it writes to stdout, among a command's data."""
    core = LoggingConfig(filter=TelemetryFilter("WARN", "ERROR"), forwarding=LogForwardingConfig(logger))
    Runtime.set_default(Runtime(telemetry=TelemetryConfig(logging=core)), error_if_already_set=False)


def _is_debugging() -> bool:
    return bool(os.environ.get("SWF_DEBUG"))
