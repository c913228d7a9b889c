"""The command `swf`, whose workers are missed within seconds here once they are killed.

Where the variable HEARTBEAT has a number, calls of a killed worker are missed after so many seconds, too.
"""

import os
from datetime import timedelta
from typing import Any

from swf_temporal.cli.entry import main
from swf_temporal.temporal import activities, host, worker


def miss_soon(heartbeat: float | None) -> None:
    """Let the server miss workflow tasks of workers in this process soon, and calls after *heartbeat* seconds."""
    modules: tuple[Any, ...] = (worker, activities, host)
    of_sdk, sticky = modules[0].Worker, timedelta(seconds=1)
    modules[0].Worker = lambda **options: of_sdk(sticky_queue_schedule_to_start_timeout=sticky, **options)
    if heartbeat is None:
        return
    for module in modules[1:]:
        module.HEARTBEAT = timedelta(seconds=heartbeat)


if __name__ == "__main__":
    seconds = os.environ.get("HEARTBEAT")
    miss_soon(None if seconds is None else float(seconds))
    main()
