"""The function that a call names, and the credentials by which it says who is calling.

These records are plain, whatever language a definition is written in. They travel to activities as JSON and stand in
histories, so that every release reads what an earlier one wrote, and passes over fields that a later one added.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from swf_temporal.data import JSON
from swf_temporal.errors import CallFailed

PRIORITIES: Final = range(1, 6)
"""Of the calls that wait for a worker, those with the lowest number are performed first."""

_USUAL_TYPE, _USUAL_SCHEME = "rest", "basic"


@dataclass(frozen=True, slots=True)
class AuthRef:
    """The names of the credentials that a function uses: to fetch its document, and to be called."""

    resource: str | None = None
    invocation: str | None = None

    def to_json(self) -> dict[str, JSON]:
        """Return the names as JSON, without what is not set."""
        return _set(resource=self.resource, invocation=self.invocation)


@dataclass(frozen=True, slots=True)
class Function:
    """A function that can be called: its type decides what the operation means, and what performs it."""

    name: str
    type: str = _USUAL_TYPE
    """One of `function_types.TYPES`, or a type of one's own."""
    operation: Any = None
    """What is called, in the form that the type asks for; a text except for plain HTTP."""
    auth_ref: AuthRef | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, JSON]:
        """Return the function as JSON, without what is as usual."""
        record: dict[str, JSON] = {"name": self.name}
        if self.type != _USUAL_TYPE:
            record["type"] = self.type
        if self.operation is not None and self.operation != {}:
            record["operation"] = self.operation
        if self.auth_ref is not None and (auth_ref := self.auth_ref.to_json()):
            record["auth_ref"] = auth_ref
        if self.metadata:
            record["metadata"] = dict(self.metadata)
        return record

    @staticmethod
    def from_json(record: Mapping[str, Any]) -> "Function":
        """Return the function that `to_json` wrote, in this release or another."""
        reference = record.get("auth_ref")
        return Function(
            name=record["name"],
            type=record.get("type", _USUAL_TYPE),
            operation=record.get("operation"),
            auth_ref=None
            if reference is None
            else AuthRef(resource=reference.get("resource"), invocation=reference.get("invocation")),
            metadata=record.get("metadata", {}),
        )


@dataclass(frozen=True, slots=True)
class Auth:
    """Credentials that functions refer to by their name."""

    name: str
    scheme: str = _USUAL_SCHEME
    properties: Any = None
    """The name of a secret, or an object whose fields depend on the scheme. Where secrets stand says the language."""

    def to_json(self) -> dict[str, JSON]:
        """Return the credentials as JSON, without what is as usual. Secrets stand in them by their names alone."""
        scheme = None if self.scheme == _USUAL_SCHEME else self.scheme
        return _set(name=self.name, scheme=scheme, properties=self.properties)

    @staticmethod
    def from_json(record: Mapping[str, Any]) -> "Auth":
        """Return the credentials that `to_json` wrote, in this release or another."""
        return Auth(
            name=record["name"], scheme=record.get("scheme", _USUAL_SCHEME), properties=record.get("properties")
        )


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


def _set(**values: JSON) -> dict[str, JSON]:
    return {key: value for key, value in values.items() if value is not None and value != {}}
