"""What is said of a scenario that was run?"""

from dataclasses import dataclass
from typing import Any

from swf_temporal.simulation.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether what a scenario claims held on one host."""

    scenario: Scenario
    host: str
    """Where it ran; `reading` where its definition is to be refused, so that it runs nowhere."""
    differences: tuple[str, ...] = ()
    """What was not as it was expected."""
    left_out: str | None = None
    """Why it did not run there, if it did not."""

    def to_json(self) -> dict[str, Any]:
        """Return what a program reads of it."""
        facts: dict[str, Any] = {
            "scenario": self.scenario.claim,
            "file": str(self.scenario.file),
            "line": self.scenario.line,
            "host": str(self.host),
            "holds": None if self.left_out is not None else not self.differences,
            "differences": list(self.differences),
        }
        return facts if self.left_out is None else {**facts, "leftOut": self.left_out}

    def __str__(self) -> str:
        """Return a line for people, and below it the differences."""
        if self.left_out is not None:
            return f"-  {self.scenario} ({self.host}: {self.left_out})"
        if not self.differences:
            return f"✓  {self.scenario} ({self.host})"
        told = [line for difference in self.differences for line in difference.splitlines()]
        return "\n     ".join([f"✗  {self.scenario} ({self.host})", *told])
