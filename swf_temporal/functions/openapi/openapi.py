"""Calls operations of OpenAPI documents.

Section "Using Functions for RESTful Service Invocations".
"""

import asyncio
from functools import lru_cache

import httpx

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.functions.auth.auth import auth_for_document, headers_for, reading_document, with_tokens
from swf_temporal.functions.auth.requests import authenticated, with_credentials
from swf_temporal.functions.call import CHECK_RESPONSE, Call, switch, variables
from swf_temporal.functions.documents.documents import (
    Document,
    Documents,
    Headers,
    is_web,
    locate,
)
from swf_temporal.functions.http.answers import HttpResponse, result_of
from swf_temporal.functions.http.failures import failure
from swf_temporal.functions.http.requests import Request, with_inherited
from swf_temporal.functions.openapi.operations import OpenApiOperation, find_operation
from swf_temporal.functions.openapi.requests import build_request
from swf_temporal.functions.openapi.responses import ResponseSchemas, violations
from swf_temporal.functions.openapi.security import secure
from swf_temporal.functions.openapi.servers import server_url
from swf_temporal.functions.openapi.type import FORM
from swf_temporal.functions.port import Performer, Services


class OpenApi(Performer):
    """Calls functions whose operation is `<document>#<operationId>`."""

    def __init__(self, services: Services, documents: Documents) -> None:
        self._http = services.http
        self._tokens = services.tokens
        self._settings = services.settings
        self._documents = documents

    async def perform(self, call: Call) -> JSON:
        """Return the service's answer. Raises CallFailed."""
        return await result_of(call, self._ask)

    async def _ask(self, call: Call) -> HttpResponse:
        document, operation, headers = await self._described(call)
        server = server_url(self._settings, call.callee, document, operation, variables(call))
        is_checked = self._is_checked(call, operation, server)

        def prepare() -> tuple[Call, Request, ResponseSchemas | None]:
            secured, keys = secure(document, operation, server, call)
            request = with_credentials(build_request(operation, server, call.arguments), keys)
            expected = operation.responses.expected() if operation.responses and is_checked else None
            return secured, request, expected

        # All that a document may lack is known before anything is sent.
        call, request, expected = await self._documents.reading(document, prepare, base=call.base, headers=headers)

        async def send(call: Call) -> HttpResponse:
            return await self._http.request(with_inherited(authenticated(request, call), call.headers))

        references = call.function.auth_ref
        answer = await with_tokens([references.invocation if references else None], call, self._tokens, send)
        if expected is not None:
            await _check(request, operation, expected, answer)
        return answer

    async def _described(self, call: Call) -> tuple[Document, OpenApiOperation, Headers]:
        """Return the operation that the function names, its document, and with which headers that was fetched."""
        name, operation_id = FORM.of(call.function)
        configured = self._settings.base_url_for(call.callee)
        location = locate(name, call.base)
        resource = auth_for_document(call, location, configured) if is_web(location) else None

        async def load(call: Call) -> tuple[Document, OpenApiOperation, Headers]:
            headers = headers_for(resource, call)
            document = await self._documents.load(name, call.base, headers)
            operation: OpenApiOperation | None = document.kept.get(operation_id)
            if operation is None:
                operation = await self._documents.reading(
                    document, lambda: find_operation(document, operation_id), base=call.base, headers=headers
                )
                document.kept[operation_id] = operation
            return document, operation, headers

        return await reading_document(resource, call, self._tokens, load)

    def _is_checked(self, call: Call, operation: OpenApiOperation, server: str) -> bool:
        """Tell whether answers must fit: the function's own word counts before what the operator says for all."""
        asked = switch(call, CHECK_RESPONSE)
        if asked is not None or operation.method == "HEAD":
            return bool(asked) and operation.method != "HEAD"
        try:
            host, port = _reached(server)
        except (httpx.InvalidURL, UnicodeError) as error:
            raise failure(error, f"{operation.method} {server}") from error
        return self._settings.options_for(call.callee, host, port).check_responses


@lru_cache(maxsize=256)
def _reached(server: str) -> tuple[str, int]:
    """Return the host and the port of a server."""
    url = httpx.URL(server)
    return url.host, url.port or (80 if url.scheme == "http" else 443)


async def _check(
    request: Request, operation: OpenApiOperation, expected: ResponseSchemas, answer: HttpResponse
) -> None:
    # Patterns can take their time; other calls go on meanwhile.
    found = await asyncio.to_thread(violations, expected, answer)
    if found:
        message = f"{request}: the answer is not what the document says of '{operation.id}': {'; '.join(found)}"
        raise CallFailed(message, code="SchemaMismatch", status=answer.status, body=answer.body, retryable=False)
