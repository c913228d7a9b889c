"""Which mutants may survive, and why? `explained.yaml` says so, and nothing in it may be out of date."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import yaml

from tests.mutation.mutant import PACKAGES, ROOT, Mutant

EXPLAINED: Final = Path(__file__).parent / "explained.yaml"
_KEYS = {"file", "in", "before", "after", "why", "kind"}


class Kind(StrEnum):
    """Why nothing kills a mutant."""

    EQUIVALENT = "equivalent"
    """Nothing that a definition or a host can do tells it from what is written."""
    TEXT = "text"
    """Words for people, which no test holds to the letter."""
    SPEED = "speed"
    """It only takes longer, or keeps more."""
    SERVER = "server"
    """Tests against a Temporal server see it; they do not run here."""
    GUARD = "guard"
    """It guards against what validation refuses, or what no host of ours does."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why mutants of one place survive."""

    file: str
    function: str
    before: str
    """A part of the lines that change. Empty: any of the function."""
    after: str
    """A part of what they become. Empty: whatever they become."""
    kind: Kind
    why: str

    def fits(self, mutant: Mutant) -> bool:
        """Tell whether *mutant* is meant."""
        place = mutant.file == self.file and mutant.function == self.function
        return place and self.before in mutant.before and self.after in mutant.after

    def __str__(self) -> str:
        return f"{self.file}: in {self.function}: {self.before or 'everything'}"


def explanations(path: Path = EXPLAINED) -> list[Explanation]:
    """Return the list. Raises ValueError if an entry is not written as it should be."""
    return [_explanation(written) for written in yaml.safe_load(path.read_text(encoding="utf-8")) or []]


def _explanation(written: dict[str, Any]) -> Explanation:
    if unknown := set(written) - _KEYS:
        raise ValueError(f"nobody reads {sorted(unknown)}: {written}")
    file = written["file"]
    if not file.startswith(PACKAGES) or not (ROOT / file).is_file():
        raise ValueError(f"no file of ours that is mutated: {file}")
    if not str(written.get("why", "")).strip():
        raise ValueError(f"nothing says why: {written}")
    if not any(line.strip() for line in (written.get("before", ""), written["in"])):
        raise ValueError(f"nothing says where: {written}")
    return Explanation(
        file=file,
        function=written["in"],
        before=written.get("before", ""),
        after=written.get("after", ""),
        kind=Kind(written["kind"]),
        why=written["why"],
    )
