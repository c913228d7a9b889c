"""The credentials that an AsyncAPI document asks for, in the form that brokers take."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from swf_temporal.base.calls import Auth
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import permanent_failure
from swf_temporal.events.brokers.port import Credentials
from swf_temporal.functions.asyncapi.parts import Possibilities
from swf_temporal.functions.auth.auth import (
    Credential,
    credential_for,
    find_auth,
    key_in,
    matching,
    properties_of,
    secret_of,
)
from swf_temporal.functions.call import Call

_MECHANISMS = {
    "userPassword": None,
    "plain": "PLAIN",
    "scramSha256": "SCRAM-SHA-256",
    "scramSha512": "SCRAM-SHA-512",
}
"""The schemes that ask for a name and a password, with their SASL mechanisms."""
_BEYOND = frozenset({"gssapi", "symmetricEncryption", "asymmetricEncryption"})
_CERTIFICATE = Credential("certificate", "", "")
"""Represents the client certificate in the operator's settings for TLS."""


@dataclass(frozen=True, slots=True)
class Authentication:
    """The credentials of a call, as far as they are known before tokens are fetched."""

    call: Call
    """The call with the auths that `auths` names."""
    auths: tuple[str, ...] = ()
    credentials: tuple[Credential, ...] = ()
    mechanism: str | None = None


def authenticate(document: str, demands: Sequence[Possibilities], call: Call) -> Authentication:
    """Return the credentials of *call*, for one alternative of each of *demands*.

    The credentials are those of the auth that the function names, or else of the secret of the scheme. Without either,
    none are sent, and the server decides; if the document requires nothing, the function's auth is used as it is.
    Raises CallFailed if the auth lacks what the document asks for.
    """
    references = call.function.auth_ref
    named = find_auth(references.invocation, call) if references and references.invocation else None
    if not any(demands):
        return Authentication(call, (named.name,) if named else ())
    auths: list[Auth] = []
    found: list[Credential] = []
    mechanism: str | None = None
    for possibilities in filter(None, demands):
        chosen = _first(document, possibilities, named, call)
        for scheme, offered in chosen:
            if isinstance(offered, Auth):
                auths.append(offered)
                mechanism = _MECHANISMS.get(str(scheme.get("type"))) or mechanism
            elif offered is not _CERTIFICATE:
                found.append(offered)
    names = tuple(auth.name for auth in auths)
    return Authentication(replace(call, auth=(*auths, *call.auth)), names, tuple(found), mechanism)


def broker_credentials(authentication: Authentication, call: Call, *, by_http: bool) -> Credentials:
    """Return *authentication* as a broker takes it; *call* has tokens for its auths.

    *by_http* is for protocols that begin with an HTTP request.
    """
    found = Credentials(mechanism=authentication.mechanism)
    headers: list[tuple[str, str]] = []
    for one in authentication.credentials:
        if one.where == "user":
            found = replace(found, username=one.value)
        elif one.where == "password":
            found = replace(found, password=one.value)
        elif one.where == "header":
            headers.append((one.name, one.value))
        elif one.where == "cookie":
            headers.append(("Cookie", f"{one.name}={quote(one.value, safe='')}"))
    for name in authentication.auths:
        properties = properties_of(find_auth(name, call), call)
        of_auth = credential_for(name, call) if by_http else None
        if of_auth is not None:
            headers.append((of_auth.name, of_auth.value))
        found = replace(
            found,
            username=found.username or _text(properties.get("username")),
            password=found.password or _text(properties.get("password")),
            token=found.token or _text(properties.get("token")),
        )
    return replace(found, headers=tuple(headers))


def _first(
    document: str, possibilities: Possibilities, named: Auth | None, call: Call
) -> list[tuple[dict[str, Any], Auth | Credential]]:
    """Return the credentials for the first alternative that has some."""
    for possibility in filter(None, possibilities):
        found = [
            (scheme, offered)
            for name, (scheme, scopes) in possibility.items()
            if (offered := _offered(scheme, name, scopes, named, call)) is not None
        ]
        if len(found) == len(possibility):
            return found
    if not all(possibilities):
        return []
    kinds = {str(scheme.get("type")) for possibility in possibilities for scheme, _ in possibility.values()}
    if kinds <= _BEYOND:
        message = f"the document '{document}' asks for security of type '{min(kinds)}', which is not supported here"
        raise permanent_failure("Unsupported", message)
    if named is None:
        return []
    wanted = " or ".join(" and ".join(f"'{name}'" for name in possibility) for possibility in possibilities)
    message = f"the document '{document}' asks for {wanted}, and auth '{named.name}' has no credentials for that"
    raise permanent_failure("BadAuth", message)


def _offered(
    scheme: dict[str, Any], name: str, scopes: list[JSON], named: Auth | None, call: Call
) -> Auth | Credential | None:
    kind = str(scheme.get("type"))
    if kind == "X509":
        return _CERTIFICATE
    if kind in _BEYOND:
        return None
    for auth in (named, secret_of(name, call)):
        if auth is None:
            continue
        properties = properties_of(auth, call)
        if kind in _MECHANISMS:
            offered: Auth | Credential | None = matching({"type": "http", "scheme": "basic"}, [], "", auth, properties)
        elif kind == "apiKey":
            key = key_in(properties)
            offered = None if key is None else Credential(str(scheme.get("in")), "", key)
        else:
            known = {**scheme, "type": "apiKey"} if kind == "httpApiKey" else scheme
            offered = matching(known, scopes, "", auth, properties)
        if offered is not None:
            return offered
    return None


def _text(value: JSON) -> str | None:
    return value if isinstance(value, str) else None
