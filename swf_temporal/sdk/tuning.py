"""How much a worker does at once, as the SDK's worker is told it."""

from typing import TYPE_CHECKING, Final, NotRequired, TypedDict

from temporalio.worker import (
    PollerBehavior,
    PollerBehaviorAutoscaling,
    PollerBehaviorSimpleMaximum,
    ResourceBasedSlotConfig,
    ResourceBasedSlotSupplier,
    ResourceBasedTunerConfig,
    WorkerTuner,
)

if TYPE_CHECKING:
    from swf_temporal.settings.forms import Rate
    from swf_temporal.settings.worker import WorkerSettings

_MEMORY, _CPU = 0.8, 1.0
"""The targets where only the other one is given: what a call takes is not known before, so some memory is left."""
_NO_SLOT: Final = 1
"""For Nexus, of which there are no operations."""


class Tuning(TypedDict):
    """Arguments of the SDK's worker."""

    max_cached_workflows: int
    workflow_task_poller_behavior: PollerBehavior
    activity_task_poller_behavior: PollerBehavior
    max_activities_per_second: float | None
    max_task_queue_activities_per_second: float | None
    disable_eager_activity_execution: bool
    tuner: NotRequired[WorkerTuner]
    max_concurrent_workflow_tasks: NotRequired[int]
    max_concurrent_activities: NotRequired[int]
    max_concurrent_local_activities: NotRequired[int]


def tuning_of(settings: "WorkerSettings") -> Tuning:
    """Return the arguments that make a worker of the SDK do as much at once as *settings* say."""
    pollers, own, shared = _pollers(settings), settings.max_activity_rate, settings.max_queue_activity_rate
    tuning = Tuning(
        max_cached_workflows=settings.max_cached_workflows,
        workflow_task_poller_behavior=pollers,
        activity_task_poller_behavior=pollers,
        max_activities_per_second=_per_second(own),
        max_task_queue_activities_per_second=_per_second(shared),
        # Only what a worker asks for is counted, and not a call that it is given with the answer to a workflow task.
        disable_eager_activity_execution=own is not None or shared is not None,
    )
    if settings.target_memory is None and settings.target_cpu is None:
        tuning["max_concurrent_workflow_tasks"] = settings.max_workflow_tasks
        tuning["max_concurrent_activities"] = settings.max_activities
        tuning["max_concurrent_local_activities"] = settings.max_local_activities
    else:
        tuning["tuner"] = _by_resources(settings)
    return tuning


def _by_resources(settings: "WorkerSettings") -> WorkerTuner:
    """Return what gives slots while the machine has memory and processor time to spare."""
    targets = ResourceBasedTunerConfig(settings.target_memory or _MEMORY, settings.target_cpu or _CPU)

    def up_to(slots: int) -> ResourceBasedSlotSupplier:
        return ResourceBasedSlotSupplier(ResourceBasedSlotConfig(maximum_slots=slots), targets)

    return WorkerTuner.create_composite(
        workflow_supplier=up_to(settings.max_workflow_tasks),
        activity_supplier=up_to(settings.max_activities),
        local_activity_supplier=up_to(settings.max_local_activities),
        nexus_supplier=up_to(_NO_SLOT),
    )


def _pollers(settings: "WorkerSettings") -> PollerBehavior:
    if settings.pollers == "auto":
        return PollerBehaviorAutoscaling(minimum=2)
    return PollerBehaviorSimpleMaximum(maximum=settings.pollers)


def _per_second(rate: "Rate | None") -> float | None:
    return None if rate is None else rate.calls / rate.seconds
