"""The command `swf`, whose workers are missed within seconds here once they are killed."""

from datetime import timedelta
from typing import Any

from swf_temporal.cli.entry import main
from swf_temporal.temporal import activities, host, worker


def miss_soon() -> None:
    """Let the server miss calls and workflow tasks of workers in this process soon."""
    of_sdk: Any = worker.Worker
    modules: tuple[Any, ...] = (activities, host)
    for module in modules:
        module.HEARTBEAT = timedelta(seconds=3)

    def quick(**options: Any) -> Any:
        return of_sdk(sticky_queue_schedule_to_start_timeout=timedelta(seconds=1), **options)

    module = worker
    module.Worker = quick  # type: ignore[misc, assignment]  # which `make_worker` asks for there


if __name__ == "__main__":
    miss_soon()
    main()
