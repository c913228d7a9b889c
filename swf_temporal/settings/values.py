"""Values of settings that are needed where no setting is read. Nothing heavy is imported: options are made of them."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

TASK_QUEUE: Final = "swf"
"""The task queue that everything here uses unless told otherwise."""

MAX_HOPS: Final = 100
"""The length of a chain of instances whose last event starts nothing more, unless told otherwise."""


class LogFormat(StrEnum):
    TEXT = "text"
    JSON = "json"


class LogLevel(StrEnum):
    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Address:
    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"
