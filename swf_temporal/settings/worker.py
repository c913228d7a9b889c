"""The settings of a worker itself: task queue, concurrency, health and logs. Its calls have their own settings.

Imports little: command-line options are made of the settings. `sdk/worker.py` passes them to Temporal's SDK.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Annotated, ClassVar, Final, Literal

from pydantic import BeforeValidator, Field

from swf_temporal import __version__
from swf_temporal.runtime.budgets import (
    DEPTH,
    DESCENDANTS,
    EXECUTIONS,
    HELD_BYTES,
    MIN_DEPTH,
    MIN_DESCENDANTS,
    MIN_EXECUTIONS,
    MIN_HELD_BYTES,
    MIN_STATES,
    STATES,
    InstanceLimits,
)
from swf_temporal.settings.configuration import Section
from swf_temporal.settings.forms import (
    PAIRS,
    RATE,
    SPLIT,
    WORD,
    Count,
    Duration,
    ListenAddress,
    Name,
    OwnAddress,
    Port,
    Rate,
    Share,
    Size,
    Whole,
)
from swf_temporal.settings.values import OPTION, TASK_QUEUE, TEMPORAL, LogFormat, LogLevel, Option, as_store


class Versioning(StrEnum):
    """The behaviour of an instance when another version of its deployment becomes the current one."""

    PINNED = "pinned"
    """It stays with the version on which it began, until it ends or continues as new."""
    AUTO_UPGRADE = "auto-upgrade"
    """Its next step is carried out by the current version."""


@dataclass(frozen=True, slots=True)
class Deployment:
    """A version of a worker deployment: identical workers of one task queue, and the versioning of their instances."""

    name: str
    build_id: str
    versioning: Versioning = Versioning.AUTO_UPGRADE
    """The versioning of all definitions that are not in `versioning_of`."""
    versioning_of: Mapping[str, Versioning] = field(default_factory=dict)
    """The versioning of single definitions, by their ids."""

    def __str__(self) -> str:
        return f"version {self.build_id} of the deployment {self.name}"


_MIN_OF_TWO_QUEUES: Final = 2
"""The minimum number of workflow tasks and of pollers for them: there are two queues, one of them the worker's own."""


def _pollers(value: object) -> int | Literal["auto"]:
    text = str(value).strip().lower()
    if text == "auto":
        return "auto"
    number = int(text) if text.isdecimal() else 0
    if number < _MIN_OF_TWO_QUEUES:
        raise ValueError(f"it must be a number, at least {_MIN_OF_TWO_QUEUES}, or auto")
    return number


class WorkerSettings(Section):
    """The settings of a worker itself: task queue, concurrency, health and logs."""

    section: ClassVar[str] = "worker"
    prefix: ClassVar[str] = "SWF_"

    task_queue: Annotated[Name, Option(metavar="NAME")] = TASK_QUEUE
    """The task queue to serve."""
    known_definitions_only: Annotated[bool, OPTION] = False
    """Refuse instances whose definition is not served."""
    search_attributes: Annotated[bool, Option("--search-attributes/--no-search-attributes")] = False
    """Set search attributes on instances, by which they are found."""
    max_activities: Annotated[Count, OPTION] = 200
    """The maximum number of function calls in progress."""
    max_cached_workflows: Annotated[Count, OPTION] = 2000
    """The maximum number of running instances in memory. Others are replayed when something happens to them."""
    max_workflow_tasks: Annotated[Whole, OPTION] = Field(100, ge=_MIN_OF_TWO_QUEUES)
    """The maximum number of instances that take a step at once."""
    max_local_activities: Annotated[Count, OPTION] = 100
    """The maximum number of local calls in progress."""
    target_memory: Annotated[Share | None, Option(metavar="SHARE")] = None
    """Take more work up to this share of memory, such as 0.8. With None, there is no such limit."""
    target_cpu: Annotated[Share | None, Option(metavar="SHARE")] = None
    """Take more work up to this share of processor time, such as 0.9. With None, there is no such limit."""
    pollers: Annotated[int | Literal["auto"], BeforeValidator(_pollers), Option(metavar="N|auto")] = 5
    """The number of task pollers, for instances and for calls. With `auto`, it follows the load."""
    max_activity_rate: Annotated[Annotated[Rate, RATE] | None, Option(metavar="RATE")] = None
    """The maximum rate at which calls begin, such as 100/s."""
    max_queue_activity_rate: Annotated[Annotated[Rate, RATE] | None, Option(metavar="RATE")] = None
    """The same for all workers of the task queue together."""
    max_states_without_waiting: Whole = Field(STATES, ge=MIN_STATES)
    """The maximum number of states that an instance may enter without waiting for anything."""
    max_executions_without_waiting: Whole = Field(EXECUTIONS, ge=MIN_EXECUTIONS)
    """The maximum number of executions that start without waiting for anything, each from the one before."""
    max_subflow_depth: Whole = Field(DEPTH, ge=MIN_DEPTH)
    """The maximum number of sub-workflows that wait for one another."""
    max_descendants: Whole = Field(DESCENDANTS, ge=MIN_DESCENDANTS)
    """The maximum number of sub-workflows of one instance that are in progress, on all levels."""
    max_held_bytes: Size = Field(HELD_BYTES, ge=MIN_HELD_BYTES)
    """The maximum size of the collected results that one instance holds, in bytes."""
    grace_period: Duration = timedelta(seconds=30)
    """The time that calls in progress have to finish when the worker is stopped."""
    processes: Annotated[str, WORD, Option(metavar="N|auto")] = "1"
    """The number of processes, or `auto` for one per core."""
    health_port: Annotated[Port | None, Option("--health")] = None
    """Serve /livez and /readyz over HTTP on this port. With None, they are not served."""
    metrics: Annotated[OwnAddress | None, Option("--metrics", metavar="[HOST:]PORT")] = None
    """Serve /metrics for Prometheus over HTTP at this address, by default for this machine alone. With None, it is not
    served."""
    container_endpoint: ListenAddress | None = None
    """The address at which functions in containers reach the worker; None if they cannot."""
    log_format: Annotated[LogFormat, WORD, OPTION] = LogFormat.TEXT
    """The format of the log."""
    log_level: Annotated[LogLevel, WORD, OPTION] = LogLevel.INFO
    """The lowest level that is logged."""
    variables: Annotated[str, BeforeValidator(as_store)] = Field(TEMPORAL, repr=False)  # a URL may have a password
    """The store of variables: `temporal`, or the URL of a database."""
    secrets_provider: Name | None = None
    """The secret provider that an installed package offers by this name. With None, secrets are in the environment."""
    environment: Annotated[tuple[Name, ...], SPLIT] = ()
    """The names of variables of the environment that definitions may see, where their language has any. Their values
    are stored in histories."""
    deployment: Annotated[Name | None, Option(metavar="NAME")] = None
    """The Worker Deployment of the worker; without one, it takes all work of its task queue."""
    build_id: Annotated[Name | None, Option(metavar="ID", default="the release of swf-temporal")] = None
    """The version within the deployment; use a new one when functions change, too. With None, that of the package."""
    versioning: Annotated[Versioning, WORD, OPTION] = Versioning.AUTO_UPGRADE
    """Whether instances stay with the version that they began on, or move to the current one."""
    versioning_of: Annotated[Mapping[str, Annotated[Versioning, WORD]], PAIRS] = Field(default_factory=dict)
    """The same for instances of single definitions, by their ids."""

    @property
    def version(self) -> Deployment | None:
        """The version as which it serves, if it belongs to a deployment."""
        if self.deployment is None:
            return None
        return Deployment(self.deployment, self.build_id or __version__, self.versioning, self.versioning_of)

    @property
    def limits(self) -> InstanceLimits:
        """How long an instance may go on without waiting."""
        executions = self.max_executions_without_waiting
        depth, held, descendants = self.max_subflow_depth, self.max_held_bytes, self.max_descendants
        return InstanceLimits(self.max_states_without_waiting, executions, depth, held, descendants)
