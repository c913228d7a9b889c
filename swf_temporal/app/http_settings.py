"""Settings that HTTP servers have in common: origins of web pages, secrets, and JWTs of an issuer."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import BeforeValidator

from swf_temporal.errors import UsageError

LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
"""The hosts that only this machine reaches."""
_SHORTEST_SECRET: Final = 16
"""The least length of a secret, in characters."""


@dataclass(frozen=True, slots=True)
class JwtSettings:
    """The JWTs that count."""

    jwks: str
    """The URL of the keys by which they are verified."""
    issuer: str | None = None
    audience: str | None = None


def as_origin(value: object) -> str:
    """Read the origin of web pages."""
    parts = urlsplit(str(value).strip())
    if parts.scheme not in {"http", "https"} or not parts.netloc or parts.path.strip("/") or parts.query:
        raise ValueError("it must be an origin without a path, such as https://temporal.example.com")
    return f"{parts.scheme}://{parts.netloc}".lower()


def as_jwks(value: object) -> str:
    """Read where the keys of an issuer are."""
    parts = urlsplit(str(value).strip())
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
        raise ValueError("it must be an https URL")
    return str(value).strip()


def as_secret_source(value: object) -> str:
    """Read where a secret is."""
    text = str(value).strip()
    kind, _, name = text.partition(":")
    if kind not in {"env", "file"} or not name:
        raise ValueError("it must be env:VARIABLE or file:PATH")
    return text


Origin = Annotated[str, BeforeValidator(as_origin)]
Jwks = Annotated[str | None, BeforeValidator(lambda value: value and as_jwks(value))]
SecretSource = Annotated[str, BeforeValidator(as_secret_source)]


def origin_of_option(text: str) -> str:
    """Return the origin that the option `--origin` names. Raises UsageError."""
    try:
        return as_origin(text)
    except ValueError as error:
        raise UsageError(f"--origin is {text!r}", str(error)) from None


def secret_of(source: str, env: Mapping[str, str], config: Path | None, place: str) -> str:
    """Return the secret at *source*, which the configuration *config* names at *place*. Raises UsageError.

    Files are looked for beside the configuration.
    """
    kind, _, name = source.partition(":")
    try:
        secret = env.get(name, "") if kind == "env" else ((config or Path()).parent / name).read_text(encoding="ascii")
    except (OSError, ValueError) as error:
        raise UsageError(f"{place}: the file {name} cannot be read: {error}") from None
    secret = secret.strip()
    if len(secret) < _SHORTEST_SECRET:
        hint = f"it must have at least {_SHORTEST_SECRET} characters, such as `openssl rand -hex 32` prints"
        raise UsageError(f"{place}: what {source} holds is not a token", hint)
    return secret


def jwt_settings(jwks: str | None, issuer: str | None, audience: str | None, section: str) -> JwtSettings | None:
    """Return the JWTs that the *section* of the configuration lets count, if any. Raises UsageError."""
    if jwks is None:
        return None
    if audience is None and issuer is None:
        hint = "otherwise tokens for other programs would be accepted"
        raise UsageError(f"{section} › jwks needs an issuer or an audience", hint)
    return JwtSettings(jwks, issuer, audience)
