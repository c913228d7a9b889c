"""Settings of the codec server, from the section `codecServer` of the configuration file and from options."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from swf_temporal.app.http_settings import (
    LOOPBACK,
    Jwks,
    JwtSettings,
    Origin,
    SecretSource,
    jwt_settings,
    origin_of_option,
    secret_of,
)
from swf_temporal.app.settings import Address
from swf_temporal.errors import UsageError
from swf_temporal.functions.operator.configuration import Section, configuration_file, content_of, validated
from swf_temporal.functions.operator.parsers import as_switch


class _CodecServer(Section):
    origins: list[Origin] = Field(default_factory=list)
    token: SecretSource | None = None
    jwks: Jwks = None
    issuer: str | None = None
    audience: str | None = None
    namespaces: list[str] = Field(default_factory=list)
    unauthenticated: Annotated[bool, BeforeValidator(as_switch)] = False


@dataclass(frozen=True, slots=True)
class CodecServerSettings:
    """The address of the codec server, and the clients that it answers."""

    address: Address
    origins: tuple[str, ...] = ()
    """The origins of web pages that may ask, such as that of the UI."""
    token: str | None = field(default=None, repr=False)
    """A secret that clients send as bearer token."""
    jwts: JwtSettings | None = None
    """The bearer tokens that count if they are JWTs."""
    namespaces: tuple[str, ...] = ()
    """The namespaces that are served; all if there is none."""

    @property
    def is_open(self) -> bool:
        """Whether requests need no token."""
        return self.token is None and self.jwts is None


def read_codec_server_settings(
    env: Mapping[str, str], address: Address, origins: Sequence[str] = (), *, file: Path | None = None
) -> CodecServerSettings:
    """Return what the configuration says of the codec server at *address*; *origins* are further ones.

    Raises UsageError for what cannot be read, and for a server that others reach and that asks for no token.
    """
    path = configuration_file(env, file)
    content: Any = {} if path is None else content_of(path)
    section = content.get("codecServer") if isinstance(content, dict) else None
    configured = (
        _CodecServer() if path is None or section is None else validated(_CodecServer, section, path, ("codecServer",))
    )
    settings = CodecServerSettings(
        address,
        tuple(dict.fromkeys([*configured.origins, *(origin_of_option(one) for one in origins)])),
        None if configured.token is None else secret_of(configured.token, env, path, "codecServer › token"),
        jwt_settings(configured.jwks, configured.issuer, configured.audience, "codecServer"),
        tuple(configured.namespaces),
    )
    if settings.is_open and not configured.unauthenticated and address.host not in LOOPBACK:
        raise UsageError(
            f"the codec server at {address} would decrypt for everyone who reaches it",
            "set codecServer › token or jwks, or unauthenticated: true behind a proxy that authenticates",
        )
    return settings
