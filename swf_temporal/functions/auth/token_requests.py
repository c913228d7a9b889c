"""The requests for tokens of OAuth2, with the credentials of the client."""

import base64
import hmac
import time
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlencode

from oauthlib.oauth2.rfc6749.parameters import prepare_token_request

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import permanent_failure
from swf_temporal.base.importing import module_named, optional
from swf_temporal.base.strict_json import write_json
from swf_temporal.functions.auth.grants import BASIC, NONE, PRIVATE_KEY_JWT, SECRET_JWT, Grant
from swf_temporal.functions.http.client import Request

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
