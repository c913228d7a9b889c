"""Values that options of commands and settings have in common. Nothing heavy is imported: options are made of them."""

from dataclasses import dataclass
from enum import StrEnum


class LogFormat(StrEnum):
    """The format of log lines."""

    TEXT = "text"
    JSON = "json"


class LogLevel(StrEnum):
    """The lowest level that is logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Address:
    """The address at which a server listens."""

    host: str
    port: int

    def __str__(self) -> str:
        """Return it as it is written."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"
