"""Settings of the worker itself; those of the calls that it makes are in `functions/operator/settings.py`.

Nothing heavy is imported here: options on the command line are made of it. `configuration.py` reads the settings.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

from swf_temporal import __version__
from swf_temporal.runtime.budgets import DEPTH, EXECUTIONS, HELD_BYTES, STATES, Limits
from swf_temporal.stores.addresses import TEMPORAL
from swf_temporal.temporal.constants import ACTIVITIES, CACHED_BYTES, TASK_QUEUE, WORKFLOWS
from swf_temporal.temporal.deployment import Deployment, Versioning


class LogFormat(StrEnum):
    """The format of log lines."""

    TEXT = "text"
    JSON = "json"


class LogLevel(StrEnum):
    """The lowest level that is logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Address:
    """The address at which a server listens."""

    host: str
    port: int

    def __str__(self) -> str:
        """Return it as it is written."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """The settings of a worker itself: task queue, concurrency, health and logs."""

    task_queue: str = TASK_QUEUE
    """The task queue whose instances it runs."""
    known_definitions_only: bool = False
    """Whether it refuses instances that bring another definition than those that it serves."""
    max_activities: int = ACTIVITIES
    """The maximum number of function calls in progress."""
    max_cached_workflows: int = WORKFLOWS
    """How many running instances are kept in memory; others are replayed when something happens to them."""
    max_cached_bytes: int = CACHED_BYTES
    """How many bytes of memory the data of these instances may take together, with two large ones at least."""
    max_states_without_waiting: int = STATES
    """How many states an instance may enter without waiting for anything."""
    max_executions_without_waiting: int = EXECUTIONS
    """How many executions may be begun without waiting for anything, each by the one before."""
    max_subflow_depth: int = DEPTH
    """How many sub-workflows may wait for one another."""
    max_held_bytes: int = HELD_BYTES
    """How many bytes of collected results one instance may hold."""
    grace_period: timedelta = timedelta(seconds=30)
    """How long calls that are under way may still take when the worker is told to stop."""
    health_port: int | None = None
    """The port on which it answers `/livez` and `/readyz`; none if there is no such port."""
    container_endpoint: Address | None = None
    """Where functions in containers reach it; nowhere if it is None."""
    log_format: LogFormat = LogFormat.TEXT
    log_level: LogLevel = LogLevel.INFO
    variables: str = field(default=TEMPORAL, repr=False)  # a URL may have a password
    """Where variables are held: `temporal`, or the URL of a database."""
    deployment: str | None = None
    """The Worker Deployment that it belongs to; with None, workers have no versions, and each takes what comes."""
    build_id: str | None = None
    """Its version within that deployment; with None, the release of this package."""
    versioning: Versioning = Versioning.AUTO_UPGRADE
    """What becomes of its instances when another version of the deployment becomes the current one."""
    versioning_of: Mapping[str, Versioning] = field(default_factory=dict)
    """The same for instances of single definitions, by their ids."""

    @property
    def version(self) -> Deployment | None:
        """The version as which it serves, if it belongs to a deployment."""
        if self.deployment is None:
            return None
        return Deployment(self.deployment, self.build_id or __version__, self.versioning, self.versioning_of)

    @property
    def limits(self) -> Limits:
        """How long an instance may go on without waiting."""
        executions = self.max_executions_without_waiting
        return Limits(self.max_states_without_waiting, executions, self.max_subflow_depth, self.max_held_bytes)
