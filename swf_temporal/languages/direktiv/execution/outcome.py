"""The outcome of a state."""

from dataclasses import dataclass
from typing import Any

from swf_temporal.base.data import JSON


@dataclass(frozen=True, slots=True)
class StateExit:
    """The way a state is left: the data, the transform of it, and the next state."""

    data: JSON
    transform: Any = None
    transition: str | None = None
