"""The settings of a worker itself: task queue, concurrency, health and logs. Those of its calls have their own."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, ClassVar, Final, Literal

from pydantic import BeforeValidator, Field

from swf_temporal import __version__
from swf_temporal.origins import MAX_PORT
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
from swf_temporal.settings.deployment import Deployment, Versioning
from swf_temporal.settings.forms import (
    PAIRS,
    RATE,
    WORD,
    Count,
    Duration,
    Name,
    Port,
    Rate,
    Share,
    Size,
    Whole,
)
from swf_temporal.settings.stores import TEMPORAL, as_store
from swf_temporal.settings.values import TASK_QUEUE, Address, LogFormat, LogLevel

_OF_TWO_QUEUES: Final = 2
"""The least number of workflow tasks, and of requests for them: of two queues, one is the worker's own."""


def _address(value: object) -> Address:
    if isinstance(value, Address):
        return value
    host, _, port = str(value).strip().rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isdecimal() or not 0 < int(port) <= MAX_PORT:
        raise ValueError("it must be an address and a port, such as 127.0.0.1:8889")
    return Address(host, int(port))


def _pollers(value: object) -> int | Literal["auto"]:
    text = str(value).strip().lower()
    if text == "auto":
        return "auto"
    number = int(text) if text.isdecimal() else 0
    if number < _OF_TWO_QUEUES:
        raise ValueError(f"it must be a number, at least {_OF_TWO_QUEUES}, or auto")
    return number


_Versioning = Annotated[Versioning, WORD]


class WorkerSettings(Section):
    """The settings of a worker itself: task queue, concurrency, health and logs."""

    section: ClassVar[str] = "worker"
    prefix: ClassVar[str] = "SWF_"

    task_queue: Name = TASK_QUEUE
    """The task queue whose instances it runs."""
    known_definitions_only: bool = False
    """Whether it refuses instances that bring another definition than those that it serves."""
    search_attributes: bool = False
    """Whether its instances set search attributes."""
    max_activities: Count = 200
    """The maximum number of function calls in progress."""
    max_cached_workflows: Count = 2000
    """How many running instances are kept in memory; others are replayed when something happens to them."""
    max_workflow_tasks: Whole = Field(100, ge=_OF_TWO_QUEUES)
    """The maximum number of instances that take a step at once."""
    max_local_activities: Count = 100
    """The maximum number of local calls in progress."""
    target_memory: Share | None = None
    """Up to which share of the machine's memory it takes more work; with None, whatever that is."""
    target_cpu: Share | None = None
    """Up to which share of the machine's processor time it takes more work; with None, whatever that is."""
    pollers: Annotated[int | Literal["auto"], BeforeValidator(_pollers)] = 5
    """With how many requests it waits for instances, and for calls; `auto` is as many as are of use."""
    max_activity_rate: Annotated[Rate, RATE] | None = None
    """How many calls it begins in a time."""
    max_queue_activity_rate: Annotated[Rate, RATE] | None = None
    """How many calls all workers of the task queue begin in a time, together."""
    max_states_without_waiting: Whole = Field(STATES, ge=MIN_STATES)
    """How many states an instance may enter without waiting for anything."""
    max_executions_without_waiting: Whole = Field(EXECUTIONS, ge=MIN_EXECUTIONS)
    """How many executions may be begun without waiting for anything, each by the one before."""
    max_subflow_depth: Whole = Field(DEPTH, ge=MIN_DEPTH)
    """How many sub-workflows may wait for one another."""
    max_descendants: Whole = Field(DESCENDANTS, ge=MIN_DESCENDANTS)
    """How many sub-workflows may be in progress beneath one instance, on all levels."""
    max_held_bytes: Size = Field(HELD_BYTES, ge=MIN_HELD_BYTES)
    """How many bytes of collected results one instance may hold."""
    grace_period: Duration = timedelta(seconds=30)
    """How long calls that are under way may still take when the worker is told to stop."""
    processes: Annotated[str, WORD] = "1"
    """How many processes work: a number, or `auto` for one for each core."""
    health_port: Port | None = None
    """The port on which it answers `/livez` and `/readyz`; none if there is no such port."""
    metrics_port: Port | None = None
    """The port on which it answers `/metrics`; none if there is no such port."""
    container_endpoint: Annotated[Address, BeforeValidator(_address)] | None = None
    """Where functions in containers reach it; nowhere if it is None."""
    log_format: Annotated[LogFormat, WORD] = LogFormat.TEXT
    log_level: Annotated[LogLevel, WORD] = LogLevel.INFO
    variables: Annotated[str, BeforeValidator(as_store)] = Field(TEMPORAL, repr=False)  # a URL may have a password
    """Where variables are held: `temporal`, or the URL of a database."""
    deployment: Name | None = None
    """The Worker Deployment that it belongs to; with None, workers have no versions, and each takes what comes."""
    build_id: Name | None = None
    """Its version within that deployment; with None, the release of this package."""
    versioning: _Versioning = Versioning.AUTO_UPGRADE
    """What becomes of its instances when another version of the deployment becomes the current one."""
    versioning_of: Annotated[Mapping[str, _Versioning], PAIRS] = Field(default_factory=dict)
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
