"""Calls agents by the Agent2Agent protocol, as JSON-RPC over HTTP."""

import os
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import replace
from hashlib import sha256
from typing import Any, Final
from uuid import UUID

from swf_temporal.base.calls import Auth, AuthRef
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.functions.a2a.type import AGENT_CARD
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
from swf_temporal.functions.call import Call
from swf_temporal.functions.documents.documents import Document, Documents, is_web, locate
from swf_temporal.functions.documents.servers import no_server, service_url
from swf_temporal.functions.http.client import Request
from swf_temporal.functions.json_rpc import ACCEPT, content_of, read_messages, request, result_of
from swf_temporal.functions.named_arguments import NamedArguments
from swf_temporal.functions.port import Performer, Services
from swf_temporal.functions.urls import join_url
from swf_temporal.text.suggestions import meant_or_known

METHODS: Final = (
    *("message/send", "message/stream", "tasks/get", "tasks/list", "tasks/cancel", "tasks/resubscribe"),
    *(f"tasks/pushNotificationConfig/{verb}" for verb in ("set", "get", "list", "delete")),
    "agent/getAuthenticatedExtendedCard",
)
_STREAMED: Final = frozenset({"message/stream", "tasks/resubscribe"})
_WITH_MESSAGE: Final = frozenset({"message/send", "message/stream"})
_JSON_RPC: Final = "JSONRPC"


class A2a(Performer):
    """Sends requests to agents, at the URL in their card or in the arguments."""

    def __init__(self, services: Services) -> None:
        self._services = services
        settings = services.settings
        self._documents = Documents(lambda: services.http, settings.document_lifetime, settings.resources)

    async def perform(self, call: Call) -> JSON:
        """Return the result of the method; for one that streams, an array of all results. Raises CallFailed.

        An error of the agent has the code RpcError, and is the fault's body.
        """
        arguments = NamedArguments.of(call, ("method", "server", "parameters"))
        method = arguments.text("method")
        if method not in METHODS:
            raise arguments.wrong(f"{method!r} is not a method of A2A; {meant_or_known(method, METHODS)}")
        identity = _identity(call)
        parameters = arguments.object("parameters") if arguments.has("parameters") else None
        if method in _WITH_MESSAGE:
            parameters = _with_defaults(arguments, parameters or {}, identity)
        content = content_of(request(method, parameters, number=identity))
        card = await self._card(call)
        url = self._url(call, card, arguments)
        call, credentials = (call, ()) if card is None else _secured(card, url, call)
        headers = (("Accept", ACCEPT), ("Content-Type", "application/json"))
        sent = with_credentials(Request("POST", url, headers, content), credentials)

        async def send(call: Call) -> list[JSON]:
            return await self._results(authenticated(sent, call), f"the method {method!r}", method in _STREAMED)

        references = call.function.auth_ref
        names = [references.invocation if references else None]
        results = await with_tokens(names, call, self._services.tokens, send)
        if method in _STREAMED:
            return results
        if not results:
            raise CallFailed(f"{method!r} was not answered by the agent", code="MalformedAnswer")
        return results[0]

    async def _results(self, sent: Request, what: str, is_stream: bool) -> list[JSON]:  # noqa: FBT001 - of one call
        results: list[JSON] = []
        async with self._services.http.opened(sent) as answer, aclosing(read_messages(answer, what)) as messages:
            async for message in messages:
                results.append(result_of(message, what))
                if not is_stream:
                    break
        return results

    async def _card(self, call: Call) -> Document | None:
        """Return the agent's card, if the function names one. Raises CallFailed."""
        name = call.function.metadata.get(AGENT_CARD)
        if not isinstance(name, str) or not name:
            return None
        location = locate(name, call.base)
        configured = self._services.settings.base_url_for(call.callee)
        resource = auth_for_document(call, location, configured) if is_web(location) else None

        async def load(call: Call) -> Document:
            return await self._documents.load(name, call.base, headers_for(resource, call), lambda _: None)

        return await reading_document(resource, call, self._services.tokens, load)

    def _url(self, call: Call, card: Document | None, arguments: NamedArguments) -> str:
        """Return the URL of the agent: as configured, in its card, or in the argument `server`. Raises CallFailed."""
        settings = self._services.settings
        if card is not None:
            configured = settings.base_url_for(call.callee)
            return configured if configured is not None else _url_in(card)
        if arguments.has("server"):
            return service_url(settings, call.callee, arguments.text("server"))
        configured = settings.base_url_for(call.callee)
        if configured is None:
            raise no_server(call.function.name, "it has neither 'agentCard' nor 'server'")
        return configured


def _identity(call: Call) -> str:
    """Return a UUID that is the same for every attempt."""
    key = call.idempotency_key.encode() if call.idempotency_key else os.urandom(16)
    return str(UUID(bytes=sha256(key).digest()[:16], version=4))


def _with_defaults(arguments: NamedArguments, parameters: dict[str, JSON], identity: str) -> dict[str, JSON]:
    message = parameters.get("message")
    if not isinstance(message, dict):
        raise arguments.wrong("'parameters.message' must be an object")
    return {**parameters, "message": {"messageId": identity, "role": "user", **message}}


def _url_in(card: Document) -> str:
    """Return the URL of the agent's interface for JSON-RPC. Raises CallFailed if the card has none.

    The methods of DSL 1.0, such as `message/send`, are those of versions before 1.0 of the protocol: an interface for
    these is preferred.
    """
    found = [
        interface
        for interface in _interfaces(card.content)
        if str(interface.get("transport", interface.get("protocolBinding", _JSON_RPC))).upper() == _JSON_RPC
        and isinstance(interface.get("url"), str)
    ]
    if not found:
        raise permanent_failure("BadDocument", f"the agent's card '{card.name}' has no URL for JSON-RPC")
    older = (one for one in found if str(one.get("protocolVersion", "0")).startswith("0"))
    url: str = next(older, found[0])["url"]
    return join_url(card.url, url) if card.url else url


def _interfaces(card: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"url": card.get("url"), "transport": card.get("preferredTransport") or _JSON_RPC}
    for name in ("additionalInterfaces", "supportedInterfaces"):
        found = card.get(name)
        yield from (one for one in (found if isinstance(found, list) else []) if isinstance(one, dict))


def _secured(card: Document, url: str, call: Call) -> tuple[Call, tuple[Credential, ...]]:
    """Return *call* with the auth that the card requires instead of the function's, and credentials to add.

    The first alternative of which all credentials are known counts. Without one, the call stays as it is.
    """
    declared, security = card.content.get("securitySchemes"), card.content.get("security")
    schemes: dict[str, Any] = declared if isinstance(declared, dict) else {}
    references = call.function.auth_ref
    named = find_auth(references.invocation, call) if references and references.invocation else None
    alternatives = [one for one in (security if isinstance(security, list) else []) if isinstance(one, dict) and one]
    for alternative in alternatives:
        offered = [_offered(schemes.get(name), name, scopes, url, named, call) for name, scopes in alternative.items()]
        found = [one for one in offered if one is not None]
        if len(found) == len(offered):
            auths = [one for one in found if isinstance(one, Auth)]
            resource = references.resource if references else None
            changed = AuthRef(resource=resource, invocation=auths[0].name if auths else None)
            secured = replace(call, function=replace(call.function, auth_ref=changed), auth=(*auths, *call.auth))
            return secured, tuple(one for one in found if isinstance(one, Credential))
    return call, ()


def _offered(
    scheme: JSON, name: str, scopes: JSON, url: str, named: Auth | None, call: Call
) -> Auth | Credential | None:
    for auth in (named, secret_of(name, call)):
        if auth is not None and isinstance(scheme, dict):
            wanted = scopes if isinstance(scopes, list) else []
            offered = matching(scheme, wanted, url, auth, properties_of(auth, call))
            if offered is not None:
                return offered
    return None
