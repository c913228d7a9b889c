"""The command `swf`, whose workers are missed within seconds here once they are killed."""

from datetime import timedelta
from typing import Any

from swf_temporal.cli.entry import main
from swf_temporal.temporal import activities, host, worker

_SOON = timedelta(seconds=1)


def miss_soon() -> None:
    """Let the server miss calls and workflow tasks of workers in this process soon."""
    modules: tuple[Any, ...] = (worker, activities, host)
    of_sdk = modules[0].Worker
    modules[0].Worker = lambda **options: of_sdk(sticky_queue_schedule_to_start_timeout=_SOON, **options)
    for module in modules[1:]:
        module.HEARTBEAT = 3 * _SOON


if __name__ == "__main__":
    miss_soon()
    main()
