"""Definitions that were rewritten in a newer version of their language, and what that changed in them."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class UpgradeChange:
    """One thing that rewriting a definition changed, or would have had to."""

    kind: Literal["respelled", "changed", "inexpressible"]
    """Only called otherwise; expressed in another form; not expressible in the newer version, and left as it was."""
    message: str
    line: int | None = None
    """Where it was first met; None where that is not known."""


@dataclass(frozen=True, slots=True)
class Upgraded:
    """A definition that was rewritten in a newer version of its language."""

    text: str
    version: str
    """The version that it was written in."""
    changes: tuple[UpgradeChange, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether everything in it could be expressed in the newer version."""
        return all(change.kind != "inexpressible" for change in self.changes)
