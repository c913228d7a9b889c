"""Which settings are options of commands, too."""

from dataclasses import dataclass
from typing import Final


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
