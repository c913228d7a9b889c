"""Values of settings that are needed without reading any. Imports little: command-line options are made of them."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

TASK_QUEUE: Final = "swf"
"""The default task queue."""

MAX_HOPS: Final = 100
"""The default limit of a chain of instances in which each is started by an event of the one before."""


class LogFormat(StrEnum):
    """The format of the log."""

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
    """An address at which a program listens."""

    host: str
    """Its host; empty for the one at which the program listens anyway."""
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Option:
    """Makes a setting an option of the commands that take its section.

    Type, bounds and default are those of the field, and the help is the first sentence of its docstring. Attributes
    that are None here are derived from the field, too.
    """

    name: str | None = None
    """The name of the option, with its hyphens; by default derived from the field's."""
    metavar: str | None = None
    """The name of its value in the help."""
    default: str | None = None
    """The default that the help shows, if that of the field is not meaningful."""


OPTION: Final = Option()
"""An option that is completely derived from the field."""


TEMPORAL: Final = "temporal"
"""The address of a store in Temporal workflows, which is the default."""

_FORMS: Final = "it must be 'temporal', 'sqlite:///FILE' or 'postgresql://USER@HOST/DATABASE'"
_SQLITE: Final = "sqlite:///"
_POSTGRESQL: Final = ("postgresql://", "postgres://")


def as_store(value: object) -> str:
    """Return *value* if it is the address of a store of variables. Raises ValueError without a password in its text."""
    text = value.strip() if isinstance(value, str) else ""
    is_file = text.startswith(_SQLITE) and len(text) > len(_SQLITE)
    if text != TEMPORAL and not is_file and not text.startswith(_POSTGRESQL):
        raise ValueError(_FORMS)
    return text
