"""Simulations in tests: strict, and described in the report of a failed test."""

from collections import deque
from collections.abc import Callable
from io import StringIO
from typing import Any, Final

from swf_temporal.base.strict_json import show_json
from swf_temporal.cli.progress import line_of
from swf_temporal.simulation.result import Simulation
from swf_temporal.simulation.simulate import simulate


class StrictSimulate:
    """`simulate`, with `strict=True` by default."""

    def __init__(self, told: deque[str]) -> None:
        """Append a description of each run to *told*."""
        self._told = told

    def __call__(self, *arguments: Any, strict: bool = True, **options: Any) -> Simulation:
        """Run a definition as `simulate` does. Raises UsageError for stubs and events that have no effect."""
        run = _SIMULATE(*arguments, strict=strict, **options)
        self._told.append(told(run))
        return run


_SIMULATE: Final[Callable[..., Simulation]] = simulate


def told(run: Simulation) -> str:
    """Return a description of *run*: a line for each event in it, and its outcome."""
    entries = (
        {"kind": str(one.kind), "name": one.name, "lane": one.lane, "state": one.state, "detail": one.detail}
        for one in run.trace
    )
    lines = [line for entry in entries if (line := line_of(entry, StringIO())) is not None]
    if run.error is None:
        end = f"{run.status}: {show_json(run.output)}" if run.status == "completed" else run.status
    else:
        end = f"{run.status} with {run.error.name}: {run.error.message}"
    return "\n".join([*lines, f"{end} (after {run.elapsed})"])
