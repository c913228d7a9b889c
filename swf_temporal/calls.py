"""The function that a call names, and the credentials by which it says who is calling.

These records are plain, whatever language a definition is written in. They travel to activities, and stand in
histories.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from swf_temporal.records import Record

PRIORITIES: Final = range(1, 6)
"""Of the calls that wait for a worker, those with the lowest number are performed first."""


@dataclass(frozen=True, slots=True)
class AuthRef(Record):
    """The names of the credentials that a function uses: to fetch its document, and to be called."""

    resource: str | None = None
    invocation: str | None = None


@dataclass(frozen=True, slots=True)
class Function(Record):
    """A function that can be called: its type decides what the operation means, and what performs it."""

    name: str
    type: str = "rest"
    """One of `function_types.TYPES`, or a type of one's own."""
    operation: Any = None
    """What is called, in the form that the type asks for; a text except for plain HTTP."""
    auth_ref: AuthRef | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Auth(Record):
    """Credentials that functions refer to by their name."""

    name: str
    scheme: str = "basic"
    properties: Any = None
    """The name of a secret, or an object whose fields depend on the scheme; both may hold expressions over secrets.

    In what is stored, secrets stand by their names alone.
    """
