"""Bearer tokens of HTTP servers, and JWTs of a known issuer among them."""

import asyncio
import hmac
from collections.abc import Mapping
from typing import Any, Final

import jwt
from starlette.requests import Request

from swf_temporal.app.http_settings import HttpServerSettings

_ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures with key pairs only: a public key must not count as a shared secret."""
_KEYS_CACHED_FOR: Final = 300
"""Seconds for which keys of the issuer are used before they are fetched again."""
_PATIENCE: Final = 10
"""Seconds in which the issuer has to answer."""


class NotAuthenticatedError(Exception):
    """A request without a token that counts. Its text has nothing of the token."""


class KeysUnavailableError(Exception):
    """The keys of the issuer cannot be fetched at the moment: whether a token counts is not known."""


def bearer_token(request: Request) -> str:
    """Return the bearer token of *request*. Raises NotAuthenticatedError if it has none."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token:
        raise NotAuthenticatedError("a bearer token is needed")
    return token


def is_same(given: str, secret: str) -> bool:
    """Tell whether *given* is *secret*, in a time that tells nothing about where they differ."""
    return hmac.compare_digest(given.encode(), secret.encode())


class JwtVerifier:
    """Verifies JWTs by the keys that their issuer publishes."""

    def __init__(self, settings: HttpServerSettings) -> None:
        """Verify what *settings* ask for; they name where the keys are."""
        self._settings = settings
        self._keys = jwt.PyJWKClient(settings.jwks or "", lifespan=_KEYS_CACHED_FOR, timeout=_PATIENCE)

    async def claims_of(self, token: str) -> Mapping[str, Any]:
        """Return what *token* claims. Raises NotAuthenticatedError and KeysUnavailableError."""
        return await asyncio.to_thread(self._claims_of, token)

    def _claims_of(self, token: str) -> Mapping[str, Any]:
        settings = self._settings
        try:
            claims: Mapping[str, Any] = jwt.decode(
                token,
                self._keys.get_signing_key_from_jwt(token),
                algorithms=_ALGORITHMS,
                issuer=settings.issuer,
                audience=settings.audience,
                options={
                    "require": ["exp"],
                    "verify_iss": settings.issuer is not None,
                    "verify_aud": settings.audience is not None,
                },
            )
        except jwt.PyJWKClientConnectionError as error:
            raise KeysUnavailableError(f"the keys at {settings.jwks} cannot be fetched: {error}") from None
        except jwt.PyJWTError as error:
            raise NotAuthenticatedError(f"the token is not valid: {error}") from None
        return claims
