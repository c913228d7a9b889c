"""JSON Web Tokens of clients: one signed with a client's secret, and the claims of one that was issued."""

import base64
import binascii
import hmac
import time
import uuid
from typing import Final

from swf_temporal.base.data import JSON
from swf_temporal.base.strict_json import NotJSON, read_json, write_json

_LIFETIME: Final = 120
"""The seconds for which an assertion is valid: it is used at once."""
_PARTS: Final = 3


def signed_by_secret(client: str, secret: str, audience: str) -> str:
    """Return an assertion that *client* knows *secret*, for *audience* (RFC 7523; OpenID Connect Core, section 9)."""
    now = int(time.time())
    claims: JSON = {
        "iss": client, "sub": client, "aud": audience, "jti": str(uuid.uuid4()), "iat": now, "exp": now + _LIFETIME,
    }  # fmt: skip
    signed = ".".join(_encoded(write_json(part).encode()) for part in ({"alg": "HS256", "typ": "JWT"}, claims))
    return f"{signed}.{_encoded(hmac.digest(secret.encode(), signed.encode(), 'sha256'))}"


def claims_in(token: str) -> dict[str, JSON] | None:
    """Return the claims of *token*, whose signature is not checked, or None if it is not a signed JWT."""
    parts = token.split(".")
    if len(parts) != _PARTS:
        return None
    try:
        claims = read_json(base64.b64decode(parts[1] + "=" * (-len(parts[1]) % 4), altchars=b"-_", validate=True))
    except (binascii.Error, NotJSON, ValueError):
        return None
    return claims if isinstance(claims, dict) else None


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode("ascii").rstrip("=")
