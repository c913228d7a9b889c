"""The ASGI application of the codec server, by Temporal's protocol for remote codecs.

    POST [/NAMESPACE]/decode    payloads as JSON; answers with the same payloads, decrypted and fetched
    POST [/NAMESPACE]/encode    the reverse

The namespace may also be in the header `X-Namespace`; the UI and `temporal` send it.
"""

import logging
from collections.abc import Awaitable, Callable
from typing import Final

from google.protobuf.json_format import MessageToJson, ParseDict, ParseError
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from temporalio.api.common.v1 import Payloads
from temporalio.converter import DataConverter

from swf_temporal.base.errors import PayloadUnavailable
from swf_temporal.base.grammar import counted
from swf_temporal.base.request_bodies import BodyTooLargeError, SlowBodyError, body_of
from swf_temporal.base.strict_json import NotJSON, read_json
from swf_temporal.http.authentication import (
    JwtVerifier,
    KeysUnavailableError,
    NotAuthenticatedError,
    bearer_token,
    is_same,
)
from swf_temporal.sdk.http_connections import UNDER_WAY, TooManyRequestsError
from swf_temporal.sdk.logs import in_one_line
from swf_temporal.settings.http import CodecServerSettings
from swf_temporal.temporal.constants import DEFAULT_NAMESPACE
from swf_temporal.temporal.payloads.encodings import reason_of

_log = logging.getLogger("swf")

MAX_PAYLOADS: Final = 10_000
"""The number of payloads in a request."""
MAX_ANSWER_BYTES: Final = 512 * 1024 * 1024
"""The total size of the payloads in an answer, in bytes."""
_BRACES: Final = 4
"""The number of JSON objects in a payload: itself, its metadata, and two of a reference."""
_HEADERS: Final = ("Authorization", "Content-Type", "X-Namespace", "Caller-Type", "Temporal-Namespace")
"""The headers that the UI may send, for CORS."""

ConverterOf = Callable[[str], DataConverter]
"""Returns the data converter of a namespace."""


class _RefusedError(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def codec_application(settings: CodecServerSettings, converter_of: ConverterOf, *, is_logged: bool = True) -> Starlette:
    """Return the application that encodes and decodes payloads, and logs the caller of each request."""
    level = logging.INFO if is_logged else logging.DEBUG
    authentication = Authentication(settings)
    converters: dict[str, DataConverter] = {}

    async def work(request: Request, *, decode: bool) -> Response:
        _refuse_origin(request, settings)
        subject = await authentication.subject_of(request)
        if subject != OPEN:
            request.scope[UNDER_WAY].admit(subject)
        namespace = _namespace(request, settings)
        converter = converters.get(namespace)
        if converter is None:
            converter = converter_of(namespace)
            if len(converters) < _MAX_NAMESPACES:
                converters[namespace] = converter
        sent = await _payloads_in(request, settings.max_bytes)
        payloads, count = await _transformed(sent, converter, decode=decode), len(sent.payloads)
        done = "decoded" if decode else "encoded"
        _log.log(level, "%s %s of %s for %s", done, counted(count, "payload"), namespace, in_one_line(subject))
        return Response(MessageToJson(payloads, indent=None), media_type="application/json")

    async def decode(request: Request) -> Response:
        return await _answered(request, work(request, decode=True))

    async def encode(request: Request) -> Response:
        return await _answered(request, work(request, decode=False))

    routes = []
    for prefix in ("", "/{namespace}"):
        routes += [
            Route(f"{prefix}/decode", decode, methods=["POST"]),
            Route(f"{prefix}/encode", encode, methods=["POST"]),
        ]
    cors = Middleware(
        CORSMiddleware, allow_origins=settings.origins, allow_methods=["POST"], allow_headers=_HEADERS, max_age=600
    )
    return Starlette(routes=routes, middleware=[cors])


_MAX_NAMESPACES: Final = 100


async def _answered(request: Request, work: Awaitable[Response]) -> Response:
    """Return the answer of *work*, or an error; log refusals, without any payload."""
    try:
        return await work
    except NotAuthenticatedError as error:
        response, why = _error(401, str(error)), str(error)
        response.headers["WWW-Authenticate"] = "Bearer"
    except KeysUnavailableError as error:
        response, why = _error(503, "the keys of the issuer of tokens cannot be fetched"), str(error)
    except TooManyRequestsError as error:
        response, why = _error(429, str(error)), str(error)
    except _RefusedError as error:
        response, why = _error(error.status, str(error)), str(error)
    except PayloadUnavailable as error:
        response, why = _error(400, str(error)), error.message
    except ClientDisconnect:
        return Response(status_code=400)
    _log.warning("refused %s from %s: %s", request.url.path, request.client and request.client.host, in_one_line(why))
    return response


def _error(status: int, message: str) -> Response:
    return JSONResponse({"message": message}, status_code=status)


def _refuse_origin(request: Request, settings: CodecServerSettings) -> None:
    """Refuse web pages of other origins: a browser sends their requests even if they may not read the answers."""
    origin = request.headers.get("origin")
    if origin is not None and origin.lower() not in settings.origins:
        raise _RefusedError(
            403, f"requests from {origin} are not allowed: add it to codecServer › origins, or --origin"
        )


def _namespace(request: Request, settings: CodecServerSettings) -> str:
    in_path, in_header = request.path_params.get("namespace"), request.headers.get("x-namespace")
    if in_path and in_header and in_path != in_header:
        raise _RefusedError(400, f"the path says namespace {in_path!r}, and the header X-Namespace {in_header!r}")
    namespace = str(in_path or in_header or DEFAULT_NAMESPACE)
    if settings.namespaces and namespace not in settings.namespaces:
        raise _RefusedError(403, f"the namespace {namespace!r} is not served here")
    return namespace


async def _payloads_in(request: Request, limit: int) -> Payloads:
    """Return the payloads of a request. Raises _RefusedError."""
    payloads = Payloads()
    try:
        body = await body_of(request, limit)
        if body.count(b"{") > _BRACES * MAX_PAYLOADS:  # before they are read
            raise _RefusedError(413, f"the body has more than {MAX_PAYLOADS:,} payloads")
        ParseDict(read_json(body), payloads, ignore_unknown_fields=True)
    except BodyTooLargeError as error:
        raise _RefusedError(413, str(error)) from None
    except SlowBodyError as error:
        raise _RefusedError(408, str(error)) from None
    except (ParseError, NotJSON) as error:
        raise _RefusedError(400, f"the body is not a JSON object with payloads: {error}") from None
    if len(payloads.payloads) > MAX_PAYLOADS:
        raise _RefusedError(413, f"the body has more than {MAX_PAYLOADS:,} payloads")
    return payloads


async def _transformed(payloads: Payloads, converter: DataConverter, *, decode: bool) -> Payloads:
    """Return *payloads* as workers and clients decode or encode them, one after the other. Raises _RefusedError."""
    found, size = Payloads(), 0
    for one in payloads.payloads:
        single = Payloads(payloads=[one])
        try:
            # The SDK has no public method for this.
            if decode:
                await converter._transform_inbound_payloads(single)  # noqa: SLF001 - see above
            else:
                await converter._transform_outbound_payloads(single)  # noqa: SLF001 - see above
        except (RuntimeError, ValueError) as error:  # the SDK's, about references to stored payloads
            raise _RefusedError(400, str(error)) from None
        [payload] = single.payloads
        if reason := reason_of(payload):
            raise _RefusedError(400, reason)
        size += len(payload.data)
        if size > MAX_ANSWER_BYTES:
            raise _RefusedError(413, f"the payloads have more than {MAX_ANSWER_BYTES:,} bytes: send fewer at once")
        found.payloads.append(payload)
    return found


OPEN: Final = "-"
"""The subject of a request where no token is required."""


class Authentication:
    """Checks bearer tokens."""

    def __init__(self, settings: CodecServerSettings) -> None:
        self._settings = settings
        self._jwts = None if settings.jwks is None else JwtVerifier(settings)

    async def subject_of(self, request: Request) -> str:
        """Return the caller of *request*, for the log. Raises NotAuthenticatedError."""
        if self._settings.is_open:
            return OPEN
        token, secret = bearer_token(request), self._settings.token
        if secret is not None and is_same(token, secret):
            return "token"
        if self._jwts is None:
            raise NotAuthenticatedError("the token is wrong")
        return str((await self._jwts.claims_of(token)).get("sub", "jwt"))
