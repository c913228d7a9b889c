"""The credentials with which a function is called. Section "Auth Definition"."""

import base64
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import quote

from swf_temporal.base.calls import Auth
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.base.function_types import environment_name, secrets_for
from swf_temporal.base.grammar import listed
from swf_temporal.base.importing import origin_of
from swf_temporal.functions.auth.grants import TOKEN_SCHEMES, read_grant
from swf_temporal.functions.call import Call
from swf_temporal.functions.urls import join_url
from swf_temporal.text.suggestions import suggestion

if TYPE_CHECKING:
    from swf_temporal.functions.auth.oauth2 import Tokens

_KEYS: Final = ("apiKey", "key", "token")
_DIGEST: Final = "digest"
_SCHEMES: Final = ("basic", "bearer", _DIGEST, "oauth2", "oidc", "apiKey", "certificate")


class ResolvedAuth(Auth):
    """An auth whose properties are already values: a secret or a token is never evaluated as an expression."""


def properties_of(auth: Auth, call: Call) -> dict[str, JSON]:
    """Return the properties of *auth*. A secret that is only a text is the token, so that it needs no name.

    Raises CallFailed if a secret is unknown, or cannot be filled in.
    """
    properties: JSON = auth.properties if isinstance(auth, ResolvedAuth) else call.fill_auth(auth, call.secrets)
    if isinstance(properties, str):
        return {} if isinstance(auth, ResolvedAuth) else {"token": properties}
    return dict(properties) if isinstance(properties, dict) else {}


def key_in(properties: Mapping[str, JSON]) -> str | None:
    """Return the API key in *properties*."""
    key = next((properties[name] for name in _KEYS if properties.get(name)), None)
    return key if isinstance(key, str) else None


_UNAUTHORIZED = 401
_UNAUTHENTICATED = "UNAUTHENTICATED"
"""The gRPC status name, which many GraphQL services use in an answer with the status 200."""
_PLACES: Final = ("header", "query", "cookie")
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class Credential:
    """A credential in a request, and where it is sent."""

    where: str
    """`header`, `query` or `cookie`."""
    name: str
    value: str = field(repr=False)


def credential_for(name: str | None, call: Call) -> Credential | None:
    """Return the credential for the definition's auth *name*; None for None.

    None also for the scheme certificate: that is shown by the connection, with the operator's TLS settings. Tokens of
    the schemes oauth2 and oidc must have been fetched, see `with_tokens`. Raises CallFailed if the definition has no
    such auth, if it or its secrets lack something that its scheme needs, or for the scheme digest, whose credential
    depends on the request.
    """
    return None if name is None else _credential(find_auth(name, call), call)


def digest_login(name: str | None, call: Call) -> tuple[str, str] | None:
    """Return the user and the password of the definition's auth *name* if its scheme is digest, otherwise None.

    Raises CallFailed as `credential_for` does.
    """
    auth = None if name is None else find_auth(name, call)
    if auth is None or auth.scheme != _DIGEST:
        return None
    properties = properties_of(auth, call)
    _check(auth, properties, "username", "password")
    return str(properties["username"]), str(properties["password"])


def headers_for(name: str | None, call: Call) -> tuple[tuple[str, str], ...]:
    """Return the headers with the credentials of the auth *name*, for requests that only have headers.

    Raises CallFailed as `credential_for` does, and for a credential that is sent in the query.
    """
    credential = credential_for(name, call)
    if credential is None:
        return ()
    if credential.where == "query":
        message = f"auth '{name}' is sent in the query, which does not exist here; send it in a header: 'in: header'"
        raise permanent_failure("BadAuth", message)
    if credential.where == "cookie":
        return (("Cookie", f"{credential.name}={quote(credential.value, safe='')}"),)
    return ((credential.name, credential.value),)


def auth_for_document(call: Call, document: str, service: str | None) -> str | None:
    """Return the name of the auth with which the document at the URL *document* is fetched, if there is one.

    It is the function's `resource`. By default, it is the auth of the call, but only if the document is on the server
    that is called (*service*, if it is known before): credentials are never sent to another server. Documents are not
    fetched by digest authentication.
    """
    references = call.function.auth_ref
    if references is None:
        return None
    if references.resource:
        return references.resource
    if service is None or origin_of(document) != origin_of(service):
        return None
    is_digest = any(auth.name == references.invocation and auth.scheme == _DIGEST for auth in call.auth)
    return None if is_digest else references.invocation


async def with_tokens(
    names: Iterable[str | None], call: Call, tokens: "Tokens", perform: Callable[[Call], Awaitable[_Answer]]
) -> _Answer:
    """Return the result of *perform* for *call*, with tokens for those of its auths *names* whose scheme has them.

    If the service refuses the tokens, which it may before they expire, it is called once more with new ones.
    """
    auths = [find_auth(name, call) for name in dict.fromkeys(names) if name is not None]
    grants = {
        auth.name: read_grant(auth.name, properties_of(auth, call), auth.scheme)
        for auth in auths
        if auth.scheme in TOKEN_SCHEMES
    }
    held = {name: await tokens.token(grant) for name, grant in grants.items()}
    try:
        return await perform(_with_bearer_tokens(call, held))
    except CallFailed as fault:
        if not held or (fault.status != _UNAUTHORIZED and fault.code != _UNAUTHENTICATED):
            raise
    for name, token in held.items():
        tokens.forget(grants[name], token)
    return await perform(_with_bearer_tokens(call, {name: await tokens.token(grant) for name, grant in grants.items()}))


async def with_named_tokens(call: Call, tokens: "Tokens", perform: Callable[[Call], Awaitable[_Answer]]) -> _Answer:
    """Return the result of *perform* for *call*, as `with_tokens` does for all auths that the function names."""
    references = call.function.auth_ref
    return await with_tokens((references.resource, references.invocation) if references else (), call, tokens, perform)


async def reading_document(
    resource: str | None, call: Call, tokens: "Tokens", read: Callable[[Call], Awaitable[_Answer]]
) -> _Answer:
    """Return what *read* finds in a document that is fetched with the auth *resource*, as `with_tokens` does."""
    try:
        return await with_tokens([resource], call, tokens, read)
    except CallFailed as fault:
        # Not the operation's status: a definition's handling of a 404 of the service is not meant for this.
        fault.status = None
        raise


def find_auth(name: str, call: Call) -> Auth:
    """Return the definition's auth *name*. Raises CallFailed, suggesting a similar one, if it is not defined."""
    for auth in call.auth:
        if auth.name == name:
            return auth
    message = f"function '{call.function.name}' refers to auth '{name}', which is not defined"
    raise permanent_failure("BadAuth", message + suggestion(name, (auth.name for auth in call.auth)))


def derived_secrets(call: Call) -> list[JSON]:
    """Return texts derived from the call's secrets for sending; like the secrets, no answer may show them."""
    references = call.function.auth_ref
    found: list[JSON] = [
        _login(secret) for secret in call.secrets.values() if isinstance(secret, dict) and "password" in secret
    ]
    for name in {references.resource, references.invocation} if references else ():
        try:
            credential = credential_for(name, call)
        except CallFailed:
            continue  # cannot be sent, and thus not shown
        if credential is not None:
            found.append(credential.value.removeprefix("Basic ").removeprefix("Bearer "))
    return found


def _with_bearer_tokens(call: Call, held: dict[str, str]) -> Call:
    if not held:
        return call
    return replace(
        call,
        auth=tuple(
            ResolvedAuth(auth.name, "bearer", {"token": held[auth.name]}) if auth.name in held else auth
            for auth in call.auth
        ),
    )


def _credential(auth: Auth, call: Call) -> Credential | None:
    properties = properties_of(auth, call)
    match auth.scheme:
        case "basic":
            _check(auth, properties, "username", "password")
            return Credential("header", "Authorization", f"Basic {_login(properties)}")
        case "bearer":
            _check(auth, properties, "token")
            return Credential("header", "Authorization", f"Bearer {properties['token']}")
        case "apiKey":
            _check(auth, properties, "name")
            return _api_key(auth, properties)
        case "certificate":
            return None
        case "digest":
            message = (
                f"auth '{auth.name}' of scheme 'digest' is for calls over HTTP, not for documents, gRPC or messages"
            )
            raise permanent_failure("BadAuth", message)
    message = f"auth '{auth.name}': the scheme '{auth.scheme}' is not one of {listed(_SCHEMES)}"
    raise permanent_failure("BadAuth", message + suggestion(auth.scheme, _SCHEMES))


def _api_key(auth: Auth, properties: dict[str, JSON]) -> Credential:
    where = properties.get("in", "header")
    if where not in _PLACES:
        raise permanent_failure(
            "BadAuth", f"auth '{auth.name}' is sent in the {where!r}, which is not one of {', '.join(_PLACES)}"
        )
    value = key_in(properties)
    if value is None:
        raise permanent_failure("BadAuth", f"auth '{auth.name}' of scheme 'apiKey' lacks 'key'")
    return Credential(where, str(properties["name"]), value)


def _check(auth: Auth, properties: dict[str, JSON], *names: str) -> None:
    for name in names:
        value = properties.get(name)
        if not isinstance(value, str) or not value:
            state = "lacks" if value is None or value == "" else "has something that is not a text as"
            raise permanent_failure("BadAuth", f"auth '{auth.name}' of scheme '{auth.scheme}' {state} '{name}'")


def _login(properties: dict[str, JSON]) -> str:
    credentials = f"{properties.get('username')}:{properties.get('password')}"
    return base64.b64encode(credentials.encode()).decode("ascii")


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
