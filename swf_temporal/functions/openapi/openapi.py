"""Calls operations of OpenAPI documents: the request with its credentials, and the answer.

Section "Using Functions for RESTful Service Invocations".
"""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import httpx

from swf_temporal.base.calls import Auth, AuthRef
from swf_temporal.base.data import JSON, plain_numbers
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.functions.auth.auth import (
    Credential,
    auth_for_document,
    find_auth,
    headers_for,
    matching,
    properties_of,
    reading_document,
    secret_of,
    with_tokens,
)
from swf_temporal.functions.auth.requests import authenticated, with_credentials
from swf_temporal.functions.call import CHECK_RESPONSE, Call, switch, variables
from swf_temporal.functions.documents.documents import (
    Document,
    Documents,
    Headers,
    is_web,
    locate,
)
from swf_temporal.functions.http.bodies import write_body
from swf_temporal.functions.http.client import HttpResponse, Request, with_inherited
from swf_temporal.functions.http.failures import failure
from swf_temporal.functions.http.media_types import choose, closest, concrete, has_fields, is_file
from swf_temporal.functions.http.parameters import Parameter, as_text, in_cookie, in_header, in_path, in_query
from swf_temporal.functions.http.results import REDIRECT, reading, result_of
from swf_temporal.functions.openapi.operations import (
    Content,
    OpenApiOperation,
    RequestBody,
    ResponseSchemas,
    find_operation,
    server_url,
    violations,
)
from swf_temporal.functions.openapi.type import FORM
from swf_temporal.functions.port import Performer, Services
from swf_temporal.text.bodies import split_content_type
from swf_temporal.text.suggestions import suggestion

_ACCEPT = "accept"
_CONTENT_TYPE = "content-type"


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

        def prepare() -> tuple[Call, tuple[Credential, ...], Request, ResponseSchemas | None]:
            secured, keys = secure(document, operation, server, call)
            request = build_request(operation, server, call.arguments)
            expected = operation.responses.expected() if operation.responses and is_checked else None
            return secured, keys, replace(request, redirect=switch(call, REDIRECT)), expected

        # Everything that may be missing in a document is found before anything is sent.
        prepared = await self._documents.reading(document, prepare, base=call.base, headers=headers)
        call, keys, request, expected = prepared
        read = reading(call)

        async def send(call: Call) -> HttpResponse:
            sent = authenticated(with_credentials(request, keys), call)
            return await self._http.request(with_inherited(sent, call.headers), read)

        references = call.function.auth_ref
        answer = await with_tokens([references.invocation if references else None], call, self._tokens, send)
        if expected is not None:
            await _check(request, operation, expected, answer)
        return replace(answer, asked=request)

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


def build_request(operation: OpenApiOperation, server: str, arguments: JSON) -> Request:
    """Return the request to *server* for *operation*.

    Each parameter takes the argument of its name, or its default; null is the same as absent. The arguments `Accept`
    and `Content-Type` choose the media types of answer and request, if there is a choice. The others are the body. An
    argument that fits nowhere is an error, and not ignored. Raises CallFailed.
    """
    asked, arguments = _without_media_types(operation, arguments)
    named = _named(operation, arguments)
    values = ((parameter, _value(operation, parameter, named)) for parameter in operation.parameters)
    given = [(parameter, value) for parameter, value in values if value is not None]
    headers = [
        (parameter.name, in_header(parameter, value)) for parameter, value in given if parameter.where == "header"
    ]
    cookies = [in_cookie(parameter, value) for parameter, value in given if parameter.where == "cookie"]
    if any(cookies):
        headers.append(("Cookie", "; ".join(filter(None, cookies))))
    accepted = asked.get(_ACCEPT) or (operation.responses and operation.responses.accepted())
    if accepted:
        headers.append(("Accept", accepted))
    content = None
    body = arguments if not isinstance(arguments, dict) else _body_value(operation, named)
    if operation.body is not None and (body is not None or operation.body.required):
        content, media_type = _written(operation, operation.body, body, asked)
        headers.append(("Content-Type", media_type))
    return Request(operation.method, _url(operation, server, given), tuple(headers), content)


def _without_media_types(operation: OpenApiOperation, arguments: JSON) -> tuple[dict[str, str], JSON]:
    """Return the media types that the arguments ask for, by names in lower case, and the other arguments."""
    if not isinstance(arguments, dict):
        return {}, arguments
    fields = operation.body.properties if operation.body else ()
    names = [name for name in arguments if name.lower() in {_ACCEPT, _CONTENT_TYPE} and name not in fields]
    if operation.body is None:
        names = [name for name in names if name.lower() == _ACCEPT]
    asked = {name.lower(): as_text(arguments[name]) for name in names}
    return asked, {name: value for name, value in arguments.items() if name not in names} if names else arguments


def _named(operation: OpenApiOperation, arguments: JSON) -> dict[str, JSON]:
    if isinstance(arguments, dict):
        return arguments
    if arguments is None or operation.body is not None:
        return {}
    raise permanent_failure("BadArguments", f"operation '{operation.id}' takes its arguments by name, as an object")


def _value(operation: OpenApiOperation, parameter: Parameter, named: dict[str, JSON]) -> JSON:
    value = named.get(parameter.name)
    if value is None:
        value = parameter.default
    if value is None and parameter.required:
        state = "is null" if parameter.name in named else "is missing"
        message = f"operation '{operation.id}': the argument '{parameter.name}' ({parameter.where}) {state}"
        raise permanent_failure("BadArguments", message)
    return plain_numbers(value) if parameter.is_integer else value


def _body_value(operation: OpenApiOperation, named: dict[str, JSON]) -> JSON:
    """Return the arguments that are the body, or None if there are none."""
    parameters = {parameter.name for parameter in operation.parameters}
    body = operation.body
    if body is None:
        for name in named:
            if name not in parameters:
                message = f"operation '{operation.id}' takes no argument '{name}'{suggestion(name, parameters)}"
                raise permanent_failure("BadArguments", message)
        return None
    # `PUT /orders/{id}` with an order that has an id: an argument that the body's schema also names goes to both.
    rest = {name: value for name, value in named.items() if name not in parameters or name in body.properties}
    return _unwrapped(body, rest) if rest else None


def _unwrapped(body: RequestBody, rest: dict[str, JSON]) -> JSON:
    """Return the body itself if it is passed as a whole, under the name of the body."""
    if list(rest) == [body.name] and body.name not in body.properties:
        return rest[body.name]
    return rest


def _written(operation: OpenApiOperation, body: RequestBody, value: JSON, asked: dict[str, str]) -> tuple[bytes, str]:
    content, media_type = _content(operation, body, {} if value is None else value, asked.get(_CONTENT_TYPE))
    if value is None:
        # A form or an object may be empty, which the service decides; others cannot be written without a value.
        if not has_fields(media_type):
            raise permanent_failure("BadArguments", f"operation '{operation.id}' needs a body, as {media_type}")
        value = {}
    if isinstance(value, dict) and not is_file(value):
        value = {**value, **{name: default for name, default in content.defaults.items() if name not in value}}
    return write_body(value, media_type, content.fields)


def _content(operation: OpenApiOperation, body: RequestBody, value: JSON, asked: str | None) -> tuple[Content, str]:
    """Return how the body is sent: as the argument `Content-Type` says, or as suits the value."""
    contents = {content.media_type: content for content in body.contents}
    if not asked:
        chosen = choose(list(contents), value)
        return contents[chosen], concrete(chosen, value)
    declared = closest(contents, asked)
    if declared is None:
        kinds = " or ".join(contents)
        message = f"operation '{operation.id}' takes its body as {kinds}, and not as '{split_content_type(asked)[0]}'"
        raise permanent_failure("BadArguments", message)
    return contents[declared], asked


def _url(operation: OpenApiOperation, server: str, given: Sequence[tuple[Parameter, JSON]]) -> str:
    places = {parameter.name: in_path(parameter, value) for parameter, value in given if parameter.where == "path"}

    def fill(match: re.Match[str]) -> str:
        if match[1] not in places:
            message = f"the path {operation.path} of operation '{operation.id}' has an undeclared '{match[1]}'"
            raise permanent_failure("BadDocument", message)
        return places[match[1]]

    path = re.sub(r"\{([^{}]+)\}", fill, operation.path)
    pieces = [in_query(parameter, value) for parameter, value in given if parameter.where == "query"]
    url = server.rstrip("/") + "/" + path.lstrip("/")
    query = "&".join(piece for piece in pieces if piece)
    return f"{url}{'&' if '?' in url else '?'}{query}" if query else url
