"""The tokens of OAuth2: fetched, cached and replaced. Section "OAuth2 Properties Definition"."""

import asyncio
import base64
import binascii
import hmac
import time
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import quote, urlencode
from weakref import WeakKeyDictionary

from cachetools import LRUCache
from oauthlib.oauth2 import OAuth2Error
from oauthlib.oauth2.rfc6749.parameters import parse_token_response, prepare_token_request

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.base.importing import module_named, optional
from swf_temporal.base.strict_json import NotJSON, read_json, write_json
from swf_temporal.functions.auth.grants import BASIC, NONE, POST, PRIVATE_KEY_JWT, REFRESH, SECRET_JWT, Grant
from swf_temporal.functions.http.client import Http, Request
from swf_temporal.functions.limits import in_line
from swf_temporal.functions.secrets import scrub
from swf_temporal.functions.urls import split_url

_ASSERTION: Final = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_LIFETIME: Final = 120
"""The seconds for which an assertion is valid: it is used at once."""
_PEM: Final = "-----BEGIN"
_LIBRARY: Final = "cryptography.hazmat.primitives"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A token endpoint, and how clients authenticate there."""

    url: str
    auth_method: str = BASIC


def token_request(grant: Grant, endpoint: Endpoint) -> Request:
    """Return the request by which *grant* gets a token at *endpoint*. Raises CallFailed if it cannot be signed."""
    pairs = list(grant.others)
    headers = [("Content-Type", "application/json" if grant.as_json else "application/x-www-form-urlencoded")]
    method = grant.method or endpoint.auth_method
    if grant.client_secret and method == BASIC:
        # RFC 6749, 2.3.1: as in a form, but with %20 for a space, since not every server reads the plus sign.
        pair = f"{quote(grant.client_id, safe='')}:{quote(grant.client_secret, safe='')}"
        headers.append(("Authorization", f"Basic {base64.b64encode(pair.encode()).decode('ascii')}"))
    else:
        pairs += _client(grant, method, endpoint.url)
    scope = " ".join(grant.scopes) or None
    if grant.as_json:
        pairs += [("grant_type", grant.kind), *([("scope", scope)] if scope else ())]
        return Request("POST", endpoint.url, tuple(headers), write_json(_as_object(pairs)).encode())
    body = prepare_token_request(grant.kind, body=urlencode(pairs), include_client_id=False, scope=scope)
    return Request("POST", endpoint.url, tuple(headers), body.encode())


def _client(grant: Grant, method: str, url: str) -> Iterable[tuple[str, str]]:
    """Yield the parameters of the request by which a client authenticates (RFC 6749, 2.3.1; RFC 7523, 2.2)."""
    if grant.client_id:
        yield "client_id", grant.client_id
    if method in {SECRET_JWT, PRIVATE_KEY_JWT}:
        yield "client_assertion_type", _ASSERTION
        yield "client_assertion", _assertion(grant, url)
    elif grant.client_secret and method != NONE:
        yield "client_secret", grant.client_secret


def _assertion(grant: Grant, url: str) -> str:
    """Return the JWT by which a client authenticates at the endpoint *url*: as it is given, or signed for this once."""
    if not _is_key(grant.assertion):
        return grant.assertion or _signed_by_secret(grant.client_id, grant.client_secret, url)
    try:
        return _signed_by_key(grant.client_id, grant.assertion, url)
    except ValueError as error:
        message = f"auth '{grant.auth}': the private key of the client cannot be used: {error}"
        raise permanent_failure("BadAuth", message) from error


def _as_object(pairs: Iterable[tuple[str, str]]) -> JSON:
    """Return an object of *pairs*, with an array for a name that is repeated."""
    found: dict[str, list[JSON]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return {name: values if len(values) > 1 else values[0] for name, values in found.items()}


def _signed_by_secret(client: str, secret: str, audience: str) -> str:
    """Return an assertion that *client* knows *secret*, for *audience* (RFC 7523; OpenID Connect Core, section 9)."""
    signed = _unsigned("HS256", client, audience)
    return f"{signed}.{_encoded(hmac.digest(secret.encode(), signed.encode(), 'sha256'))}"


def _is_key(assertion: str) -> bool:
    """Return whether *assertion* is not a JWT, but a private key in PEM, to sign one with."""
    return assertion.lstrip().startswith(_PEM)


def _signed_by_key(client: str, key: str, audience: str) -> str:
    """Return an assertion that *client* has the private *key*, which is RSA, or elliptic with the curve P-256.

    Raises ValueError if it is another, or not a key, and CallFailed if the package that signs is not installed.
    """
    serialization = optional(f"{_LIBRARY}.serialization", "encryption", "private keys of clients")
    asymmetric = f"{_LIBRARY}.asymmetric"
    ec, padding, rsa, utils = (module_named(f"{asymmetric}.{name}") for name in ("ec", "padding", "rsa", "utils"))
    sha256 = module_named(f"{_LIBRARY}.hashes").SHA256()
    try:
        private = serialization.load_pem_private_key(key.strip().encode(), None)
    except (ValueError, TypeError) as error:
        raise ValueError("it cannot be read: it must be PEM without a password") from error
    if isinstance(private, rsa.RSAPrivateKey):
        signed = _unsigned("RS256", client, audience)
        signature = private.sign(signed.encode(), padding.PKCS1v15(), sha256)
    elif isinstance(private, ec.EllipticCurvePrivateKey) and isinstance(private.curve, ec.SECP256R1):
        signed = _unsigned("ES256", client, audience)
        numbers = utils.decode_dss_signature(private.sign(signed.encode(), ec.ECDSA(sha256)))
        signature = b"".join(number.to_bytes(32, "big") for number in numbers)
    else:
        raise ValueError("it must be RSA, or elliptic with the curve P-256")  # noqa: TRY004 - a key of another kind
    return f"{signed}.{_encoded(signature)}"


def _unsigned(algorithm: str, client: str, audience: str) -> str:
    now = int(time.time())
    claims: JSON = {
        "iss": client, "sub": client, "aud": audience, "jti": str(uuid.uuid4()), "iat": now, "exp": now + _LIFETIME,
    }  # fmt: skip
    return ".".join(_encoded(write_json(part).encode()) for part in ({"alg": algorithm, "typ": "JWT"}, claims))


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode("ascii").rstrip("=")


_WELL_KNOWN = "/.well-known/"
_LEEWAY = 30.0
_PARTS_OF_JWT = 3
_MAX_GRANTS = 1024
"""The number of grants whose token is kept: some may have a user or a token of one instance."""
_MAX_ISSUED = 256
_SERVER_ERROR = 500
_AGAIN = frozenset({408, 425, 429})


@dataclass(slots=True)
class _CacheEntry:
    """The cached token of a grant; the turn is held while a token is fetched."""

    turn: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))
    endpoint: Endpoint | None = None
    token: str | None = None
    expiry: float | None = None
    refresh: str | None = field(default=None, repr=False)
    """The refresh token in the last answer, if the grant is renewed with it."""
    answered: int = 0
    """The number of finished requests for a token."""
    fault: CallFailed | None = None
    """The failure of the last request, if it failed."""


class Tokens:
    """Gets tokens, and caches each until shortly before it expires.

    oauthlib writes the requests and reads the answers. authlib's client is a separate httpx client: it would bypass the
    hosts guard, the limits and the operator's settings, and does not look up an authority's endpoint.
    """

    def __init__(self, http: Http, clock: Callable[[], float] = time.monotonic) -> None:
        self._http = http
        self._clock = clock
        # A semaphore belongs to the event loop that first waited for it.
        self._entries: WeakKeyDictionary[asyncio.AbstractEventLoop, LRUCache[Grant, _CacheEntry]] = WeakKeyDictionary()
        self._issued: dict[str, None] = {}

    async def token(self, grant: Grant) -> str:
        """Return a token for *grant*; concurrent calls share one request, and its failure. Raises CallFailed."""
        entry = self._of_this_loop().setdefault(grant, _CacheEntry())
        before = entry.answered
        async with in_line(entry.turn):
            if entry.token is not None and (entry.expiry is None or self._clock() < entry.expiry):
                self._note(entry.token)
                return entry.token
            if entry.fault is not None and entry.answered != before:
                raise entry.fault  # of the request that this call has waited for
            entry.token = entry.fault = None
            try:
                entry.token, entry.expiry = await self._fetched(grant, entry)
            except CallFailed as fault:
                entry.fault = fault
                if not fault.retryable:
                    entry.refresh = None  # it may be revoked: then what the definition gives may work again
                entry.endpoint = None  # looked up again: the authority may have been down when it was, or changed since
                raise
            finally:
                entry.answered += 1
            return entry.token

    def forget(self, grant: Grant, token: str) -> None:
        """Drop *token*, which a service refused; a newer one of the same grant stays."""
        entry = self._of_this_loop().get(grant)
        if entry is not None and entry.token == token:
            entry.token = None

    def issued(self) -> list[JSON]:
        """Return the tokens used last, which no result or message may show, the latest at the end."""
        return list(self._issued)

    def _note(self, token: str) -> None:
        self._issued.pop(token, None)
        self._issued[token] = None
        if len(self._issued) > _MAX_ISSUED:
            del self._issued[next(iter(self._issued))]

    def _of_this_loop(self) -> LRUCache[Grant, _CacheEntry]:
        loop = asyncio.get_running_loop()
        if loop not in self._entries:
            self._entries[loop] = LRUCache(_MAX_GRANTS)
        return self._entries[loop]

    async def _fetched(self, grant: Grant, entry: _CacheEntry) -> tuple[str, float | None]:
        """Return a new token, and when it should be replaced."""
        asked = self._clock()
        if entry.endpoint is None:
            entry.endpoint = Endpoint(grant.authority) if grant.is_endpoint else await self._endpoint(grant)
        answer = await self._asked(_renewing(grant, entry.refresh), entry.endpoint)
        try:
            read = parse_token_response(write_json(answer))
        except OAuth2Error as error:
            raise _failed(grant, ": ".join(filter(None, (error.error, error.description)))) from error
        except (AttributeError, TypeError, ValueError) as error:
            raise _failed(grant, "the answer of the token endpoint does not conform to OAuth2") from error
        token = str(read["access_token"])
        self._note(token)
        if grant.is_renewed and isinstance(read.get("refresh_token"), str):
            entry.refresh = read["refresh_token"]
            self._note(entry.refresh)
        _check_issuer(grant, token)
        lifetime = read.get("expires_in")
        if lifetime is None and isinstance(answer, dict) and answer.get("expires_in") is not None:
            lifetime = 0  # which oauthlib leaves out
        # A token that is valid for a minute is not replaced after half of it.
        return token, None if lifetime is None else asked + float(lifetime) - min(_LEEWAY, float(lifetime) / 10)

    async def _endpoint(self, grant: Grant) -> Endpoint:
        """Return the token endpoint in the authority's metadata, or else the authority, if it may be one."""
        urls = _metadata_urls(grant.authority)
        # The URL of a description is no token endpoint, even if there is nothing.
        is_described = urls == (grant.authority,)
        for url in urls:
            try:
                metadata = (await self._http.request(Request("GET", url))).body
            except CallFailed as fault:
                if fault.status is None or fault.status >= _SERVER_ERROR:
                    raise _failed(grant, fault.message, retryable=fault.retryable) from fault
                continue
            is_described = True
            endpoint = metadata.get("token_endpoint") if isinstance(metadata, dict) else None
            if isinstance(metadata, dict) and isinstance(endpoint, str) and endpoint:
                methods = metadata.get("token_endpoint_auth_methods_supported")
                knows_form_only = isinstance(methods, list) and POST in methods and BASIC not in methods
                return Endpoint(endpoint, POST if knows_form_only else BASIC)
        if grant.needs_endpoint and is_described:
            raise _failed(
                grant, "the authority does not describe itself with a token_endpoint, as OpenID Connect has it"
            )
        return Endpoint(grant.authority)

    async def _asked(self, grant: Grant, endpoint: Endpoint) -> JSON:
        asking = token_request(grant, endpoint)
        try:
            return (await self._http.request(asking)).body
        except CallFailed as fault:
            status = fault.status
            if isinstance(fault.body, dict) and "error" in fault.body and status is not None and status < _SERVER_ERROR:
                return fault.body
            again = fault.retryable and (status is None or status >= _SERVER_ERROR or status in _AGAIN)
            raise _failed(grant, fault.message, retryable=again) from fault


def _renewing(grant: Grant, refresh: str | None) -> Grant:
    """Return the grant by which the next token is got: by the *refresh* token of the last answer, if there is one."""
    if refresh is None:
        return grant
    kept = [(name, value) for name, value in grant.others if name == "audience"]
    return replace(grant, kind=REFRESH, others=(("refresh_token", refresh), *kept))


def _check_issuer(grant: Grant, token: str) -> None:
    """Raise CallFailed if *token* is a JWT of an issuer that the grant does not accept; others name no issuer."""
    claims = _claims_in(token) if grant.issuers else None
    if claims is not None and claims.get("iss") not in grant.issuers:
        known = ", ".join(grant.issuers)
        raise _failed(grant, f"the issuer of the token is {claims.get('iss')!r}, which is not one of {known}")


def _claims_in(token: str) -> dict[str, JSON] | None:
    """Return the claims of *token*, whose signature is not checked, or None if it is not a signed JWT."""
    parts = token.split(".")
    if len(parts) != _PARTS_OF_JWT:
        return None
    try:
        claims = read_json(base64.b64decode(parts[1] + "=" * (-len(parts[1]) % 4), altchars=b"-_", validate=True))
    except (binascii.Error, NotJSON, ValueError):
        return None
    return claims if isinstance(claims, dict) else None


def _metadata_urls(authority: str) -> tuple[str, ...]:
    """Return the URLs where an authority may describe itself: by OpenID Connect, and by RFC 8414.

    The authority may also be such a URL itself.
    """
    parts = split_url(authority)
    if _WELL_KNOWN in parts.path:
        return (authority,)
    inserted = f"/.well-known/oauth-authorization-server{parts.path.rstrip('/')}"
    return (
        f"{authority.rstrip('/')}/.well-known/openid-configuration",
        parts._replace(path=inserted, query="", fragment="").geturl(),
    )


def _failed(grant: Grant, reason: str, *, retryable: bool = False) -> CallFailed:
    message = f"auth '{grant.auth}': no token from {Request('POST', grant.authority)}: {reason}"
    return CallFailed(str(scrub(message, {"": grant.secrets})), code="AuthFailed", retryable=retryable)
