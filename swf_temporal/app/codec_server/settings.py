"""Settings of the codec server, from the section `codecServer` of the configuration file and from options."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field

from swf_temporal.app.settings import Address
from swf_temporal.errors import UsageError
from swf_temporal.functions.operator.configuration import Section, configuration_file, content_of, validated
from swf_temporal.functions.operator.parsers import as_switch

_LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
_SHORTEST_TOKEN: Final = 16
"""The least length of a token, in characters."""


def _as_origin(value: object) -> str:
    parts = urlsplit(str(value).strip())
    if parts.scheme not in {"http", "https"} or not parts.netloc or parts.path.strip("/") or parts.query:
        raise ValueError("it must be an origin without a path, such as https://temporal.example.com")
    return f"{parts.scheme}://{parts.netloc}".lower()


def _as_jwks(value: object) -> str:
    parts = urlsplit(str(value).strip())
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        raise ValueError("it must be an https URL")
    return str(value).strip()


def _as_source(value: object) -> str:
    text = str(value).strip()
    kind, _, name = text.partition(":")
    if kind not in {"env", "file"} or not name:
        raise ValueError("it must be env:VARIABLE or file:PATH")
    return text


_Origin = Annotated[str, BeforeValidator(_as_origin)]


class _CodecServer(Section):
    origins: list[_Origin] = Field(default_factory=list)
    token: Annotated[str | None, BeforeValidator(lambda value: value and _as_source(value))] = None
    jwks: Annotated[str | None, BeforeValidator(lambda value: value and _as_jwks(value))] = None
    issuer: str | None = None
    audience: str | None = None
    namespaces: list[str] = Field(default_factory=list)
    unauthenticated: Annotated[bool, BeforeValidator(as_switch)] = False


@dataclass(frozen=True, slots=True)
class CodecServerSettings:
    """Where the codec server listens, and whom it answers."""

    address: Address
    origins: tuple[str, ...] = ()
    """The origins of web pages that may ask, such as that of the UI."""
    token: str | None = field(default=None, repr=False)
    """A secret that clients send as bearer token."""
    jwks: str | None = None
    """The URL of the keys by which bearer tokens are verified that are JWTs."""
    issuer: str | None = None
    audience: str | None = None
    namespaces: tuple[str, ...] = ()
    """The namespaces that are served; all if there is none."""

    @property
    def is_open(self) -> bool:
        """Whether requests need no token."""
        return self.token is None and self.jwks is None


def read_codec_server_settings(
    env: Mapping[str, str], address: Address, origins: Sequence[str] = (), *, file: Path | None = None
) -> CodecServerSettings:
    """Return what the configuration says of the codec server at *address*; *origins* are further ones.

    Raises UsageError for what cannot be read, and for a server that others reach and that asks nobody for a token.
    """
    path = configuration_file(env, file)
    content: Any = {} if path is None else content_of(path)
    section = content.get("codecServer") if isinstance(content, dict) else None
    said = (
        _CodecServer() if path is None or section is None else validated(_CodecServer, section, path, ("codecServer",))
    )
    settings = CodecServerSettings(
        address,
        tuple(dict.fromkeys([*said.origins, *(_origin(one) for one in origins)])),
        None if said.token is None else _token(said.token, env, path),
        said.jwks,
        said.issuer,
        said.audience,
        tuple(said.namespaces),
    )
    if settings.jwks is not None and settings.audience is None and settings.issuer is None:
        hint = "otherwise tokens for other programs would count"
        raise UsageError("codecServer › jwks needs an issuer or an audience", hint)
    if settings.is_open and not said.unauthenticated and address.host not in _LOOPBACK:
        raise UsageError(
            f"the codec server at {address} would decrypt for everyone who reaches it",
            "set codecServer › token or jwks, or unauthenticated: true behind a proxy that authenticates",
        )
    return settings


def _origin(text: str) -> str:
    try:
        return _as_origin(text)
    except ValueError as error:
        raise UsageError(f"--origin is {text!r}", str(error)) from None


def _token(source: str, env: Mapping[str, str], path: Path | None) -> str:
    kind, _, name = source.partition(":")
    try:
        token = env.get(name, "") if kind == "env" else ((path or Path()).parent / name).read_text(encoding="ascii")
    except (OSError, ValueError) as error:
        raise UsageError(f"codecServer › token: the file {name} cannot be read: {error}") from None
    token = token.strip()
    if len(token) < _SHORTEST_TOKEN:
        hint = f"it must have at least {_SHORTEST_TOKEN} characters, such as `openssl rand -hex 32` prints"
        raise UsageError(f"codecServer › token: what {source} holds is no token", hint)
    return token
