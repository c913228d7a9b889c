"""Who may ask the codec server: those with a secret, or with a JWT of a known issuer."""

import asyncio
import hmac
from typing import Final

import jwt
from starlette.requests import Request

from swf_temporal.app.codec_server.settings import CodecServerSettings

_ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures with key pairs only: a public key must not count as a shared secret."""
_LIFETIME: Final = 300
"""Seconds for which keys of the issuer are used before they are fetched again."""
_PATIENCE: Final = 10
"""Seconds in which the issuer has to answer."""

OPEN: Final = "-"
"""The subject of a request that needs no token."""


class NotAuthenticatedError(Exception):
    """A request without a token that counts. Its text has nothing of the token."""


class Authentication:
    """Checks bearer tokens."""

    def __init__(self, settings: CodecServerSettings) -> None:
        self._settings = settings
        self._keys = None
        if settings.jwks is not None:
            self._keys = jwt.PyJWKClient(settings.jwks, lifespan=_LIFETIME, timeout=_PATIENCE)

    async def subject_of(self, request: Request) -> str:
        """Return who asks, for the log. Raises NotAuthenticatedError."""
        if self._settings.is_open:
            return OPEN
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        token = token.strip()
        if scheme.lower() != "bearer" or not token:
            raise NotAuthenticatedError("a bearer token is needed")
        secret = self._settings.token
        if secret is not None and hmac.compare_digest(token.encode(), secret.encode()):
            return "token"
        if self._keys is None:
            raise NotAuthenticatedError("this is not the token")
        return await asyncio.to_thread(self._subject_of_jwt, self._keys, token)

    def _subject_of_jwt(self, keys: jwt.PyJWKClient, token: str) -> str:
        settings = self._settings
        try:
            claims = jwt.decode(
                token,
                keys.get_signing_key_from_jwt(token),
                algorithms=_ALGORITHMS,
                issuer=settings.issuer,
                audience=settings.audience,
                options={
                    "require": ["exp"],
                    "verify_iss": settings.issuer is not None,
                    "verify_aud": settings.audience is not None,
                },
            )
        except jwt.PyJWTError as error:
            raise NotAuthenticatedError(f"the token does not count: {error}") from None
        return str(claims.get("sub", "jwt"))
