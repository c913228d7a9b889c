"""Keeps secrets out of the logs of libraries during a call: URLs, headers and frames, at debug level.

Theory of operation. While a call is performed, a context variable has its secrets. Filters on the libraries' loggers,
and on the handlers that a worker makes, replace them in each line that is logged in that context, or in a task or
thread that began in it. Other lines pass unchanged.
"""

import logging
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from swf_temporal.base.data import JSON
from swf_temporal.events.brokers.families import FAMILIES

LIBRARIES: Final = (
    "httpx", "httpcore.connection", "httpcore.http11", "httpcore.http2", "httpcore.proxy", "httpcore.socks",
    "hpack.hpack", "hpack.table", "oauthlib", "grpc", "grpc._cython.cygrpc", "gql.transport.httpx", "zeep.transports",
    "asyncio", *(logger for family in FAMILIES.values() for logger in family.loggers),
)  # fmt: skip
"""Loggers of libraries that make calls."""

_HIDDEN: ContextVar[Callable[[], Mapping[str, JSON]] | None] = ContextVar("hidden", default=None)


class Scrubbing(logging.Filter):
    """Replaces secrets in lines that are logged during a call."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let *record* pass, without secrets."""
        hidden = _HIDDEN.get()
        if hidden is not None and (secrets := hidden()):
            _scrub(record, secrets)
        return True


_FILTER: Final = Scrubbing()


def scrub_libraries() -> None:
    """Scrub the loggers of libraries from now on. Repeated calls have no effect."""
    for name in LIBRARIES:
        logging.getLogger(name).addFilter(_FILTER)


@contextmanager
def scrubbing(hidden: Callable[[], Mapping[str, JSON]]) -> Iterator[None]:
    """Within the context, keep what *hidden* returns out of logs."""
    token = _HIDDEN.set(hidden)
    try:
        yield
    finally:
        _HIDDEN.reset(token)


def scrubbed(text: str) -> str:
    """Return *text* without the secrets of the call in progress."""
    hidden = _HIDDEN.get()
    if hidden is None or not (secrets := hidden()):
        return text
    from swf_temporal.functions.secrets import scrub  # noqa: PLC0415 - as below

    return str(scrub(text, secrets))


def _scrub(record: logging.LogRecord, secrets: Mapping[str, JSON]) -> None:
    from swf_temporal.functions.secrets import scrub  # noqa: PLC0415 - commands log without making calls

    try:
        message = record.getMessage()
    except (TypeError, ValueError):
        return  # it cannot be formatted, which the handler reports
    scrubbed = str(scrub(message, secrets))
    if scrubbed != message:
        record.msg, record.args = scrubbed, ()
    if record.exc_info and record.exc_info[1] is not None:
        traceback_text = "".join(traceback.format_exception(record.exc_info[1]))
        if (safe := str(scrub(traceback_text, secrets))) != traceback_text:
            record.exc_info, record.exc_text = None, safe.rstrip()
