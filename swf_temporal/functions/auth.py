"""How does a function prove who is calling? Section "Auth Definition"."""

import base64
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from swf_temporal.data import JSON
from swf_temporal.errors import CallFailed
from swf_temporal.functions.call import Call, did_you_mean, refusal
from swf_temporal.functions.oauth2 import Tokens, read_grant
from swf_temporal.model.definitions import Auth

_SECRET = re.compile(r"\$\{\s*\$SECRETS((?:\.[\w-]+)+)\s*\}")
_UNAUTHORIZED = 401
_Answer = TypeVar("_Answer")


def headers_for(name: str | None, call: Call) -> tuple[tuple[str, str], ...]:
    """Return the headers that carry the credentials of the definition's auth *name*; none for None.

    Those of the scheme oauth2 must have been exchanged, see `with_tokens`. Raises CallFailed if the definition
    has no such auth, or if it or its secrets lack what its scheme needs.
    """
    return () if name is None else _headers(find_auth(name, call), call)


async def with_tokens(
    names: Iterable[str | None], call: Call, tokens: Tokens, perform: Callable[[Call], Awaitable[_Answer]]
) -> _Answer:
    """Return what *perform* does with *call*, whose auths *names* bear tokens where their scheme is oauth2.

    If the service refuses them, which it may before they expire, it is asked once more with new ones.
    """
    auths = [find_auth(name, call) for name in dict.fromkeys(names) if name is not None]
    grants = {auth.name: read_grant(auth.name, properties_of(auth, call)) for auth in auths if auth.scheme == "oauth2"}
    held = {name: await tokens.token(grant) for name, grant in grants.items()}
    try:
        return await perform(_bearing(call, held))
    except CallFailed as fault:
        if fault.status != _UNAUTHORIZED or not held:
            raise
    for name, token in held.items():
        tokens.forget(grants[name], token)
    return await perform(_bearing(call, {name: await tokens.token(grant) for name, grant in grants.items()}))


def find_auth(name: str, call: Call) -> Auth:
    """Return the definition's auth *name*. Raises CallFailed, naming a near one, if there is none."""
    for auth in call.auth:
        if auth.name == name:
            return auth
    message = f"function '{call.function.name}' refers to auth '{name}', which is not defined"
    raise refusal("BadAuth", message + did_you_mean(name, (auth.name for auth in call.auth)))


def properties_of(auth: Auth, call: Call) -> dict[str, JSON]:
    """Return the properties of *auth* with their secrets filled in. Raises CallFailed if one is not known."""
    properties: JSON = auth.properties
    if isinstance(properties, str):
        properties = _secret(auth, call, [properties])
    if not isinstance(properties, dict):
        return {}
    return {name: _filled(auth, call, value) for name, value in properties.items()}


def _bearing(call: Call, held: dict[str, str]) -> Call:
    if not held:
        return call
    return replace(
        call,
        auth=tuple(
            Auth(name=auth.name, scheme="bearer", properties={"token": held[auth.name]}) if auth.name in held else auth
            for auth in call.auth
        ),
    )


def _headers(auth: Auth, call: Call) -> tuple[tuple[str, str], ...]:
    if auth.scheme == "basic":
        credentials = f"{_property(auth, call, 'username')}:{_property(auth, call, 'password')}"
        return (("Authorization", f"Basic {base64.b64encode(credentials.encode()).decode('ascii')}"),)
    if auth.scheme == "bearer":
        return (("Authorization", f"Bearer {_property(auth, call, 'token')}"),)
    message = f"auth '{auth.name}': the scheme '{auth.scheme}' (section “Auth Definition”) is not carried out here"
    raise refusal("Unsupported", message)


def _property(auth: Auth, call: Call, name: str) -> str:
    value = properties_of(auth, call).get(name)
    if not isinstance(value, str) or not value:
        raise refusal("BadAuth", f"auth '{auth.name}' of scheme '{auth.scheme}' lacks '{name}'")
    return value


def _filled(auth: Auth, call: Call, value: JSON) -> JSON:
    if isinstance(value, list):
        return [_filled(auth, call, item) for item in value]
    if isinstance(value, str) and (match := _SECRET.fullmatch(value.strip())):
        return _secret(auth, call, match[1].split(".")[1:])
    return value


def _secret(auth: Auth, call: Call, path: list[str]) -> JSON:
    value: JSON = dict(call.secrets)
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    if value is None:
        raise refusal("NoSecret", f"auth '{auth.name}' needs the secret '{'.'.join(path)}', which is not known here")
    return value
