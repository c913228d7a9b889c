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


@dataclass(frozen=True, slots=True)
class Option:
    """Makes a setting an option of the commands that take its section.

    Type, bounds and default are those of the field, and the help is the first sentence of its docstring. What is None
    here follows from the field, too.
    """

    name: str | None = None
    """What it is called, with its hyphens; by default as the field is."""
    metavar: str | None = None
    """What its value is called."""
    default: str | None = None
    """How its default is shown, where the field has none that says it."""


OPTION: Final = Option()
"""An option of which the field says everything."""


TEMPORAL: Final = "temporal"
"""The address that stands for workflows on Temporal, which is the default."""

_FORMS: Final = "it must be 'temporal', 'sqlite:///FILE' or 'postgresql://USER@HOST/DATABASE'"
_SQLITE: Final = "sqlite:///"
_POSTGRESQL: Final = ("postgresql://", "postgres://")


def as_store(value: object) -> str:
    """Return *value* if it says where variables are held. Raises ValueError, whose text has no password."""
    text = value.strip() if isinstance(value, str) else ""
    is_file = text.startswith(_SQLITE) and len(text) > len(_SQLITE)
    if text != TEMPORAL and not is_file and not text.startswith(_POSTGRESQL):
        raise ValueError(_FORMS)
    return text
