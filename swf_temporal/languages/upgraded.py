"""Definitions that were rewritten, in a newer version or for this runtime, and what that changed in them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class UpgradeChange:
    """One thing that rewriting a definition changed, or would have had to."""

    kind: Literal["respelled", "changed", "differs", "inexpressible"]
    """Only called otherwise; expressed in another form; left as it was, though it has another effect; not expressible,
    and left as it was."""
    message: str
    line: int | None = None
    """Where it was first met; None where that is not known."""
    hint: str | None = None
    """What to write, or to look at."""


@dataclass(frozen=True, slots=True)
class Upgraded:
    """A definition that was rewritten in a newer version of its language."""

    text: str
    version: str
    """The version that it was written in."""
    changes: tuple[UpgradeChange, ...] = ()
    to_write: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Python functions that take the place of other code: the names of their parameters, by their names."""
    properties: tuple[str, ...] = ()
    """The properties of the application that its constants have."""
    to: str = ""
    """The version that it is written in now, where it was rewritten in another."""

    @property
    def is_complete(self) -> bool:
        """Whether everything in it could be expressed in the newer version."""
        return all(change.kind != "inexpressible" for change in self.changes)
