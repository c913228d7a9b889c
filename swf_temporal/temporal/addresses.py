"""Addresses of servers: what is one."""

import re

from swf_temporal.errors import UsageError
from swf_temporal.origins import MAX_PORT
from swf_temporal.temporal.constants import DEFAULT_HOST, DEFAULT_PORT

_FORM = re.compile(r"(?P<host>\[[0-9A-Fa-f:.%]+\]|[^\s:/?#@\[\]]+):(?P<port>[0-9]{1,5})")
_SCHEME = re.compile(r"[a-z]+://", re.IGNORECASE)


def refuse_malformed(address: str, named_by: str) -> None:
    """Raise UsageError unless *address* is HOST:PORT. *named_by* says where it was given."""
    if _is_address(address):
        return
    bare = _SCHEME.sub("", address).rstrip("/")
    meant = next((one for one in (bare, f"{bare}:{DEFAULT_PORT}") if _is_address(one)), None)
    example = f"it is written HOST:PORT, as in {DEFAULT_HOST}:{DEFAULT_PORT}"
    hint = example if meant is None else f"it is written HOST:PORT; did you mean {meant!r}?"
    raise UsageError(f"{named_by} is {address!r}", hint)


def _is_address(text: str) -> bool:
    found = _FORM.fullmatch(text)
    return found is not None and 0 < int(found["port"]) <= MAX_PORT
