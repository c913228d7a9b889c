"""JSON Web Tokens of clients: signed with a client's secret or its private key; and the claims of an issued one."""

import base64
import binascii
import hmac
import time
import uuid
from typing import Final

from swf_temporal.base.data import JSON
from swf_temporal.base.importing import module_named, optional
from swf_temporal.base.strict_json import NotJSON, read_json, write_json

_LIFETIME: Final = 120
"""The seconds for which an assertion is valid: it is used at once."""
_PARTS: Final = 3
_PEM: Final = "-----BEGIN"
_LIBRARY: Final = "cryptography.hazmat.primitives"


def signed_by_secret(client: str, secret: str, audience: str) -> str:
    """Return an assertion that *client* knows *secret*, for *audience* (RFC 7523; OpenID Connect Core, section 9)."""
    signed = _unsigned("HS256", client, audience)
    return f"{signed}.{_encoded(hmac.digest(secret.encode(), signed.encode(), 'sha256'))}"


def is_key(assertion: str) -> bool:
    """Return whether *assertion* is not a JWT, but a private key in PEM, to sign one with."""
    return assertion.lstrip().startswith(_PEM)


def signed_by_key(client: str, key: str, audience: str) -> str:
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
