"""A call of a function, what the function's metadata ask of it, and the faults that it ends with."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from swf_temporal.base.calls import Auth, FillAuth, Function, fill_plain_auth
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, causes, permanent_failure
from swf_temporal.base.files import NO_MORE_FILES, can_open_more
from swf_temporal.base.function_types import Callee, callee_of

if TYPE_CHECKING:
    from swf_temporal.runtime.host import CallFolder

CHECK_RESPONSE = "checkResponse"
HIDE_SECRETS = "hideSecrets"
FAIL_ON_STATUS_CODE = "failOnStatusCode"
RETURNS_VARIABLES = "returnsVariables"
SERVER_VARIABLES = "serverVariables"
_PRINTABLE: Final = "".join(map(chr, range(ord(" "), ord("~") + 1)))


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
    headers: Mapping[str, str] = field(default_factory=dict)
    """Of the request that began the instance: an operation of an OpenAPI document sends those that it has not itself.
    """
    auth: tuple[Auth, ...] = ()
    """The definition's `auth`, of which the function may use some."""
    secrets: Mapping[str, JSON] = field(default_factory=dict, repr=False)
    """What the definition's `auth` may refer to. Kept out of results and of error texts."""
    fill_auth: FillAuth = fill_plain_auth
    """Fills secrets in where they stand in `auth`, as the language of the definition says."""
    made_of_secrets: tuple[str, ...] = ()
    """What the arguments hold that was made of secrets. Kept out of results and of error texts, too."""
    folder: "CallFolder | None" = None
    """The directory that a function in a container is given, and what stands in it."""

    @property
    def callee(self) -> Callee:
        """The target of the call, by the names that settings and secrets use for it."""
        return callee_of(self.function)

    @property
    def key_in_headers(self) -> str | None:
        """The idempotency key as headers and metadata of any protocol can hold it; None if there is none.

        It has the names of states and the instance's id, which may be written in any letters, and on several lines.
        """
        return quote(self.idempotency_key, safe=_PRINTABLE) if self.idempotency_key else None


def cause_here(fault: CallFailed) -> CallFailed:
    """Return *fault*, or TooManyOpenFiles if it came about because this process can open no more files.

    Then hosts are not found and modules not imported, either, for which libraries give other reasons: a look-up that
    fails so has the number of whatever error was before.
    """
    chain = [fault, *causes(fault)]
    is_for_files = any(isinstance(each, OSError) and each.errno in NO_MORE_FILES for each in chain)
    may_be = fault.code == "UNAVAILABLE" or any(isinstance(each, OSError | ImportError) for each in chain)
    if not is_for_files and (not may_be or can_open_more()):
        return fault
    what = "too many open files: raise the limit of this process (ulimit -n; LimitNOFILE of systemd)"
    return CallFailed(f"{what}: {fault.message}", code="TooManyOpenFiles", cause=fault.cause)


def switch(call: Call, name: str) -> bool | None:
    """Return whether the function asks for *name*, or None if it does not say.

    Where the operation is an object, it may stand there as well. Raises CallFailed if it is not a boolean.
    """
    operation = call.function.operation
    holders = (operation if isinstance(operation, dict) else {}, call.function.metadata)
    value: JSON = next((holder[name] for holder in holders if holder.get(name) is not None), None)
    if value is None or isinstance(value, bool):
        return value
    raise permanent_failure(
        "BadOperation", f"'{name}' of function '{call.function.name}' is {value!r}; it must be true or false"
    )


def variables(call: Call) -> Mapping[str, JSON]:
    """Return the values that the function gives to variables of its server.

    Raises CallFailed if they are not an object.
    """
    value: JSON = call.function.metadata.get(SERVER_VARIABLES)
    if value is None or isinstance(value, dict):
        return value or {}
    message = f"'{SERVER_VARIABLES}' of function '{call.function.name}' is {value!r}; it must be an object"
    raise permanent_failure("BadOperation", message)
