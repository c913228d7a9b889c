"""Settings of the gateway, from the section `gateway` of the configuration file and from options."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field

from swf_temporal.app.event_settings import read_max_hops
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
from swf_temporal.functions.operator.options import Rate
from swf_temporal.functions.operator.parsers import as_count, as_rate, as_size, as_switch, as_timeout
from swf_temporal.routing.chains import MAX_HOPS

_MIB: Final = 1024 * 1024


class Operation(StrEnum):
    """An operation that a tenant may be allowed."""

    EVENTS = "events"
    """Send events."""
    START = "start"
    """Start instances."""
    READ = "read"
    """Read definitions, and where instances are and what came of them."""
    TASKS = "tasks"
    """Read what instances wait for, and give it to them."""
    END = "end"
    """Cancel and terminate instances."""


@dataclass(frozen=True, slots=True)
class Tenant:
    """A group of clients, and what is theirs."""

    name: str
    workflows: tuple[str, ...] = ("*",)
    """The ids of its definitions; `*` stands for any characters."""
    sources: tuple[str, ...] = ("*",)
    """The sources of events that it may send, likewise."""
    operations: frozenset[Operation] = frozenset(Operation)
    keys: tuple[str, ...] = field(default=(), repr=False)
    """Its API keys."""
    claims: Mapping[str, str] = field(default_factory=dict)
    """What a JWT of it claims."""
    namespace: str | None = None
    """The namespace of Temporal where its instances are, if not that of the gateway."""
    task_queue: str | None = None
    """The task queue of its instances, if not that of the gateway."""
    rate: Rate | None = None
    """How many requests it may make, where each further event of a batch counts as one."""

    def has_workflow(self, definition_id: str) -> bool:
        """Tell whether the definition of that id is one of its own."""
        return any(fnmatchcase(definition_id, one) for one in self.workflows)

    def may_send_from(self, source: str) -> bool:
        """Tell whether it may send events of that source."""
        return any(fnmatchcase(source, one) for one in self.sources)


EVERYONE: Final = Tenant("-")
"""Who asks a gateway that has no tenants."""


@dataclass(frozen=True, slots=True)
class GatewaySettings:
    """The address of the gateway, its clients and its limits."""

    address: Address
    tenants: tuple[Tenant, ...] = ()
    jwts: JwtSettings | None = None
    origins: tuple[str, ...] = ()
    """The origins of web pages that may ask, besides its own."""
    task_queue: str | None = None
    """The task queue of instances; without one, that of the command."""
    rate: Rate | None = None
    """How many requests all clients together may make."""
    max_bytes: int = _MIB
    """The largest body of a request, but for batches."""
    max_batch_bytes: int = 8 * _MIB
    """The largest batch of events."""
    max_batch: int = 1000
    """How many events a batch may have."""
    max_wait: float = 60.0
    """Seconds that a request may wait for a result."""
    max_hops: int = MAX_HOPS
    """How many instances a chain may have in which each is started by an event of the one before."""

    @property
    def is_open(self) -> bool:
        """Whether everyone may do everything."""
        return not self.tenants


class _Tenant(Section):
    keys: list[SecretSource] = Field(default_factory=list)
    claims: dict[str, str] = Field(default_factory=dict)
    workflows: list[str]
    sources: list[str] = Field(default_factory=lambda: ["*"])
    operations: list[Operation] = Field(default_factory=lambda: list(Operation))
    namespace: str | None = None
    task_queue: str | None = None
    rate: Annotated[Rate | None, BeforeValidator(as_rate)] = None


class _Gateway(Section):
    tenants: dict[str, _Tenant] = Field(default_factory=dict)
    jwks: Jwks = None
    issuer: str | None = None
    audience: str | None = None
    origins: list[Origin] = Field(default_factory=list)
    task_queue: str | None = None
    rate: Annotated[Rate | None, BeforeValidator(as_rate)] = None
    max_bytes: Annotated[int, BeforeValidator(as_size)] = _MIB
    max_batch_bytes: Annotated[int, BeforeValidator(as_size)] = 8 * _MIB
    max_batch: Annotated[int, BeforeValidator(as_count)] = 1000
    max_wait: Annotated[float, BeforeValidator(lambda value: as_timeout(value).total_seconds())] = 60.0
    unauthenticated: Annotated[bool, BeforeValidator(as_switch)] = False


def read_gateway_settings(
    env: Mapping[str, str], address: Address, origins: Sequence[str] = (), *, file: Path | None = None
) -> GatewaySettings:
    """Return what the configuration says of the gateway at *address*; *origins* are further ones.

    Raises UsageError for what cannot be read, and for a gateway that others reach and that asks for no key.
    """
    path = configuration_file(env, file)
    content: Any = {} if path is None else content_of(path)
    section = content.get("gateway") if isinstance(content, dict) else None
    configured = _Gateway() if path is None or section is None else validated(_Gateway, section, path, ("gateway",))
    settings = GatewaySettings(
        address,
        tenants=tuple(_tenant(name, one, env, path) for name, one in configured.tenants.items()),
        jwts=jwt_settings(configured.jwks, configured.issuer, configured.audience, "gateway"),
        origins=tuple(dict.fromkeys([*configured.origins, *(origin_of_option(one) for one in origins)])),
        task_queue=configured.task_queue,
        rate=configured.rate,
        max_bytes=configured.max_bytes,
        max_batch_bytes=max(configured.max_batch_bytes, configured.max_bytes),
        max_batch=configured.max_batch,
        max_wait=configured.max_wait,
        max_hops=read_max_hops(env, file=file),
    )
    _refuse_contradictions(settings)
    if settings.is_open and not configured.unauthenticated and address.host not in LOOPBACK:
        raise UsageError(
            f"the gateway at {address} would start workflows for everyone who reaches it",
            "set gateway › tenants, or unauthenticated: true behind a proxy that authenticates",
        )
    return settings


def _tenant(name: str, tenant: _Tenant, env: Mapping[str, str], path: Path | None) -> Tenant:
    place = f"gateway › tenants › {name}"
    if not tenant.keys and not tenant.claims:
        raise UsageError(f"{place} has neither keys nor claims", "requests are assigned to tenants by keys or claims")
    return Tenant(
        name,
        workflows=tuple(tenant.workflows),
        sources=tuple(tenant.sources),
        operations=frozenset(tenant.operations),
        keys=tuple(secret_of(one, env, path, f"{place} › keys") for one in tenant.keys),
        claims=tenant.claims,
        namespace=tenant.namespace,
        task_queue=tenant.task_queue,
        rate=tenant.rate,
    )


def _refuse_contradictions(settings: GatewaySettings) -> None:
    """Raise UsageError for keys of two tenants, and for claims of tokens that are not verified, or of no tenant."""
    keys = [key for tenant in settings.tenants for key in tenant.keys]
    if len(keys) != len(set(keys)):
        raise UsageError(
            "gateway › tenants: two tenants have the same key", "requests are assigned to tenants by their keys"
        )
    claiming = next((tenant.name for tenant in settings.tenants if tenant.claims), None)
    if claiming is not None and settings.jwts is None:
        raise UsageError(f"gateway › tenants › {claiming} › claims need JWTs that are verified", "set gateway › jwks")
    if settings.jwts is not None and claiming is None:
        raise UsageError("gateway › jwks: no tenant has claims", "JWTs are assigned to tenants by their claims")
