"""The settings of HTTP servers: of the codec server, and of the gateway with its tenants."""

import re
import ssl
from collections.abc import Mapping, Sequence
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated, ClassVar, Final, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)

from swf_temporal.base.errors import UsageError
from swf_temporal.base.files import why_unreadable
from swf_temporal.base.headers import CREDENTIALS, may_be_passed_on
from swf_temporal.settings.configuration import Section, argument, reading
from swf_temporal.settings.events import EventSettings
from swf_temporal.settings.forms import (
    HEADER_NAME,
    RATE,
    Count,
    Duration,
    Names,
    OwnAddress,
    Rate,
    Size,
    Url,
    is_like,
    is_url,
)
from swf_temporal.settings.values import MAX_HOPS, OPTION, Address, Option
from swf_temporal.settings.worker import WorkerSettings
from swf_temporal.text.model_errors import validation_error

LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
"""The hosts that only this machine reaches."""
_MIN_SECRET: Final = 16
"""The minimum length of a secret, in characters."""
_SOURCE: Final = re.compile(r"(env|file):.+")
_MIB: Final = 1024 * 1024


def _origin(value: object) -> str:
    parts = urlsplit(str(value).strip())
    if parts.scheme not in {"http", "https"} or not parts.netloc or parts.path.strip("/") or parts.query:
        raise ValueError("it must be an origin without a path, such as https://temporal.example.com")
    return f"{parts.scheme}://{parts.netloc}".lower()


def _jwks(value: object) -> str:
    text = str(value).strip()
    if not is_url(text, {"https"}) and not (is_url(text, {"http"}) and urlsplit(text).hostname in LOOPBACK):
        raise ValueError("it must be an https URL")
    return text


class ApiKey(str):
    """A secret that clients send, with the name of the variable or file that holds it."""

    __slots__ = ("name",)
    name: str


def name_of_key(key: str) -> str:
    """Return the name of the variable or file that holds *key*; empty if a program has given it."""
    return key.name if isinstance(key, ApiKey) else ""


def _api_key(value: object, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> str:
    if isinstance(value, ApiKey) or reading(info) is None:
        return value if isinstance(value, ApiKey) else str(handler(value))
    key = ApiKey(_token(handler(value), info))
    key.name = Path(str(value).strip().partition(":")[2]).name
    return key


def _token(value: object, info: ValidationInfo) -> str:
    read_with, source = reading(info), str(value).strip()
    if read_with is None:
        return source
    if not _SOURCE.fullmatch(source):
        raise ValueError("it must be env:VARIABLE or file:PATH")
    secret = read_with.held(source).strip()
    if len(secret) < _MIN_SECRET:
        hint = f"it must have at least {_MIN_SECRET} characters, such as `openssl rand -hex 32` prints"
        raise validation_error(f"the value of {source} is not a token", hint=hint)
    return secret


_Token = Annotated[str, BeforeValidator(_token)]
"""A secret that clients send: the configuration names the variable or file that holds it."""


def tls_files(certificate: Path | None, key: Path | None) -> dict[str, Path]:
    """Return uvicorn's options for a server with TLS; empty without files. Raises UsageError."""
    if certificate is None:
        if key is not None:
            raise UsageError("--tls-key needs a certificate", "name it with --tls-cert")
        return {}
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password=_no_password)
    except (OSError, ValueError) as error:
        files = certificate if key is None else f"{certificate} and {key}"
        hint = "they are PEM files; the key is without a password, and in the file of the certificate or in --tls-key"
        raise UsageError(f"TLS cannot be served with {files}: {why_unreadable(error)}", hint) from None
    return {"ssl_certfile": certificate} | ({} if key is None else {"ssl_keyfile": key})


def _no_password() -> str:
    raise ValueError("the key has a password")


class HttpServerSettings(Section):
    """The address of a server, and the clients that it answers."""

    address: Address = argument(Address(LOOPBACK[0], 0))
    origins: tuple[Annotated[str, BeforeValidator(_origin)], ...] = ()
    """The origins of web pages that may send requests, besides its own."""
    jwks: Annotated[str, BeforeValidator(_jwks)] | None = None
    """The URL of the keys by which JWTs are verified; without it, JWTs are not accepted."""
    issuer: str | None = None
    audience: str | None = None
    unauthenticated: bool = False
    """Whether all requests are answered, also those from other machines: a proxy authenticates them."""

    @property
    def is_open(self) -> bool:
        return self.jwks is None

    @property
    def is_open_to_others(self) -> bool:
        """Whether all requests from other machines are answered, although the operator has not set that."""
        return self.is_open and not self.unauthenticated and self.address.host not in LOOPBACK

    @model_validator(mode="after")
    def _is_verified(self) -> Self:
        if self.jwks is not None and self.audience is None and self.issuer is None:
            hint = "otherwise tokens for other programs would be accepted"
            raise validation_error("it needs an issuer or an audience", "jwks", hint=hint)
        return self


class CodecServerSettings(HttpServerSettings):
    section: ClassVar[str] = "codecServer"

    token: _Token | None = Field(None, repr=False)
    """A secret that clients send as bearer token."""
    namespaces: tuple[str, ...] = ()
    """The namespaces that are served; all if the list is empty."""
    max_bytes: Size = 16 * _MIB
    """The maximum size of the body of a request."""

    @property
    def is_open(self) -> bool:
        """Whether requests need no token."""
        return self.token is None and self.jwks is None


class Operation(StrEnum):
    EVENTS = "events"
    """Send events."""
    START = "start"
    """Start instances."""
    READ = "read"
    """Read definitions, and the progress and results of instances."""
    TASKS = "tasks"
    """Read the tasks that instances wait for, and complete them."""
    CHANGE = "change"
    """Change the data of instances."""
    END = "end"
    """Pause, resume, cancel and terminate instances."""
    RERUN = "rerun"
    """Let instances run again from a state that they have passed."""


class Tenant(Section):
    """A group of clients, and the workflows and limits that they have."""

    name: str = argument("-")
    keys: tuple[Annotated[str, WrapValidator(_api_key)], ...] = Field((), repr=False)
    """Its API keys."""
    claims: Mapping[str, str] = Field(default_factory=dict)
    """The claims by which a JWT belongs to it."""
    workflows: tuple[str, ...]
    """The ids of its definitions; `*` stands for any characters."""
    sources: tuple[str, ...] = ("*",)
    """The sources of events that it may send, likewise."""
    operations: frozenset[Operation] = frozenset(Operation)
    namespace: str | None = None
    """The namespace of Temporal where its instances are, if not that of the gateway."""
    task_queue: str | None = None
    """The task queue of its instances, if not that of the gateway."""
    rate: Annotated[Rate, RATE] | None = None
    """The maximum rate of its requests; each further event of a batch counts as one."""
    max_live_pages: Count = 50
    """The maximum number of live pages of instances that it may have open."""

    def has_workflow(self, definition_id: str) -> bool:
        return is_like(definition_id, self.workflows)

    def may_send_from(self, source: str) -> bool:
        return is_like(source, self.sources)


EVERYONE: Final = Tenant(workflows=("*",), max_live_pages=1_000_000)
"""The tenant of all requests to a gateway without tenants; only the limits of the gateway apply."""


def _no_secrets(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if not HEADER_NAME.fullmatch(name) or "*" in name:
            raise ValueError(f"{name!r} cannot be the name of a header")
        if name.lower() in CREDENTIALS:
            raise ValueError(f"{name} is a secret, and would be stored in the history of each instance")
        if not may_be_passed_on(name):
            raise ValueError(f"{name} is about one request, and is never passed on to calls")
    return names


def _with_their_names(tenants: Mapping[str, Tenant]) -> dict[str, Tenant]:
    return {name: tenant.replace(name=name) for name, tenant in tenants.items()}


class GatewaySettings(HttpServerSettings):
    """The settings of the gateway: its clients and its limits."""

    section: ClassVar[str] = "gateway"

    tenants: Annotated[Mapping[str, Tenant], AfterValidator(_with_their_names)] = Field(default_factory=dict)
    task_queue: Annotated[str | None, Option(metavar="NAME")] = None
    """The task queue of the workers; by default that of the section `worker`. A tenant may have another."""
    console: Annotated[bool, OPTION] = False
    """Serve pages for people at /console."""
    console_read_only: bool = False
    """Whether the console is read-only."""
    temporal_ui: Url | None = None
    """The address of the Temporal UI, to which pages of instances link; known of a development server beside it."""
    max_live_pages: Count = 200
    """The maximum number of live pages of instances that all clients together may have open."""
    sonataflow_api: Annotated[bool, OPTION] = False
    """Answer the paths of SonataFlow's instances, such as POST /ID, too."""
    kept_headers: Annotated[Names, AfterValidator(_no_secrets), Option(metavar="NAMES")] = ()
    """Headers of requests that instances keep; a list with commas. In the configuration file, it may be an array."""
    metrics: Annotated[OwnAddress | None, Option("--metrics", metavar="[HOST:]PORT")] = None
    """Serve /metrics for Prometheus over HTTP at this address, by default at that of the gateway. With None, it is
    not served."""
    rate: Annotated[Rate, RATE] | None = None
    """The maximum rate of requests of all clients together."""
    max_bytes: Size = _MIB
    """The maximum size of the body of a request, except for batches."""
    max_batch_bytes: Size = 8 * _MIB
    """The maximum size of a batch of events; at least that of other bodies applies."""
    max_batch: Count = 1000
    """The maximum number of events in a batch."""
    max_wait: Duration = timedelta(seconds=60)
    """The maximum time that a request may wait for a result."""
    max_hops: int = argument(MAX_HOPS)
    """The maximum length of a chain of instances in which each is started by an event of the one before."""

    @property
    def is_open(self) -> bool:
        return not self.tenants

    @model_validator(mode="after")
    def _can_assign(self) -> Self:
        """Refuse tenants without keys or claims, keys of several tenants, and claims or JWKS without the other."""
        claiming = [name for name, tenant in self.tenants.items() if tenant.claims]
        for name, tenant in self.tenants.items():
            if not tenant.keys and not tenant.claims:
                hint = "requests are assigned to tenants by keys or claims"
                raise validation_error("it has neither keys nor claims", "tenants", name, hint=hint)
        keys = [key for tenant in self.tenants.values() for key in tenant.keys]
        if len(keys) != len(set(keys)):
            hint = "requests are assigned to tenants by their keys"
            raise validation_error("two tenants have the same key", "tenants", hint=hint)
        if claiming and self.jwks is None:
            hint = "set gateway › jwks"
            raise validation_error("they need JWTs that are verified", "tenants", claiming[0], "claims", hint=hint)
        if self.jwks is not None and not claiming:
            raise validation_error("no tenant has claims", "jwks", hint="JWTs are assigned to tenants by their claims")
        return self


def read_codec_server_settings(
    env: Mapping[str, str], address: Address, origins: Sequence[str] = (), *, file: Path | None = None
) -> CodecServerSettings:
    """Return the settings of the codec server at *address*; *origins* are further ones.

    Raises UsageError for invalid settings, and for a server that other machines reach and that requires no token.
    """
    settings = CodecServerSettings.read(env, file=file, arguments={"address": address})
    if settings.is_open_to_others:
        hint = "set codecServer › token or jwks, or unauthenticated: true behind a proxy that authenticates"
        raise UsageError(f"the codec server at {address} would decrypt for everyone who reaches it", hint)
    return settings.replace(origins=_with_options(settings, origins))


def read_gateway_settings(
    env: Mapping[str, str],
    address: Address,
    origins: Sequence[str] = (),
    *,
    file: Path | None = None,
    **options: object,
) -> GatewaySettings:
    """Return the settings of the gateway at *address*; *origins* are further ones.

    *options* override the configuration. Raises UsageError for invalid settings, and for a gateway that other machines
    reach and that requires no key.
    """
    events = EventSettings.read(env, file=file, with_secrets=False)
    arguments = {"address": address, "max_hops": events.max_hops, **options}
    settings = GatewaySettings.read(env, file=file, arguments=arguments)
    if settings.is_open_to_others:
        hint = "set gateway › tenants, or unauthenticated: true behind a proxy that authenticates"
        raise UsageError(f"the gateway at {address} would start workflows for everyone who reaches it", hint)
    if settings.task_queue is None:
        settings = settings.replace(task_queue=WorkerSettings.read(env, file=file, with_secrets=False).task_queue)
    return settings.replace(origins=_with_options(settings, origins))


def _with_options(settings: HttpServerSettings, origins: Sequence[str]) -> tuple[str, ...]:
    """Return the origins of *settings*, and those that the option `--origin` names. Raises UsageError."""
    found = list(settings.origins)
    for text in origins:
        try:
            found.append(_origin(text))
        except ValueError as error:
            raise UsageError(f"--origin is {text!r}", str(error)) from None
    return tuple(dict.fromkeys(found))
