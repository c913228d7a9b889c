"""The function that a call names, and the credentials by which it says who is calling.

These records are plain, whatever language a definition is written in. They travel to activities, and stand in
histories.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.base.records import Record

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
    """The name of a secret, or an object whose fields depend on the scheme. Where secrets stand says the language.

    In what is stored, secrets stand by their names alone.
    """


FillAuth: TypeAlias = Callable[[Auth, Mapping[str, JSON]], JSON]
"""Returns the properties of credentials with secrets filled in; a text is a token. Raises CallFailed."""


def fill_plain_auth(auth: Auth, secrets: Mapping[str, JSON]) -> JSON:
    """Return the properties of *auth*, or those in the secret that they name: no secrets stand in them."""
    properties: JSON = auth.properties
    return secret_at(auth, [properties], secrets) if isinstance(properties, str) else properties


def secret_at(auth: Auth, path: Sequence[str], secrets: Mapping[str, JSON]) -> JSON:
    """Return the secret, or the part of one, that *auth* needs. Raises CallFailed if it is not known."""
    value: JSON = dict(secrets)
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    if value is None:
        message = f"auth '{auth.name}' needs the secret '{'.'.join(path)}', which is not known here"
        raise CallFailed(message, code="NoSecret", retryable=False)
    return value


def bad_auth(auth: Auth, why: str) -> CallFailed:
    """Return the fault of a call whose credentials cannot be used as they are written."""
    return CallFailed(f"auth '{auth.name}': {why}", code="BadAuth", retryable=False)
