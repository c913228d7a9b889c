"""Schedules: when a workflow starts by itself."""

from pydantic import Field

from swf_temporal.languages.serverless_workflow.model.node import Node


class Cron(Node):
    """A calendar rule, and until when it holds (section "Cron Definition")."""

    expression: str
    valid_until: str | None = None


class Schedule(Node):
    """A schedule by which instances are created (section "Schedule Definition")."""

    interval: str | None = None
    cron: Cron | None = None
    timezone: str | None = None


class Start(Node):
    """The state to start in, and when (section "Start Definition")."""

    state_name: str | None = None
    schedule: Schedule | None = None
    window: str | None = Field(default=None, alias="@window")
    """The interval in which runs may begin, in the draft of May 2020."""
