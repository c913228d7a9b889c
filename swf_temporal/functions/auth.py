"""How does a function prove who is calling? Section "Auth Definition"."""

import base64
import re

from swf_temporal.data import JSON
from swf_temporal.functions.call import Call, did_you_mean, refusal
from swf_temporal.model.definitions import Auth

_SECRET = re.compile(r"\$\{\s*\$SECRETS((?:\.[\w-]+)+)\s*\}")


def headers_for(name: str | None, call: Call) -> tuple[tuple[str, str], ...]:
    """Return the headers that carry the credentials of the definition's auth *name*; none for None.

    Raises CallFailed if the definition has no such auth, or if it or its secrets lack what its scheme needs.
    """
    if name is None:
        return ()
    for auth in call.auth:
        if auth.name == name:
            return _headers(auth, call)
    message = f"function '{call.function.name}' refers to auth '{name}', which is not defined"
    raise refusal("BadAuth", message + did_you_mean(name, (auth.name for auth in call.auth)))


def _headers(auth: Auth, call: Call) -> tuple[tuple[str, str], ...]:
    if auth.scheme == "basic":
        credentials = f"{_property(auth, call, 'username')}:{_property(auth, call, 'password')}"
        return (("Authorization", f"Basic {base64.b64encode(credentials.encode()).decode('ascii')}"),)
    if auth.scheme == "bearer":
        return (("Authorization", f"Bearer {_property(auth, call, 'token')}"),)
    message = f"auth '{auth.name}': the scheme '{auth.scheme}' (section “Auth Definition”) is not carried out here"
    raise refusal("Unsupported", message)


def _property(auth: Auth, call: Call, name: str) -> str:
    properties = auth.properties
    if isinstance(properties, str):
        properties = _secret(auth, call, [properties])
    value: JSON = properties.get(name) if isinstance(properties, dict) else None
    if isinstance(value, str) and (match := _SECRET.fullmatch(value.strip())):
        value = _secret(auth, call, match[1].split(".")[1:])
    if not isinstance(value, str) or not value:
        raise refusal("BadAuth", f"auth '{auth.name}' of scheme '{auth.scheme}' lacks '{name}'")
    return value


def _secret(auth: Auth, call: Call, path: list[str]) -> JSON:
    value: JSON = dict(call.secrets)
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    if value is None:
        raise refusal("NoSecret", f"auth '{auth.name}' needs the secret '{'.'.join(path)}', which is not known here")
    return value
