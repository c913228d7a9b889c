"""Who looks at the console: the key that a browser was given at the login page, kept in a cookie.

Nothing is kept here: any gateway answers any browser, and a key that does not count any longer ends its sessions.
"""

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field
from hashlib import sha256
from secrets import token_urlsafe
from typing import Final, Self

from starlette.requests import Request
from starlette.responses import Response

COOKIE: Final = "swf-console"
CSRF: Final = "csrf"
"""The field of forms that tells that a page of the console has sent them."""
LONGEST_KEY: Final = 2800
"""How many bytes of a key a cookie can hold: browsers drop those of more than 4,096."""
_PATH: Final = "/console"


@dataclass(frozen=True, slots=True)
class Session:
    key: str = field(default="", repr=False)
    """An API key or a JWT; empty where nobody has logged in."""
    secret: str = field(default_factory=lambda: token_urlsafe(24), repr=False)
    """What only the browser knows."""

    @classmethod
    def of(cls, request: Request) -> Self | None:
        """Return the session that *request* belongs to; None if it has no cookie that can be read."""
        secret, _, key = request.cookies.get(COOKIE, "").partition(".")
        if not secret:
            return None
        try:
            return cls(urlsafe_b64decode(key.encode()).decode(), secret)
        except ValueError:
            return None

    @property
    def csrf(self) -> str:
        """What forms of this session say to be from its pages."""
        return sha256(f"{CSRF}\n{self.secret}".encode()).hexdigest()

    def has_sent(self, csrf: str) -> bool:
        return hmac.compare_digest(csrf.encode(errors="replace"), self.csrf.encode())

    def keep(self, request: Request, response: Response) -> None:
        """Let the browser keep the session until it is closed."""
        value = f"{self.secret}.{urlsafe_b64encode(self.key.encode()).decode()}"
        is_secure = "https" in (request.url.scheme, request.headers.get("x-forwarded-proto"))
        response.set_cookie(COOKIE, value, path=_PATH, secure=is_secure, httponly=True, samesite="strict")


def end_session(response: Response) -> None:
    """Let the browser forget its session."""
    response.delete_cookie(COOKIE, path=_PATH, httponly=True, samesite="strict")
