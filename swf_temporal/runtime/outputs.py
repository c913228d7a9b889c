"""The outputs of the iterations of a path, in their order: a list that only grows.

It stands in the progress of the run, which is written anew whenever the run continues as new. Where the host can hold
more than one payload, what has been added since the last time is handed over to it when the run is suspended: that is a
*part*, which is written once, goes along as it is, and is read when all outputs are needed.
"""

from dataclasses import dataclass, field

from swf_temporal.base.data import JSON
from swf_temporal.base.records import Record
from swf_temporal.runtime.host import Host


@dataclass(slots=True)
class Front(Record):
    """Iterations that are complete, from the first on: they have no frames of their own any more."""

    of: int
    """How many iterations there are in all."""
    count: int = 0
    """How many are complete."""
    outputs: list[JSON] = field(default_factory=list)
    """What each of them came to, where that is kept."""
    parts: list[int] = field(default_factory=list)
    """The parts that the host holds of these outputs, before those that stand here."""

    @property
    def results(self) -> JSON:
        """What they came to, as far as it stands here."""
        return self.outputs

    def hand_over(self, host: Host) -> None:
        """Let *host* hold the outputs, if it can and they are large; the run is about to be written down."""
        parts = host.hold(self.outputs)
        if parts:
            self.parts.extend(parts)
            self.outputs = []

    async def all_outputs(self, host: Host) -> list[JSON]:
        """Return all of them. They are not needed any more afterwards."""
        if not self.parts:
            return self.outputs
        parts, self.parts = self.parts, []
        found: list[JSON] = []
        for part in parts:
            found.extend(host.held(part))
            # Reading takes long enough that each part has a task of its own.
            await host.yield_control()
        return found + self.outputs
