"""The function that a call names, and the credentials that it uses.

These records are the same for all languages. They are passed to activities, and stored in histories.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.base.records import Record

PRIORITIES: Final = range(1, 6)
"""The priorities of calls that wait for a worker; the lowest number is performed first."""


@dataclass(frozen=True, slots=True)
class AuthRef(Record):
    """The names of the credentials that a function uses: to fetch its document, and to be called."""

    resource: str | None = None
    invocation: str | None = None


@dataclass(frozen=True, slots=True)
class Function(Record):
    """A function that can be called: its type determines the form of the operation and the code that performs it."""

    name: str
    type: str = "rest"
    """Such as `rest`, or a custom type."""
    operation: Any = None
    """The operation, in the form that the type requires; a text except for plain HTTP."""
    auth_ref: AuthRef | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Auth(Record):
    """Credentials that functions refer to by their name."""

    name: str
    scheme: str = "basic"
    properties: Any = None
    """The name of a secret, or an object whose fields depend on the scheme; the language knows which hold secrets.

    Only the names of secrets are stored.
    """


FillAuth: TypeAlias = Callable[[Auth, Mapping[str, JSON]], JSON]
"""A function that returns the properties of credentials with secrets inserted; a text is a token. Raises CallFailed."""


def fill_plain_auth(auth: Auth, secrets: Mapping[str, JSON]) -> JSON:
    """Return the properties of *auth*, or those in the secret that they name; they do not contain secrets otherwise."""
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
    """Return the fault of a call whose credentials are invalid as they are written."""
    return CallFailed(f"auth '{auth.name}': {why}", code="BadAuth", retryable=False)
