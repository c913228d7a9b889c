"""Where does a token come from that OAuth2 asks for? Section "OAuth2 Properties Definition"."""

import asyncio
import base64
import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote_plus, urlencode, urlsplit
from weakref import WeakKeyDictionary

from oauthlib.oauth2 import OAuth2Error
from oauthlib.oauth2.rfc6749.parameters import parse_token_response, prepare_token_request

from swf_temporal.data import JSON
from swf_temporal.errors import CallFailed
from swf_temporal.functions.call import did_you_mean, refusal
from swf_temporal.functions.http import Http, Request
from swf_temporal.functions.secrets import scrub

_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
_ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"  # noqa: S105 - the name of a kind of token
_KINDS = {
    "password": "password",
    "resourceOwner": "password",
    "clientCredentials": "client_credentials",
    "tokenExchange": _EXCHANGE,
}
_NEEDS = {"password": ("username", "password"), _EXCHANGE: ("subjectToken",)}
_OTHERS = {
    "username": "username",
    "password": "password",
    "subjectToken": "subject_token",
    "requestedSubject": "requested_subject",
    "requestedIssuer": "requested_issuer",
}
"""The properties that are sent as they are, and what they are called on the wire."""

_LEEWAY = 30.0
_REMEMBERED = 256
_SERVER_ERROR = 500
_AGAIN = frozenset({408, 425, 429})


@dataclass(frozen=True, slots=True)
class Grant:
    """All that a token depends on: two calls with equal grants share a token."""

    auth: str
    """The name of the auth definition, for messages."""
    authority: str
    kind: str
    """The grant type as it is written on the wire."""
    client_id: str
    client_secret: str = field(default="", repr=False)
    scopes: tuple[str, ...] = ()
    others: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    is_endpoint: bool = False
    """Whether the authority is known to be the URL of the token endpoint."""


def read_grant(auth: str, properties: Mapping[str, JSON]) -> Grant:
    """Return the grant that the OAuth2 *properties* of an auth definition describe, secrets filled in.

    `tokenEndpoint` is what an OpenAPI document adds to them. Raises CallFailed if they lack something.
    """
    grant_type = properties.get("grantType")
    if not isinstance(grant_type, str) or grant_type not in _KINDS:
        message = f"auth '{auth}': the grantType {grant_type!r} is not one of {', '.join(sorted(_KINDS))}"
        raise refusal("BadAuth", message + did_you_mean(str(grant_type), _KINDS))
    kind = _KINDS[grant_type]
    endpoint = _text(properties, "tokenEndpoint")
    authority = endpoint or _text(properties, "authority")
    needed = ("clientId", *(("clientSecret",) if kind == "client_credentials" else ()), *_NEEDS.get(kind, ()))
    lacking = [name for name in needed if not _text(properties, name)] + ([] if authority else ["authority"])
    if lacking:
        raise refusal("BadAuth", f"auth '{auth}' of scheme 'oauth2' lacks '{lacking[0]}', which {grant_type} needs")
    sent = [(wire, _text(properties, name)) for name, wire in _OTHERS.items() if kind != "client_credentials"]
    sent += [("audience", audience) for audience in _texts(properties, "audiences")]
    if kind == _EXCHANGE:
        sent = [(name, value) for name, value in sent if name not in {"username", "password"}]
        sent.append(("subject_token_type", _ACCESS_TOKEN))
    return Grant(
        auth=auth,
        authority=authority,
        kind=kind,
        client_id=_text(properties, "clientId"),
        client_secret=_text(properties, "clientSecret"),
        scopes=tuple(_texts(properties, "scopes")),
        others=tuple((name, value) for name, value in sent if value),
        is_endpoint=bool(endpoint),
    )


@dataclass(slots=True)
class _Kept:
    """What is known of a grant; the lock is held while a token is fetched."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    endpoint: str | None = None
    token: str | None = None
    expiry: float | None = None


class Tokens:
    """Gets tokens, and keeps each until shortly before it expires."""

    def __init__(self, http: Http, clock: Callable[[], float] = time.monotonic) -> None:
        self._http = http
        self._clock = clock
        # A lock belongs to the event loop that waited for it.
        self._kept: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Grant, _Kept]] = WeakKeyDictionary()
        self._issued: dict[str, None] = {}

    async def token(self, grant: Grant) -> str:
        """Return a token for *grant*; calls at the same time share one request. Raises CallFailed."""
        kept = self._known().setdefault(grant, _Kept())
        async with kept.lock:
            if kept.token is None or (kept.expiry is not None and self._clock() >= kept.expiry):
                kept.token, kept.expiry = await self._fetched(grant, kept)
            return kept.token

    def forget(self, grant: Grant, token: str) -> None:
        """Do not use *token* again, which a service refused; a newer one of the same grant stays."""
        kept = self._known().get(grant)
        if kept is not None and kept.token == token:
            kept.token = None

    def issued(self) -> list[JSON]:
        """Return the newest tokens, which no result or message may show."""
        return list(self._issued)

    def _known(self) -> dict[Grant, _Kept]:
        return self._kept.setdefault(asyncio.get_running_loop(), {})

    async def _fetched(self, grant: Grant, kept: _Kept) -> tuple[str, float | None]:
        """Return a new token, and when it should be replaced."""
        asked = self._clock()
        if kept.endpoint is None:
            kept.endpoint = grant.authority if grant.is_endpoint else await self._endpoint(grant)
        answer = await self._asked(grant, kept.endpoint)
        try:
            read = parse_token_response(json.dumps(answer))
        except OAuth2Error as error:
            raise _failed(grant, ": ".join(filter(None, (error.error, error.description)))) from error
        except (AttributeError, TypeError, ValueError) as error:
            raise _failed(grant, "the answer of the token endpoint is not what OAuth2 says") from error
        token = str(read["access_token"])
        self._issued[token] = None
        if len(self._issued) > _REMEMBERED:
            del self._issued[next(iter(self._issued))]
        lifetime = read.get("expires_in")
        # A token that lives for a minute is not replaced after half of it.
        return token, None if lifetime is None else asked + float(lifetime) - min(_LEEWAY, float(lifetime) / 10)

    async def _endpoint(self, grant: Grant) -> str:
        """Return the token endpoint that the authority tells of itself, or else the authority."""
        for url in _metadata_urls(grant.authority):
            try:
                metadata = await self._http.send(Request("GET", url))
            except CallFailed as fault:
                if fault.status is None or fault.status >= _SERVER_ERROR:
                    raise _failed(grant, fault.message, retryable=fault.retryable) from fault
                continue
            endpoint = metadata.get("token_endpoint") if isinstance(metadata, dict) else None
            if isinstance(endpoint, str) and endpoint:
                return endpoint
        return grant.authority

    async def _asked(self, grant: Grant, endpoint: str) -> JSON:
        try:
            return await self._http.send(_request(grant, endpoint))
        except CallFailed as fault:
            status = fault.status
            if isinstance(fault.body, dict) and "error" in fault.body and status is not None and status < _SERVER_ERROR:
                return fault.body
            again = fault.retryable and (status is None or status >= _SERVER_ERROR or status in _AGAIN)
            raise _failed(grant, fault.message, retryable=again) from fault


def _request(grant: Grant, endpoint: str) -> Request:
    pairs = list(grant.others)
    headers = [("Content-Type", "application/x-www-form-urlencoded")]
    if grant.client_secret:
        pair = f"{quote_plus(grant.client_id)}:{quote_plus(grant.client_secret)}"
        headers.append(("Authorization", f"Basic {base64.b64encode(pair.encode()).decode('ascii')}"))
    else:
        pairs.append(("client_id", grant.client_id))
    scope = " ".join(grant.scopes) or None
    body = prepare_token_request(grant.kind, body=urlencode(pairs), include_client_id=False, scope=scope)
    return Request("POST", endpoint, tuple(headers), body.encode())


def _metadata_urls(authority: str) -> tuple[str, str]:
    """Return where an authority may describe itself: after OpenID Connect, and after RFC 8414."""
    parts = urlsplit(authority)
    inserted = f"/.well-known/oauth-authorization-server{parts.path.rstrip('/')}"
    return (
        f"{authority.rstrip('/')}/.well-known/openid-configuration",
        parts._replace(path=inserted, query="", fragment="").geturl(),
    )


def _failed(grant: Grant, reason: str, *, retryable: bool = False) -> CallFailed:
    hidden: JSON = [
        grant.client_secret,
        *(value for name, value in grant.others if name in {"password", "subject_token"}),
    ]
    message = f"auth '{grant.auth}': no token from {Request('POST', grant.authority)}: {reason}"
    return CallFailed(str(scrub(message, {"": hidden})), code="AuthFailed", retryable=retryable)


def _text(properties: Mapping[str, JSON], name: str) -> str:
    value = properties.get(name)
    return value.strip() if isinstance(value, str) and name in {"authority", "tokenEndpoint"} else _as_is(value)


def _as_is(value: JSON) -> str:
    return value if isinstance(value, str) else ""


def _texts(properties: Mapping[str, JSON], name: str) -> Iterable[str]:
    value = properties.get(name)
    values = value.split() if isinstance(value, str) else value if isinstance(value, list) else []
    return [item for item in values if isinstance(item, str)]
