"""The worker of a cluster: `swf worker` with what a container is told by its environment.

SWF_DEFINITIONS is the folder of definitions (/definitions), SWF_FUNCTIONS a Python module of custom functions, and
SWF_HEALTH_PORT where /livez and /readyz answer (8080). The other settings of a worker, such as SWF_TASK_QUEUE, are
those of `swf worker`. Where the cluster is, and how to get in, is told by TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE,
TEMPORAL_API_KEY and the rest of the SDK's settings.
"""

import os
import sys

from swf_temporal.cli.entry import main


def arguments(env: dict[str, str]) -> list[str]:
    """Return the command line that the environment amounts to."""
    command = ["worker", env.get("SWF_DEFINITIONS") or "/definitions", "--health", env.get("SWF_HEALTH_PORT") or "8080"]
    if env.get("SWF_FUNCTIONS"):
        command += ["--functions", env["SWF_FUNCTIONS"]]
    return command


if __name__ == "__main__":
    sys.argv[1:] = arguments(dict(os.environ))
    main()
