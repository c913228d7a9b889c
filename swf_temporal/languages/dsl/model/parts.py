"""The parts of a definition that tasks and the workflow share."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field

from swf_temporal.languages.dsl.model.node import Duration, Expression, Node, Number, Template, Text, TextOr


class Credentials(Node):
    """The properties of one scheme of authentication; with `use`, those in a secret."""

    use: Text | None = None


class Login(Credentials):
    """The scheme `basic` or `digest`."""

    username: Text | None = None
    password: Text | None = None


class Bearer(Credentials):
    """The scheme `bearer`."""

    token: Text | None = None


class OAuth2Client(Node):
    """The client that asks for a token, and how it proves its identity."""

    id: Text | None = None
    secret: Text | None = None
    assertion: Text | None = None
    authentication: (
        Literal["client_secret_basic", "client_secret_post", "client_secret_jwt", "private_key_jwt", "none"] | None
    ) = None


class OAuth2Request(Node):
    """The encoding of a token request."""

    encoding: Literal["application/x-www-form-urlencoded", "application/json"] | None = None


class OAuth2Endpoints(Node):
    """The paths of the authority's endpoints."""

    token: Text | None = None
    revocation: Text | None = None
    introspection: Text | None = None


class OAuth2Token(Node):
    """A token that is exchanged for another."""

    token: Text
    type: Text


class OAuth2(Credentials):
    """The scheme `oauth2` or `oidc`."""

    authority: Text | None = None
    endpoints: OAuth2Endpoints | None = None
    grant: (
        Literal[
            "authorization_code",
            "client_credentials",
            "password",
            "refresh_token",
            "urn:ietf:params:oauth:grant-type:token-exchange",
        ]
        | None
    ) = None
    client: OAuth2Client | None = None
    request: OAuth2Request | None = None
    issuers: tuple[Text, ...] = ()
    scopes: tuple[Text, ...] = ()
    audiences: tuple[Text, ...] = ()
    username: Text | None = None
    password: Text | None = None
    subject: OAuth2Token | None = None
    actor: OAuth2Token | None = None


def _bearer(value: object) -> object:
    return {"token": value} if isinstance(value, str) else value


class Authentication(Node):
    """An authentication policy: the properties of one scheme, or the name of a policy in `use.authentications`."""

    use: Text | None = None
    basic: Login | None = None
    bearer: Annotated[Bearer | None, BeforeValidator(_bearer)] = None
    digest: Login | None = None
    oauth2: OAuth2 | None = None
    oidc: OAuth2 | None = None
    certificate: Template = None


SCHEMES = ("basic", "bearer", "digest", "oauth2", "oidc", "certificate")


class EndpointConfiguration(Node):
    """A URI with its authentication policy."""

    uri: Text
    authentication: Authentication | None = None


Endpoint: TypeAlias = TextOr[EndpointConfiguration]


class ExternalResource(Node):
    """A document outside the definition."""

    name: Text | None = None
    endpoint: Endpoint


class DataSchema(Node):
    """The JSON Schema of data."""

    format: Text = "json"
    document: Template = None
    resource: ExternalResource | None = None


class Input(Node):
    """The input of the workflow or a task: its schema, and what is taken of it."""

    schema_: DataSchema | None = Field(default=None, alias="schema")
    from_: Template = Field(default=None, alias="from")


class Output(Node):
    """The output of the workflow or a task: what is made of it, and the schema of that."""

    schema_: DataSchema | None = Field(default=None, alias="schema")
    as_: Template = Field(default=None, alias="as")


class Export(Node):
    """The context after a task, and its schema."""

    schema_: DataSchema | None = Field(default=None, alias="schema")
    as_: Template = Field(default=None, alias="as")


class Timeout(Node):
    """A timeout of the workflow or a task."""

    after: Duration


class ErrorDefinition(Node):
    """An error to raise: problem details by RFC 7807."""

    type: Text
    status: Number
    instance: Text | None = None
    title: Text | None = None
    detail: Text | None = None


class ErrorFilter(Node):
    """The properties of the errors that are caught."""

    type: Text | None = None
    status: Number | None = None
    instance: Text | None = None
    title: Text | None = None
    detail: Text | None = None
    details: Text | None = None
    """The name of `detail` in the schema of early releases."""


class Backoff(Node):
    """How the delay between attempts grows: not at all, by itself each time, or to the double each time."""

    constant: Template = None
    linear: Template = None
    exponential: Template = None


class AttemptLimit(Node):
    """The limits of attempts: their number, and the duration of each."""

    count: Number | None = None
    duration: Duration | None = None


class RetryLimit(Node):
    """The limits of all retries."""

    attempt: AttemptLimit | None = None
    duration: Duration | None = None


class Jitter(Node):
    """The range of what is added to a delay at random."""

    from_: Duration = Field(alias="from")
    to: Duration


class RetryPolicy(Node):
    """When a failed `try` is run again, and after how long."""

    when: Expression | None = None
    except_when: Expression | None = Field(default=None, alias="exceptWhen")
    delay: Duration | None = None
    backoff: Backoff | None = None
    limit: RetryLimit | None = None
    jitter: Jitter | None = None


class Correlation(Node):
    """A value by which the events of an instance are recognised."""

    from_: Expression = Field(alias="from")
    expect: Any = None


class EventFilter(Node):
    """A description of events: the attributes that they have, and the values that correlate them."""

    with_: Template = Field(alias="with")
    correlate: Mapping[str, Correlation] = Field(default_factory=dict)


class EventStrategy(Node):
    """The events that are consumed: one of a kind, any of several kinds, or one of each."""

    one: EventFilter | None = None
    any: tuple[EventFilter, ...] | None = None
    all: tuple[EventFilter, ...] | None = None
    until: "Annotated[Any, BeforeValidator(_until)]" = None
    """With `any`, what ends the wait: a condition, or events."""


def _until(value: object) -> object:
    return EventStrategy.model_validate(value) if isinstance(value, dict) else value


class Catalog(Node):
    """A catalog of functions, by its root URL."""

    endpoint: Endpoint


class ContainerLifetime(Node):
    """When a container is removed."""

    cleanup: Literal["always", "never", "eventually"]
    after: Duration | None = None
