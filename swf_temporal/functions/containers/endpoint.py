"""The endpoint that functions in containers use while they are called: `log` and `var`.

    GET or POST …/log?aid=ID[&log=TEXT]         writes a line to the log: the parameter, or the body
    GET         …/var?aid=ID&scope=SCOPE&key=KEY    returns the value of a variable; empty if it is not set
    POST        …/var?aid=ID&scope=SCOPE&key=KEY    sets a variable to the body, of the type in Content-Type

The id is the header `Direktiv-ActionID`. Only calls in progress on this worker have one.
"""

import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final
from uuid import uuid4

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from swf_temporal.base.errors import PayloadTooLarge, StoreUnavailable
from swf_temporal.base.request_bodies import BodyTooLargeError, SlowBodyError, body_of
from swf_temporal.functions.call import Call
from swf_temporal.functions.containers.folders import BYTES_TYPE, MAX_BYTES
from swf_temporal.functions.secrets import write_line
from swf_temporal.runtime.variables import Variable, VariableRef, VariableScope, VariableStore


@dataclass(frozen=True, slots=True)
class RunningCall:
    """A call in progress."""

    call: Call

    def log(self, text: str) -> None:
        """Write *text* to the log of the worker, as a line of the instance."""
        write_line(self.call, logging.INFO, text)

    def variable(self, scope: str, key: str) -> VariableRef | None:
        """Return the variable that the function means, by default the instance's. None if there is no such scope."""
        owners = {} if self.call.folder is None else self.call.folder.owners
        named: list[VariableScope] = [one for one in owners if one == (scope or "instance")]
        return VariableRef(named[0], owners[named[0]], key) if named else None


class RunningCalls:
    """The calls in progress, by their action ids."""

    def __init__(self) -> None:
        self._calls: dict[str, list[RunningCall]] = {}

    @contextmanager
    def entered(self, action_id: str, call: Call) -> Iterator[None]:
        """Register *call* within the context. For a moment, two attempts may be in progress."""
        running = RunningCall(call)
        self._calls.setdefault(action_id, []).append(running)
        try:
            yield
        finally:
            self._calls[action_id].remove(running)
            if not self._calls[action_id]:
                del self._calls[action_id]

    def get(self, action_id: str) -> RunningCall | None:
        """Return the latest attempt at the call with this *action_id*."""
        return self._calls.get(action_id, [None])[-1]


MAX_LINE_BYTES: Final = 4 * 1024 * 1024

_NOT_FOUND, _BAD_REQUEST, _SLOW, _TOO_LARGE, _UNAVAILABLE = 404, 400, 408, 413, 503
_CLOSE: Final = {"connection": "close"}
"""The rest of the body is not read."""


class _RefusedError(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def endpoint(running: RunningCalls, variables: VariableStore) -> Starlette:
    """Return the application that serves functions whose calls are *running*, with access to *variables*."""

    async def log(request: Request) -> Response:
        call = _call(request, running)
        text = request.query_params.get("log", "")
        if request.method == "POST":
            text = (await body_of(request, MAX_LINE_BYTES)).decode(errors="replace") or text
        if text:
            call.log(text)
        return Response()

    async def read(request: Request) -> Response:
        found = await variables.read_variable(_variable(request, running))
        return Response() if found is None else Response(found.content, headers={"Content-Type": found.mime_type})

    async def write(request: Request) -> Response:
        of = _variable(request, running)
        mime_type = request.headers.get("content-type") or BYTES_TYPE
        value = Variable(await body_of(request, MAX_BYTES), mime_type)
        await variables.write_variables({of: value}, uuid4().hex)
        return Response()

    return Starlette(
        routes=[
            Route("/log", _answering(log), methods=["GET", "POST"]),
            Route("/var", _answering(read), methods=["GET"]),
            Route("/var", _answering(write), methods=["POST"]),
        ]
    )


def _answering(handler: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """Return *handler* with its errors as answers, with the reason in the text."""

    async def answer(request: Request) -> Response:
        try:
            return await handler(request)
        except _RefusedError as error:
            return PlainTextResponse(f"{error}\n", error.status)
        except PayloadTooLarge as error:
            return PlainTextResponse(f"{error}\n", _TOO_LARGE)
        except BodyTooLargeError as error:
            return PlainTextResponse(f"{error}\n", _TOO_LARGE, _CLOSE)
        except SlowBodyError as error:
            return PlainTextResponse(f"{error}\n", _SLOW, _CLOSE)
        except StoreUnavailable as error:
            return PlainTextResponse(f"{error}\n", _UNAVAILABLE)
        except ClientDisconnect:
            return Response()  # the caller has disconnected

    return answer


def _call(request: Request, running: RunningCalls) -> RunningCall:
    action_id = request.query_params.get("aid", "")
    call = running.get(action_id)
    if call is None:
        raise _RefusedError(_NOT_FOUND, f"no call with the id {action_id!r} is in progress on this worker; see 'aid'")
    return call


def _variable(request: Request, running: RunningCalls) -> VariableRef:
    call = _call(request, running)
    scope, key = request.query_params.get("scope", ""), request.query_params.get("key", "")
    of = call.variable(scope, key)
    if of is None:
        raise _RefusedError(_BAD_REQUEST, f"there is no scope {scope!r}: see 'scope'")
    if not key:
        raise _RefusedError(_BAD_REQUEST, "the name of the variable is missing: see 'key'")
    return of
