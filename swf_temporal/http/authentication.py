"""Requests that an HTTP server refuses: of foreign pages and hosts, and without a valid bearer token or JWT."""

import asyncio
import hmac
import time
import urllib.request
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final
from urllib.parse import urlsplit

import jwt
from starlette.requests import Request

from swf_temporal.base.strict_json import read_json
from swf_temporal.settings.http import LOOPBACK, HttpServerSettings


def foreign_page(headers: Mapping[str, str], origins: Collection[str] = ()) -> str | None:
    """Return the origin of the web page that sends a request, unless it is of this server or one of *origins*.

    A browser sends the requests of any page, even if the page may not read the answers.
    """
    origin, host = headers.get("origin"), headers.get("host", "").lower()
    own = {f"{scheme}://{host}" for scheme in ("http", "https") if host}
    return None if origin is None or origin.lower() in {*origins, *own} else origin


def foreign_host(headers: Mapping[str, str]) -> str | None:
    """Return the Host of a request unless it names this machine, as with DNS rebinding."""
    host = headers.get("host", "")
    try:
        name = urlsplit(f"//{host}").hostname
    except ValueError:
        name = None
    return None if name in LOOPBACK else host


_ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures with key pairs only: a public key must not be accepted as a shared secret."""
_KEYS_CACHED_FOR: Final = 300
"""Seconds for which the issuer's keys are used before they are fetched again."""
_FETCHED_AT_MOST_EVERY: Final = 10
"""Seconds without another fetch after the issuer failed to answer, or did not have a requested key."""
_PATIENCE: Final = 5
"""Seconds within which the issuer has to answer."""
_MAX_KEYS_BYTES: Final = 1024 * 1024
_LEEWAY: Final = 10
"""Seconds by which the clocks of the issuer and of this machine may differ."""


class NotAuthenticatedError(Exception):
    """The request has no valid token. The text contains nothing of the token."""


class KeysUnavailableError(Exception):
    """The issuer's keys cannot be fetched at the moment, so that a token cannot be verified."""


def bearer_token(request: Request) -> str:
    """Return the bearer token of *request*. Raises NotAuthenticatedError if it has none."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token:
        raise NotAuthenticatedError("a bearer token is needed")
    return token


def is_same(given: str, secret: str) -> bool:
    """Return whether *given* is *secret*, in constant time."""
    return hmac.compare_digest(given.encode(), secret.encode())


class JwtVerifier:
    """Verifies JWTs with the keys that their issuer publishes."""

    def __init__(self, settings: HttpServerSettings) -> None:
        """Verify the claims that *settings* require, with the keys at the URL that they name."""
        self._settings = settings
        self._keys = _IssuerKeys(settings.jwks or "")

    async def claims_of(self, token: str) -> Mapping[str, Any]:
        """Return the claims of *token*. Raises NotAuthenticatedError and KeysUnavailableError."""
        settings = self._settings
        try:
            key = await self._keys.of(jwt.get_unverified_header(token).get("kid"))
            claims: Mapping[str, Any] = jwt.decode(
                token,
                key,
                algorithms=_ALGORITHMS,
                issuer=settings.issuer,
                audience=settings.audience,
                leeway=_LEEWAY,
                options={
                    "require": ["exp"],
                    "verify_iss": settings.issuer is not None,
                    "verify_aud": settings.audience is not None,
                },
            )
        except (jwt.PyJWTError, ValueError, TypeError, RecursionError) as error:  # tokens are untrusted input
            raise NotAuthenticatedError(f"the token is not valid: {error}") from None
        return claims


class _IssuerKeys:
    """The keys that an issuer publishes.

    One request at a time fetches them, in a separate thread: an issuer that does not answer only delays the requests
    whose tokens need its keys, and these for a short while.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._thread = ThreadPoolExecutor(1, "swf-jwks")
        self._fetching: asyncio.Future[None] | None = None
        self._keys: Mapping[str, jwt.PyJWK] = {}
        self._are_of = self._asked = -float("inf")
        """When the keys were fetched, and when the issuer was last asked, by `time.monotonic`."""
        self._failed = ""
        """Why the last fetch failed; empty if it did not."""

    async def of(self, key_id: object) -> jwt.PyJWK:
        """Return the key of that id. Raises NotAuthenticatedError if there is no such key, and KeysUnavailableError."""
        now = time.monotonic()
        are_fresh = now - self._are_of < _KEYS_CACHED_FOR
        if not (are_fresh and key_id in self._keys) and now - self._asked >= _FETCHED_AT_MOST_EVERY:
            await self._fetched()
            are_fresh = time.monotonic() - self._are_of < _KEYS_CACHED_FOR
        if not are_fresh:
            raise KeysUnavailableError(f"the keys at {self._url} cannot be fetched: {self._failed}")
        found = self._keys.get(key_id) if isinstance(key_id, str) else None
        if found is None:
            raise NotAuthenticatedError("the token is not valid: its issuer publishes no key with the id that it names")
        return found

    async def _fetched(self) -> None:
        if self._fetching is None:
            self._fetching = asyncio.get_running_loop().run_in_executor(self._thread, self._fetch)
        fetching = self._fetching
        done, _ = await asyncio.wait([fetching], timeout=_PATIENCE)
        self._asked = time.monotonic()
        if not done:
            self._failed = "the issuer does not answer"
        elif fetching is self._fetching:
            self._fetching = None

    def _fetch(self) -> None:
        try:
            with _OPENER.open(self._url, timeout=_PATIENCE) as answer:
                published = jwt.PyJWKSet.from_dict(read_json(_body_of(answer)))
            usable = [key for key in published.keys if key.key_id and key.public_key_use in ("sig", None)]
            if not usable:
                raise ValueError("it has no keys for signatures, with ids")  # noqa: TRY301 - handled like others
        except Exception as error:  # noqa: BLE001 - any wrong answer means that there are no keys
            self._failed = str(error) or type(error).__name__
        else:
            self._keys, self._are_of = {str(key.key_id): key for key in usable}, time.monotonic()


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Treats a redirect as an error: keys only come from where the operator says."""

    def redirect_request(self, *_: Any) -> None:
        return None


_OPENER: Final = urllib.request.build_opener(_NoRedirects)


def _body_of(answer: Any) -> bytes:
    """Return the body of an answer, within limits of size and time."""
    body, end = b"", time.monotonic() + _PATIENCE
    while piece := answer.read1(_MAX_KEYS_BYTES):
        body += piece
        if len(body) > _MAX_KEYS_BYTES:
            raise ValueError(f"it has more than {_MAX_KEYS_BYTES:,} bytes")
        if time.monotonic() > end:
            raise TimeoutError("it takes too long")
    return body
