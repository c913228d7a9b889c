"""Credentials by OAuth2: a client of OpenID Connect in properties is the `auth` of the functions that need its tokens.

The name of the client is that of the security scheme in the document of a function.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from swf_temporal.base.function_types import operation_type
from swf_temporal.languages.serverless_workflow.upgrading.sonataflow.functions import called_by
from swf_temporal.languages.serverless_workflow.upgrading.trees import Tree, UpgradeReport, children, free_name, name_of
from swf_temporal.text.fetching.resources import is_web
from swf_temporal.text.origin import Fetch, ResourceError
from swf_temporal.text.parsing import read_data
from swf_temporal.text.properties import CREDENTIAL, client_of, document_of, named_in, resolved, spelled, strategy_of
from swf_temporal.text.round_trip import add

_CLIENT: Final = re.compile(r'quarkus\.oidc-client\.("[^"]+"|[\w-]+)\.([\w.-]+)')
_OF_ALL: Final = frozenset({"credentials", "grant", "grant-options", "headers", "jwt", "proxy", "tls"})
"""The replacement of a name in the properties of the client that has none."""
_SECRET: Final = "credentials.secret"  # noqa: S105 - the name of a property
_VALUE: Final = "credentials.client-secret.value"
_METHOD: Final = "credentials.client-secret.method"
_SIGNING: Final = "credentials.jwt.secret"
_USER: Final = "grant-options.password.username"
_PASSWORD: Final = "grant-options.password.password"  # noqa: S105 - the name of a property
_METHODS: Final = {"basic": "client_secret_basic", "post": "client_secret_post", "post-jwt": "client_secret_jwt"}
_GRANTS: Final = {"client": "client_credentials", "password": "password"}
_KNOWN: Final = frozenset({
    "auth-server-url", "client-enabled", "client-id", "discovery-enabled", "grant.type", "scopes", "token-path",
    _METHOD, _PASSWORD, _SECRET, _SIGNING, _USER, _VALUE,
})  # fmt: skip
_ELSEWHERE: Final = re.compile(r"(?:tls|proxy)\..*|(?:early|connection|refresh-token|access-token|max-pool|follow).*")
"""The properties that do not say how a token is obtained, which have their own findings."""
_BY_TOKEN: Final = frozenset({"oauth2", "openidconnect"})
_BY_OTHERS: Final = frozenset({"apikey", "basic"})
"""Kinds of schemes for which an auth with tokens has nothing."""
_PLAIN: Final = re.compile(r"[A-Za-z_]\w*")


@dataclass(slots=True)
class Tokens:
    """The properties that became an auth."""

    properties: list[str] = field(default_factory=list)
    secrets: dict[tuple[str, ...], str] = field(default_factory=dict)
    """The properties that are secrets, by the paths of these."""


class _UnclearError(Exception):
    """The properties of a client do not say how its tokens are got. The text says why."""


@dataclass(frozen=True, slots=True)
class _Client:
    name: str
    secret: str
    """The name of its secret."""
    options: Mapping[str, str]
    """Its properties, by the ends of their names."""
    properties: Mapping[str, str]

    def auth(self, made: Tokens) -> Tree:
        """Return the scheme and the properties of its auth, and note in *made* what they are made of."""
        unknown = sorted(one for one in self.options if one not in _KNOWN and not _ELSEWHERE.fullmatch(one))
        if unknown:
            raise _UnclearError(f"{self.options[unknown[0]]} has no counterpart")
        grant = _GRANTS.get(self._said("grant.type", "client"))
        if grant is None or self._said("client-enabled", "true") != "true":
            raise _UnclearError(f"{self.options['client-enabled' if grant else 'grant.type']} has no counterpart")
        found: Tree = {**self._authority(made), "grant": grant, "client": self._client(grant, made)}
        if grant == "password":
            found["username"] = self._text(_USER, "username", made)
            found["password"] = self._text(_PASSWORD, "password", made, is_secret=True)
        scopes = [one for one in re.split(r"[\s,]+", self._said("scopes")) if one]
        if any("${" in one for one in scopes):
            raise _UnclearError(f"{self.options['scopes']} names what is not among the properties")
        if scopes:
            found["scopes"] = scopes
        made.properties += (key for option, key in self.options.items() if option in _KNOWN)
        return {"scheme": "oauth2" if "endpoints" in found else "oidc", "properties": found}

    def _authority(self, made: Tokens) -> Tree:
        if "token-path" in self.options:
            where = "auth-server-url" if "auth-server-url" in self.options else "token-path"
            path = self._text("token-path", "tokenPath", made)
            return {"authority": self._text(where, "authority", made), "endpoints": {"token": path}}
        if self._said("discovery-enabled", "true") != "true":
            raise _UnclearError("no token-path is among the properties")
        return {"authority": self._text("auth-server-url", "authority", made)}

    def _client(self, grant: str, made: Tokens) -> Tree:
        found: Tree = {"id": self._text("client-id", "clientId", made)}
        option = next((one for one in (_SECRET, _VALUE, _SIGNING) if one in self.options), None)
        said = "post-jwt" if option == _SIGNING else self._said(_METHOD, "basic")
        if said not in _METHODS:
            raise _UnclearError(f"{self.options[_METHOD]} has no counterpart")
        if option is not None:
            found["secret"] = self._text(option, "clientSecret", made, is_secret=True)
        elif grant != "password":
            raise _UnclearError("no secret of the client is among the properties")
        found["authentication"] = "none" if option is None else _METHODS[said]
        return found

    def _said(self, option: str, default: str = "") -> str:
        key = self.options.get(option)
        return default if key is None else resolved(self.properties[key], self.properties).strip()

    def _text(self, option: str, name: str, made: Tokens, *, is_secret: bool = False) -> str:
        """Return the value of an option. A secret, or what only the environment knows, is *name* of the secret."""
        value = self._said(option)
        if not value:
            raise _UnclearError(f"{option} is not among the properties")
        if not is_secret and "${" not in value and "@" not in value.partition("//")[2]:
            return value
        made.secrets[self.secret, name] = self.options[option]
        place = f".{self.secret}" if _PLAIN.fullmatch(self.secret) else f'["{self.secret}"]'
        return f"${{ $SECRETS{place}.{name} }}"


def authenticate(
    root: Tree, report: UpgradeReport, properties: Mapping[str, str], fetch: Fetch, application: str = ""
) -> Tokens:
    """Give each function whose document asks for tokens of a client in *properties* an auth that gets them.

    *fetch* returns the documents. With *application*, the names of secrets begin with it.
    """
    clients, made = _clients(properties, application), Tokens()
    auths = root.get("auth", [])
    named: dict[str, str | None] = {}
    """The names of the auths, by clients; None if there can be none."""
    for function in children(root, "functions") if clients and isinstance(auths, list) else ():
        document = None if "authRef" in function else document_of(called_by(function))
        if document is None:
            continue
        who = f"function {function.get('name')!r}"
        hint = "write an auth of the scheme oidc or oauth2, and its name as authRef of the function"
        content = _content(document, fetch)
        if content is None:
            which = ", ".join(repr(one.name) for one in clients.values())
            message = f"{who}: its document cannot be read here, and may ask for tokens of {which}"
            report.inexpressible(message, function, hint)
            continue
        schemes = dict(_schemes(function, content))
        asked = [one for one, kind in schemes.items() if kind in _BY_TOKEN and spelled(one) in clients]
        if not asked or _is_passed_on(function, asked[0], properties, application):
            continue
        client = clients[spelled(asked[0])]
        others = [one for one, kind in schemes.items() if kind not in _BY_OTHERS and one != asked[0]]
        if others:
            message = f"{who}: its document asks for {asked[0]!r} and {others[0]!r}, and an auth would be for both"
            report.inexpressible(message, function, hint)
            continue
        if client.name not in named:
            found = Tokens()
            try:
                auth = client.auth(found)
            except _UnclearError as unclear:
                named[client.name] = None
                report.inexpressible(f"{who}: the tokens of {client.name!r}: {unclear}", function, hint)
                continue
            name = named[client.name] = free_name(client.name, {name_of(one) for one in children(root, "auth")})
            if "auth" not in root:
                add(root, "auth", auths, "functions")
            root["auth"].append({"name": name, **auth})
            made.properties += found.properties
            made.secrets |= found.secrets
        own = named[client.name]
        if own is not None:
            add(function, "authRef", own, "operation")
            report.reshaped(f"{who}: its tokens are those of the auth {own!r}", function)
    return made


def _clients(properties: Mapping[str, str], application: str) -> dict[str, _Client]:
    """Return the clients that have names, by these as they are spelled in properties."""
    options: dict[str, dict[str, str]] = {}
    for key in properties:
        found = _CLIENT.fullmatch(key)
        if found is not None and found[1] not in _OF_ALL:
            options.setdefault(found[1].strip('"'), {})[found[2]] = key
    return {
        spelled(name): _Client(name, named_in(application, name) if application else name, own, properties)
        for name, own in options.items()
    }


def _is_passed_on(function: Tree, scheme: str, properties: Mapping[str, str], application: str) -> bool:
    """Return True if calls of *function* send the token of the caller instead."""
    client = client_of(called_by(function), strategy_of(properties), application)
    for key, value in properties.items():
        said = CREDENTIAL.fullmatch(key)
        if client is None or said is None or said[3] != "token-propagation":
            continue
        is_of_scheme = spelled(said[2].strip('"')) == spelled(scheme)
        if is_of_scheme and client.owner_under(said[1].strip('"')) and resolved(value, properties).strip() == "true":
            return True
    return False


def _content(document: str, fetch: Fetch) -> Any:
    """Return what is in a document of the project; None if that cannot be read."""
    if is_web(document):  # what is read does not depend on the network
        return None
    with suppress(ResourceError, ValueError):
        return read_data(fetch(document).content.decode("utf-8-sig", "replace"))
    return None


def _schemes(function: Tree, content: Any) -> Iterator[tuple[str, str]]:
    """Yield the security schemes that the operation of *function* names in its document, each with its kind."""
    call = called_by(function)
    kind = operation_type(call.type)
    wanted = None if kind is None else kind.named(call.operation).get("operationId")
    paths = _within(content, "paths")
    operations = (one for path in paths for one in _within(paths, path).values() if isinstance(one, dict))
    operation = next((one for one in operations if one.get("operationId") == wanted), None)
    if operation is None:
        return
    declared = _within(content, "securityDefinitions") or _within(_within(content, "components"), "securitySchemes")
    asked = operation.get("security", content.get("security"))
    for alternative in asked if isinstance(asked, list) else ():
        for name in alternative if isinstance(alternative, dict) else ():
            scheme = _within(declared, name)
            said = str(scheme.get("type")).lower()
            yield name, str(scheme.get("scheme")).lower() if said == "http" else said


def _within(node: Any, key: str) -> dict[str, Any]:
    """Return the object under *key* of *node*; an empty one if there is none."""
    found = node.get(key) if isinstance(node, dict) else None
    return found if isinstance(found, dict) else {}
