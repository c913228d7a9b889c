"""Calls operations of OpenAPI documents.

Section "Using Functions for RESTful Service Invocations".
"""

import asyncio
from dataclasses import replace
from functools import lru_cache
from typing import Any

import httpx

from swf_temporal.base.calls import Auth, AuthRef
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.functions.auth.auth import (
    Credential,
    auth_for_document,
    find_auth,
    headers_for,
    properties_of,
    reading_document,
    with_tokens,
)
from swf_temporal.functions.auth.requests import authenticated, with_credentials
from swf_temporal.functions.auth.schemes import matching, secret_of
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
from swf_temporal.functions.openapi.operations import OpenApiOperation, ResponseSchemas, find_operation, violations
from swf_temporal.functions.openapi.requests import build_request
from swf_temporal.functions.openapi.servers import server_url
from swf_temporal.functions.openapi.type import FORM
from swf_temporal.functions.port import Performer, Services


def secure(
    document: Document, operation: OpenApiOperation, server: str, call: Call
) -> tuple[Call, tuple[Credential, ...]]:
    """Return *call* with the auths that the operation requires instead of the function's, and credentials to add.

    The credentials are those of the auth that the function names, or else of the secret of the scheme. Of several
    alternatives, the first with credentials counts. Without an auth and such a secret, the call stays as it is.
    Raises CallFailed if the auth lacks what the document asks for.
    """
    if operation.security is None:
        return call, ()
    references = call.function.auth_ref
    named = find_auth(references.invocation, call) if references and references.invocation else None
    for alternative in filter(None, operation.security):
        offered = [_offered(document, name, list(scopes), server, named, call) for name, scopes in alternative.items()]
        found = [one for one in offered if one is not None]
        if len(found) == len(offered):
            return _with(call, found)
    if not all(operation.security) or not operation.security:
        return _with(call, [])
    if named is None:
        return call, ()
    wanted = " or ".join(" and ".join(f"'{name}'" for name in alternative) for alternative in operation.security)
    message = f"the document '{document.name}' asks for {wanted}, and auth '{named.name}' has no credentials for that"
    raise permanent_failure("BadAuth", message)


def _with(call: Call, offered: list[Auth | Credential]) -> tuple[Call, tuple[Credential, ...]]:
    auths = [one for one in offered if isinstance(one, Auth)]
    references = call.function.auth_ref
    changed = AuthRef(resource=references.resource if references else None, invocation=auths[0].name if auths else None)
    function = replace(call.function, auth_ref=changed)
    credentials = tuple(one for one in offered if isinstance(one, Credential))
    return replace(call, function=function, auth=(*auths, *call.auth)), credentials


def _offered(
    document: Document, name: str, scopes: list[JSON], server: str, named: Auth | None, call: Call
) -> Auth | Credential | None:
    scheme = _scheme(document, name)
    for auth in (named, secret_of(name, call)):
        if auth is not None:
            offered = matching(scheme, scopes, server, auth, properties_of(auth, call))
            if offered is not None:
                return offered
    return None


def _scheme(document: Document, name: str) -> dict[str, Any]:
    content = document.content
    components = content if document.is_swagger else document.resolve(content.get("components"))
    declared = document.resolve(components.get("securityDefinitions" if document.is_swagger else "securitySchemes"))
    if name not in declared:
        raise permanent_failure(
            "BadDocument", f"'{document.name}' asks for the security scheme '{name}', which is not in it"
        )
    return document.resolve(declared[name])


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

        # Everything that may be missing in a document is found before anything is sent.
        call, request, expected = await self._documents.reading(document, prepare, base=call.base, headers=headers)

        async def send(call: Call) -> HttpResponse:
            return await self._http.request(with_inherited(authenticated(request, call), call.headers))

        references = call.function.auth_ref
        answer = await with_tokens([references.invocation if references else None], call, self._tokens, send)
        if expected is not None:
            await _check(request, operation, expected, answer)
        return answer

    async def _described(self, call: Call) -> tuple[Document, OpenApiOperation, Headers]:
        """Return the operation that the function names, its document, and the headers with which that was fetched."""
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
        """Return whether answers must match their schema: the function's setting overrides the operator's for all."""
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
    # Patterns can take long; other calls continue meanwhile.
    found = await asyncio.to_thread(violations, expected, answer)
    if found:
        message = f"{request}: the answer is not what the document says of '{operation.id}': {'; '.join(found)}"
        raise CallFailed(message, code="SchemaMismatch", status=answer.status, body=answer.body, retryable=False)
