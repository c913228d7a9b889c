"""One change of one function, and which packages are changed. Nothing here needs mutmut."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PACKAGES: Final = (
    "swf_temporal/runtime",
    "swf_temporal/languages/serverless_workflow/execution",
    "swf_temporal/expressions",
    "swf_temporal/expressions/guarding",
)
"""The packages whose functions are mutated."""


@dataclass(frozen=True, slots=True)
class Mutant:
    name: str
    """As mutmut calls it, with its module."""
    file: str
    """From the root of the project."""
    function: str
    lines: tuple[int, int]
    """The first and the last line of the function."""
    line: int
    """The first line that changes."""
    before: str
    after: str
    """The lines that change, before and after, without what surrounds them."""

    @property
    def key(self) -> str:
        """What it is called where files are remembered: lines come and go."""
        return f"{self.file}|{self.function}|{self.before}|{self.after}"

    def __str__(self) -> str:
        shown = "\n".join([*(f"    - {line}" for line in self.before.split("\n")), *_added(self.after)])
        return f"{self.file}:{self.line}: in {self.function}\n{shown}"


def _added(after: str) -> list[str]:
    return [f"    + {line}" for line in after.split("\n")] if after else []
