"""Calls functions by the container contract of Direktiv.

A call is a POST whose body is the input. An error is told by the header `Direktiv-ErrorCode`; without one the body is
the result, whatever the status is. A call that is not wanted any more is ended by a DELETE.
"""

import asyncio
import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from typing import Final

from swf_temporal.data import JSON
from swf_temporal.errors import CallFailed
from swf_temporal.functions.call import Call, permanent_failure
from swf_temporal.functions.containers.type import TYPE
from swf_temporal.functions.http.answers import HttpStatusError
from swf_temporal.functions.http.requests import Request
from swf_temporal.functions.port import Performer, Services

ACTION_ID: Final = "Direktiv-ActionID"
ERROR_CODE: Final = "Direktiv-ErrorCode"
ERROR_MESSAGE: Final = "Direktiv-ErrorMessage"
INTERNAL: Final = "direktiv.internal.error"
"""The code of an error that has a message alone: nothing can catch it."""
_GRACE: Final = 10.0
"""Seconds in which a function may be told that it is not wanted any more."""


class Containers(Performer):
    """Sends requests to where functions stand."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def check(self, call: Call) -> None:
        """Raise CallFailed where it is not configured where the function stands."""
        self._url(call)

    async def perform(self, call: Call) -> JSON:
        """Return the result of one attempt. Raises CallFailed."""
        url, action = self._url(call), _action_id(call)
        body = json.dumps(call.arguments, separators=(",", ":"), ensure_ascii=False).encode()
        headers = ((ACTION_ID, action), ("Content-Type", "application/json"))
        try:
            content, answered = await self._services.http.request_raw(
                Request("POST", url, headers, body, call.function.name)
            )
        except HttpStatusError as error:
            # The contract does not look at the status.
            _raise_told(error.answer.headers)
            return error.answer.body if not error.answer.is_empty else ""
        except asyncio.CancelledError:
            await self._end(url, action, call)
            raise
        _raise_told(answered)
        return _result(content)

    async def _end(self, url: str, action: str, call: Call) -> None:
        """Tell the function that its result is not wanted any more, if it can be told."""
        request = Request("DELETE", url, ((ACTION_ID, action),), None, call.function.name)
        with suppress(CallFailed, TimeoutError):
            async with asyncio.timeout(_GRACE):
                await self._services.http.request_raw(request)

    def _url(self, call: Call) -> str:
        names = list(_names(call))
        url = self._services.settings.base_url_for(names)
        if url is None:
            known = f"'functions: {{{json.dumps(names[0])}: {{baseUrl: …}}}}'"
            message = (
                f"it is not configured where function {call.function.name!r} stands: the configuration needs {known}"
            )
            raise permanent_failure("NoServer", message)
        return url


def _names(call: Call) -> Iterator[str]:
    """Yield the names under which it may be configured where a function stands: its id, its image, its service."""
    yield call.function.name
    for name in TYPE.named(call.function.operation).values():
        yield name
        yield name.partition(":")[0]


def _action_id(call: Call) -> str:
    """Return an id of the call that is the same for every attempt, and that a URL can have."""
    return sha256((call.idempotency_key or call.function.name).encode()).hexdigest()[:32]


def _raise_told(headers: Mapping[str, str]) -> None:
    """Raise the error that an answer tells of."""
    code, message = headers.get(ERROR_CODE.lower(), ""), headers.get(ERROR_MESSAGE.lower(), "")
    if code:
        raise CallFailed(message, code=code)
    if message:
        raise CallFailed(message, code=INTERNAL, retryable=False)


def _result(content: bytes) -> JSON:
    try:
        value: JSON = json.loads(content)
    except (ValueError, RecursionError):
        return b64encode(content).decode()
    return value
