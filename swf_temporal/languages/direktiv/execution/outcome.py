"""The outcome of a state."""

from dataclasses import dataclass
from typing import Any

from swf_temporal.data import JSON


@dataclass(frozen=True, slots=True)
class Leaving:
    """How a state is left: with which data, which transform on it, and where to."""

    data: JSON
    transform: Any = None
    transition: str | None = None
