"""Authentication of clients of the codec server: by a secret, or by a JWT of a known issuer."""

from typing import Final

from starlette.requests import Request

from swf_temporal.app.http_authentication import JwtVerifier, NotAuthenticatedError, bearer_token, is_same
from swf_temporal.app.http_settings import CodecServerSettings

OPEN: Final = "-"
"""The subject of a request that needs no token."""


class Authentication:
    """Checks bearer tokens."""

    def __init__(self, settings: CodecServerSettings) -> None:
        self._settings = settings
        self._jwts = None if settings.jwks is None else JwtVerifier(settings)

    async def subject_of(self, request: Request) -> str:
        """Return who asks, for the log. Raises NotAuthenticatedError."""
        if self._settings.is_open:
            return OPEN
        token, secret = bearer_token(request), self._settings.token
        if secret is not None and is_same(token, secret):
            return "token"
        if self._jwts is None:
            raise NotAuthenticatedError("this is not the token")
        return str((await self._jwts.claims_of(token)).get("sub", "jwt"))
