"""The credentials of an auth for a security scheme that a document declares."""

from collections.abc import Mapping
from typing import Any, Final

from swf_temporal.base.calls import Auth
from swf_temporal.base.data import JSON
from swf_temporal.base.function_types import environment_name, secrets_for
from swf_temporal.functions.auth.auth import Credential, ResolvedAuth, key_in
from swf_temporal.functions.auth.grants import TOKEN_SCHEMES
from swf_temporal.functions.call import Call
from swf_temporal.functions.urls import join_url

_FLOWS = {"clientCredentials": ("clientCredentials", "application"), "password": ("password",)}
"""The grant types that documents declare, with the names of their flows in versions 3 and 2.0."""
_GRANTS = {"resourceOwner": "password"}
_TOKENS: Final[Mapping[str, tuple[str, ...]]] = dict.fromkeys(TOKEN_SCHEMES, ())


def secret_of(scheme: str, call: Call) -> Auth | None:
    """Return the credentials in the secret of a scheme: the called service's, or else the general one."""
    known = {environment_name(name): name for name in call.secrets}
    wanted = map(environment_name, secrets_for(scheme, call.callee))
    name = next((known[each] for each in wanted if each in known), None)
    if name is None:
        return None
    value = call.secrets[name]
    if isinstance(value, str):
        return ResolvedAuth(name=name, scheme="bearer", properties={"token": value})
    if isinstance(value, dict):
        return ResolvedAuth(name=name, scheme="oauth2" if "clientId" in value else "bearer", properties=value)
    return None


def matching(
    scheme: dict[str, Any], scopes: list[JSON], server: str, auth: Auth, properties: Mapping[str, JSON]
) -> Auth | Credential | None:
    """Return the credentials of *auth* for *scheme*; its own authentication for an unknown scheme."""
    kind = str(scheme.get("type"))
    if kind == "http":
        kind = str(scheme.get("scheme")).lower()
    token = properties.get("token")
    if kind == "apiKey":
        if _is_authorization(scheme) and _has_its_own(auth, properties):
            return auth
        key = key_in(properties)
        return None if key is None else Credential(str(scheme.get("in")), str(scheme.get("name")), key)
    if kind == "basic":
        both = {name: properties.get(name) for name in ("username", "password")}
        return ResolvedAuth(name=auth.name, scheme="basic", properties=both) if all(both.values()) else None
    if kind == "oauth2" and "clientId" in properties and (flow := _flow(scheme, properties)):
        grant_type, endpoint = flow
        asked = {"grantType": grant_type, "tokenEndpoint": join_url(server, endpoint)}
        return ResolvedAuth(name=auth.name, scheme="oauth2", properties={"scopes": scopes, **properties, **asked})
    if kind in {"oauth2", "bearer"} and auth.scheme not in TOKEN_SCHEMES:
        return ResolvedAuth(name=auth.name, scheme="bearer", properties={"token": token}) if token else None
    return auth


def _is_authorization(scheme: Mapping[str, Any]) -> bool:
    """Return whether the key is sent as `Authorization`: version 2.0 has no other way to ask for a token."""
    return scheme.get("in") == "header" and str(scheme.get("name")).lower() == "authorization"


def _has_its_own(auth: Auth, properties: Mapping[str, JSON]) -> bool:
    """Return whether *auth* has its own form of that header, instead of its whole value."""
    if isinstance(auth, ResolvedAuth) or properties.get("apiKey") or properties.get("key"):
        return False
    needed = {
        "basic": ("username", "password"),
        "digest": ("username", "password"),
        "bearer": ("token",),
        **_TOKENS,
    }.get(auth.scheme)
    return needed is not None and all(properties.get(name) for name in needed)


def _flow(scheme: dict[str, Any], properties: Mapping[str, JSON]) -> tuple[str, str] | None:
    """Return the grant type and the token URL of the flow that suits *properties*."""
    flows = scheme.get("flows") or {scheme.get("flow"): scheme}
    wanted = str(properties.get("grantType") or "")
    for grant_type, names in _FLOWS.items():
        if wanted and _GRANTS.get(wanted, wanted) != grant_type:
            continue
        for name in names:
            endpoint = (flows.get(name) or {}).get("tokenUrl")
            if isinstance(endpoint, str):
                return grant_type, endpoint
    return None
