"""What a worker of the SDK is made to do that the SDK has no option for."""

import contextlib
from typing import Any

from temporalio.worker import Worker

from swf_temporal.temporal.activations import SDK_LIMIT
from swf_temporal.temporal.held_memory import HeldMemory


def set_sdk_limit(worker: Worker) -> None:
    """Let *worker* break activations off later than the SDK does by itself.

    The SDK has no option for that but its debugging mode, which runs workflows on the thread of the event loop. Where a
    release of it has no such attribute, its two seconds hold, and busy machines try some tasks more often.
    """
    with contextlib.suppress(AttributeError):
        inner: Any = worker._workflow_worker  # noqa: SLF001 - as said above
        if inner._deadlock_timeout_seconds is not None:  # noqa: SLF001 - as above
            inner._deadlock_timeout_seconds = SDK_LIMIT  # noqa: SLF001 - as above


def let_go(worker: Worker, memory: HeldMemory) -> None:
    """Let *memory* remove runs from the memory of *worker*, as the engine does itself where it has too many.

    Where a release of the SDK has no such method, all runs stay that the engine keeps.
    """
    with contextlib.suppress(AttributeError):
        inner: Any = worker._workflow_worker  # noqa: SLF001 - the SDK has no other way
        memory.evict = inner._bridge_worker()._ref.request_workflow_eviction  # noqa: SLF001 - as above
