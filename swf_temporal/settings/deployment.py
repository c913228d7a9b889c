"""As which version of a deployment a worker serves, in words that commands and settings share.

Nothing heavy is imported here: options on the command line are made of it. `versioning.py` tells it to the engine.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Versioning(StrEnum):
    """The behaviour of an instance when another version of its deployment becomes the current one."""

    PINNED = "pinned"
    """It stays with the version on which it began, until it ends or continues as new."""
    AUTO_UPGRADE = "auto-upgrade"
    """Its next step is carried out by the current version."""


@dataclass(frozen=True, slots=True)
class Deployment:
    """A version of a worker deployment: workers of one task queue that are the same, and what becomes of instances."""

    name: str
    build_id: str
    versioning: Versioning = Versioning.AUTO_UPGRADE
    """What holds for all definitions that are not named in `versioning_of`."""
    versioning_of: Mapping[str, Versioning] = field(default_factory=dict)
    """What holds for instances of single definitions, by their ids."""

    def __str__(self) -> str:
        return f"version {self.build_id} of the deployment {self.name}"
