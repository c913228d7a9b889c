"""The properties of credentials with their secrets filled in, as the language of the definition does it."""

from collections.abc import Mapping
from typing import Final

from swf_temporal.base.calls import Auth
from swf_temporal.base.data import JSON
from swf_temporal.functions.call import Call

_KEYS: Final = ("apiKey", "key", "token")


class ResolvedAuth(Auth):
    """An auth whose properties are values already: a secret or a token is never read as an expression."""


def properties_of(auth: Auth, call: Call) -> dict[str, JSON]:
    """Return the properties of *auth*. A secret that is just a text is the token, for which no name is needed.

    Raises CallFailed if a secret is not known, or cannot be filled in.
    """
    properties: JSON = auth.properties if isinstance(auth, ResolvedAuth) else call.fill_auth(auth, call.secrets)
    if isinstance(properties, str):
        return {} if isinstance(auth, ResolvedAuth) else {"token": properties}
    return dict(properties) if isinstance(properties, dict) else {}


def key_in(properties: Mapping[str, JSON]) -> str | None:
    """Return the key that *properties* hold for a service that knows its callers by one."""
    key = next((properties[name] for name in _KEYS if properties.get(name)), None)
    return key if isinstance(key, str) else None
