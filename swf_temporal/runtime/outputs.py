"""The outputs of the iterations of a path, in their order: a list that only grows.

It stands in the progress of the run, which is written anew whenever the run continues as new. Where the host can hold
more than one payload, what has been added since the last time is handed over to it when the run is suspended: that is a
*part*, which is written once, goes along as it is, and is read when all outputs are needed.
"""

from typing import Any

from swf_temporal.data import JSON
from swf_temporal.runtime.host import Host

FRONT, _OUTPUTS, _PARTS = "front", "outputs", "parts"


class Outputs:
    """The outputs that *front* has: a frame, under the key `front` of the one above, in every language."""

    def __init__(self, front: Any) -> None:
        self._front = front
        self._latest: list[JSON] = front.setdefault(_OUTPUTS, [])

    def append(self, output: JSON) -> None:
        """Add one output."""
        self._latest.append(output)

    def hand_over(self, host: Host) -> None:
        """Let *host* hold what is there, if it can and that is large; the run is about to be written down."""
        parts = host.hold(self._latest)
        if parts:
            self._front.setdefault(_PARTS, []).extend(parts)
            self._latest = self._front[_OUTPUTS] = []

    async def all(self, host: Host) -> list[JSON]:
        """Return all of them. They are not needed any more afterwards."""
        parts = self._front.pop(_PARTS, ())
        if not parts:
            return self._latest
        found: list[JSON] = []
        for part in parts:
            found.extend(host.held(part))
            # Reading takes long enough that each part has a task of its own.
            await host.yield_control()
        return found + self._latest


def parts_in(frame: Any) -> list[int]:
    """Return the numbers of all parts that *frame*, and those inside it, have."""
    return [part for front in fronts_in(frame) for part in front.get(_PARTS, ())]


def fronts_in(frame: Any) -> list[dict[str, Any]]:
    """Return the fronts in *frame*, and in those inside it: with `count`, of how many iterations, and `of`, of all."""
    found: list[dict[str, Any]] = []
    if isinstance(frame, list):
        for inner in frame:
            found.extend(fronts_in(inner))
    elif isinstance(frame, dict):
        for key, inner in frame.items():
            if key == FRONT and isinstance(inner, dict):
                found.append(inner)
            elif key not in _NOT_FRAMES:
                found.extend(fronts_in(inner))
    return found


_NOT_FRAMES = frozenset(
    {"data", "ended", "left", "result", "results", "effects", "effect", "output", "taken", "attempts"}
)
"""Keys under which there are no frames, but values of the workflow's own, or of the host."""
