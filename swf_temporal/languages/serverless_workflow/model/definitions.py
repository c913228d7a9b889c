"""Definitions that a workflow refers to by name: functions, events, errors, retries, authentication."""

from typing import Literal

from pydantic import Field

from swf_temporal.languages.serverless_workflow.model.node import Node, Template, Text


class AuthRef(Node):
    """The authentication of a function: for fetching its document and for calling it."""

    resource: str | None = None
    invocation: str | None = None


class Function(Node):
    """A function that a workflow can call (section "Function Definition")."""

    name: Text
    type: str = "rest"
    """rest, asyncapi, rpc, graphql, odata, expression or custom; any other word is a custom type."""
    operation: Template = None
    """The operation that is called, in the form that the type requires; a text except for plain HTTP."""
    auth_ref: AuthRef | None = None
    metadata: dict[str, Template] = Field(default_factory=dict)


class Correlation(Node):
    """A context attribute by which an event is recognised as belonging to this instance."""

    context_attribute_name: Text
    context_attribute_value: Template = None
    path: str | None = Field(default=None, alias="@path")
    """The path of the value in the event, in the draft of November 2019; the attribute is only the value's name."""


class Event(Node):
    """An event that a workflow consumes or produces (section "Event Definition")."""

    name: Text
    source: str | None = None
    type: Text | None = None
    kind: Literal["consumed", "produced"] = "consumed"
    correlation: tuple[Correlation, ...] = ()
    data_only: bool = True
    metadata: dict[str, Template] = Field(default_factory=dict)


class Error(Node):
    """An error that a workflow knows by name (section "Error Definition")."""

    name: Text
    code: Text | None = None
    description: str | None = None


class Retry(Node):
    """A retry definition: how often and when an action is retried (section "Retry Definition")."""

    name: Text
    delay: str | None = None
    max_attempts: int | str | None = None
    """Includes the first attempt. 0 and 1 both mean no retries; none means no limit."""
    counts_retries: bool = Field(default=False, alias="@countsRetries")
    """Whether `maxAttempts` excludes the first attempt, as before 0.7."""
    max_delay: str | None = None
    increment: str | None = None
    multiplier: float | str | None = None
    jitter: float | str | None = None
    """A fraction of the delay, or a duration."""


class Auth(Node):
    """Credentials that functions refer to (section "Auth Definition")."""

    name: Text
    scheme: str = "basic"
    properties: Template = None
    """The name of a secret, or an object whose fields depend on the scheme."""


class Cron(Node):
    """A calendar rule and its expiry (section "Cron Definition")."""

    expression: str
    valid_until: str | None = None


class Schedule(Node):
    """A schedule by which instances are created (section "Schedule Definition")."""

    interval: str | None = None
    cron: Cron | None = None
    timezone: str | None = None


class Start(Node):
    """The state to start in, and the schedule (section "Start Definition")."""

    state_name: str | None = None
    schedule: Schedule | None = None
    window: str | None = Field(default=None, alias="@window")
    """The interval in which runs may start, in the draft of May 2020."""
