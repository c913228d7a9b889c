"""What is a call, and how does one say that it failed for good?"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from swf_temporal.calls import Auth, Function
from swf_temporal.data import JSON
from swf_temporal.errors import CallFailed


@dataclass(frozen=True, slots=True)
class Call:
    """One attempt to call a function."""

    function: Function
    arguments: JSON = None
    selection_set: JSON = None
    """Of a GraphQL function: the text that says which fields are wanted."""
    base: str | None = None
    """The folder or URL that the definition was read from; documents are found relative to it."""
    idempotency_key: str | None = None
    """The same for every attempt, so that a service can tell a repetition from a second request."""
    attempt: int = 1
    auth: tuple[Auth, ...] = ()
    """The definition's `auth`, of which the function may use some."""
    secrets: Mapping[str, JSON] = field(default_factory=dict, repr=False)
    """What the definition's `auth` may refer to. Kept out of results and of error texts."""


def permanent_failure(code: str, message: str) -> CallFailed:
    """Return the fault of a call that no repetition can mend: the definition or its data must change."""
    return CallFailed(message, code=code, retryable=False)
