"""Keeps secrets out of what libraries log while a call is made: URLs, headers and frames, at their level of debugging.

Theory of operation. While a call is performed, a context variable knows what must not be shown. Filters of the
libraries' loggers, and of the handlers that a worker makes, replace it in each line that is logged in that context, or
in a task or thread that began in it. Lines of others pass as they are.
"""

import logging
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from swf_temporal.base.data import JSON

LIBRARIES: Final = (
    "httpx", "httpcore.connection", "httpcore.http11", "httpcore.http2", "httpcore.proxy", "httpcore.socks",
    "hpack.hpack", "hpack.table", "oauthlib", "websockets.client", "websockets.server", "aiokafka", "nats", "paho",
    "aiormq.connection", "aio_pika.connection", "grpc", "grpc._cython.cygrpc", "gql.transport.httpx", "zeep.transports",
    "asyncio",
)  # fmt: skip
"""Loggers of libraries that make calls."""

_HIDDEN: ContextVar[Callable[[], Mapping[str, JSON]] | None] = ContextVar("hidden", default=None)


class Scrubbing(logging.Filter):
    """Replaces secrets in the lines that are logged while a call is made."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let *record* pass, without secrets."""
        hidden = _HIDDEN.get()
        if hidden is not None and (secrets := hidden()):
            _scrub(record, secrets)
        return True


_FILTER: Final = Scrubbing()


def scrub_libraries() -> None:
    """Have the loggers of libraries scrubbed from now on. Asked for again, it changes nothing."""
    for name in LIBRARIES:
        logging.getLogger(name).addFilter(_FILTER)


@contextmanager
def scrubbing(hidden: Callable[[], Mapping[str, JSON]]) -> Iterator[None]:
    """As long as the context lasts, keep what *hidden* returns out of what is logged."""
    token = _HIDDEN.set(hidden)
    try:
        yield
    finally:
        _HIDDEN.reset(token)


def _scrub(record: logging.LogRecord, secrets: Mapping[str, JSON]) -> None:
    from swf_temporal.functions.secrets import scrub  # noqa: PLC0415 - commands log without calling anything

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
