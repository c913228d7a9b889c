"""The grant by which an auth definition of the scheme oauth2 or oidc gets its token.

It is described in one of two forms, that of Serverless Workflow 0.8 (`grantType`, `clientId`; section "OAuth2
Properties Definition") or that of DSL 1.0 (`grant`, `client: {id}`; section "OAUTH2 Authentication").
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import permanent_failure
from swf_temporal.text.suggestions import suggestion

OAUTH2: Final = "oauth2"
OIDC: Final = "oidc"
TOKEN_SCHEMES: Final = frozenset({OAUTH2, OIDC})
"""The schemes whose token is fetched before a call."""

BASIC: Final = "client_secret_basic"
POST: Final = "client_secret_post"
SECRET_JWT: Final = "client_secret_jwt"  # noqa: S105 - the name of a method
PRIVATE_KEY_JWT: Final = "private_key_jwt"
NONE: Final = "none"
_METHODS = (POST, BASIC, SECRET_JWT, PRIVATE_KEY_JWT, NONE)
_JSON = "application/json"
_ENCODINGS = ("application/x-www-form-urlencoded", _JSON)
"""The values of properties of DSL 1.0, the default first."""

_CODE = "authorization_code"
REFRESH: Final = "refresh_token"
_CLIENT = "client_credentials"
_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
_TOKEN_TYPE = "urn:ietf:params:oauth:token-type:"  # noqa: S105 - the prefix of token types
_TOKEN_PATH = "/oauth2/token"  # noqa: S105 - a path
_KINDS = {
    "password": "password",
    "resourceOwner": "password",
    "clientCredentials": _CLIENT,
    "tokenExchange": _EXCHANGE,
}
_STANDARD_KINDS = {kind: kind for kind in (_CODE, _CLIENT, "password", REFRESH, _EXCHANGE)}
_NEEDS = {
    _CLIENT: (),
    "password": ("username", "password"),
    _EXCHANGE: ("subjectToken",),
    REFRESH: ("subjectToken",),
    _CODE: ("subjectToken",),
}
_SENT = {
    _CLIENT: {},
    "password": {"username": "username", "password": "password"},
    _EXCHANGE: {
        "subjectToken": "subject_token",
        "subjectTokenType": "subject_token_type",
        "actorToken": "actor_token",
        "actorTokenType": "actor_token_type",
        "requestedSubject": "requested_subject",
        "requestedIssuer": "requested_issuer",
        "requestedTokenType": "requested_token_type",
    },
    REFRESH: {"subjectToken": "refresh_token"},
    _CODE: {"subjectToken": "code", "redirectUri": "redirect_uri", "codeVerifier": "code_verifier"},
}
"""The properties that each grant sends unchanged, with their names in the request."""
_SECRET_FIELDS = frozenset({"password", "subject_token", "actor_token", "refresh_token", "code", "code_verifier"})

_NESTED = {
    "clientId": ("client", "id"),
    "clientSecret": ("client", "secret"),
    "clientAssertion": ("client", "assertion"),
    "clientAuthentication": ("client", "authentication"),
    "encoding": ("request", "encoding"),
    "tokenPath": ("endpoints", "token"),
    "subjectToken": ("subject", "token"),
    "subjectTokenType": ("subject", "type"),
    "actorToken": ("actor", "token"),
    "actorTokenType": ("actor", "type"),
}
"""The properties of DSL 1.0 that are within others, by the names that they have here."""


@dataclass(frozen=True, slots=True)
class Grant:
    """Everything that a token depends on: calls with equal grants share a token."""

    auth: str
    """The name of the auth definition, for messages."""
    authority: str
    kind: str
    """The grant type in the request."""
    client_id: str
    client_secret: str = field(default="", repr=False)
    scopes: tuple[str, ...] = ()
    others: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    is_endpoint: bool = False
    """Whether the authority is known to be the URL of the token endpoint."""
    needs_endpoint: bool = False
    """Whether a description of the authority has to name the token endpoint; without one, the authority is it."""
    method: str = ""
    """How the client authenticates; if it is empty, as the authority's description says, by default in a header."""
    assertion: str = field(default="", repr=False)
    """The JWT by which the client authenticates, or the private key to sign one with, if either is given."""
    as_json: bool = False
    """Whether the request is JSON, and not a form."""
    issuers: tuple[str, ...] = ()
    """The acceptable issuers of a token that is a JWT; if it is empty, every issuer is accepted."""

    @property
    def secrets(self) -> list[JSON]:
        """The secrets sent to the token server, which are never shown."""
        return [self.client_secret, self.assertion, *(value for name, value in self.others if name in _SECRET_FIELDS)]

    @property
    def is_renewed(self) -> bool:
        """Whether the next token is got with a refresh token from the last answer: what is sent first may work once."""
        return self.kind in {REFRESH, _CODE}


def read_grant(auth: str, properties: Mapping[str, JSON], scheme: str = OAUTH2) -> Grant:
    """Return the grant described by the *properties* of an auth definition of *scheme*, with secrets filled in.

    `tokenEndpoint` is added to them from an OpenAPI document. Raises CallFailed if properties are missing.
    """
    is_nested = "grantType" not in properties and ("grant" in properties or scheme == OIDC)
    named, kinds = ("grant", _STANDARD_KINDS) if is_nested else ("grantType", _KINDS)
    grant_type = properties.get(named)
    if not isinstance(grant_type, str) or grant_type not in kinds:
        message = f"auth '{auth}': the {named} {grant_type!r} is not one of {', '.join(sorted(kinds))}"
        raise permanent_failure("BadAuth", message + suggestion(str(grant_type), kinds))
    kind = kinds[grant_type]
    if is_nested:
        properties = _flat(properties)
    method = _one_of(auth, properties, "clientAuthentication", _METHODS) if is_nested else ""
    authority = _text(properties, "authority").strip()
    endpoint = _text(properties, "tokenEndpoint").strip()
    if is_nested and scheme == OAUTH2 and authority:
        endpoint = endpoint or _beneath(authority, _text(properties, "tokenPath") or _TOKEN_PATH)
    needed = (*_needs_of_client(properties, kind, method), *_NEEDS[kind])
    lacking = [name for name in needed if not _text(properties, name)]
    if not (authority or endpoint):
        lacking.append("authority")
    if lacking:
        shown = ".".join(_NESTED[lacking[0]]) if is_nested and lacking[0] in _NESTED else lacking[0]
        raise permanent_failure(
            "BadAuth", f"auth '{auth}' of scheme '{scheme}' lacks '{shown}', which {grant_type} needs"
        )
    return Grant(
        auth=auth,
        authority=endpoint or authority,
        kind=kind,
        client_id=_text(properties, "clientId"),
        client_secret="" if method == NONE else _text(properties, "clientSecret"),
        scopes=tuple(_texts(properties, "scopes")),
        others=(*_sent(kind, properties), *(("audience", audience) for audience in _texts(properties, "audiences"))),
        is_endpoint=bool(endpoint),
        needs_endpoint=scheme == OIDC,
        method=method,
        assertion=_text(properties, "clientAssertion"),
        as_json=is_nested and _one_of(auth, properties, "encoding", _ENCODINGS) == _JSON,
        issuers=tuple(_texts(properties, "issuers")),
    )


def _flat(properties: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return the properties of DSL 1.0 with those within others under their names here."""
    flat = dict(properties)
    for name, (holder, inner) in _NESTED.items():
        held = properties.get(holder)
        if isinstance(held, dict) and held.get(inner) is not None:
            flat[name] = held[inner]
    return flat


def _one_of(auth: str, properties: Mapping[str, JSON], name: str, known: Sequence[str]) -> str:
    """Return the property *name* of DSL 1.0, by default the first of the *known* values. Raises CallFailed."""
    value = properties.get(name, known[0])
    if isinstance(value, str) and value in known:
        return value
    message = f"auth '{auth}': the {'.'.join(_NESTED[name])} {value!r} is not one of {', '.join(known)}"
    raise permanent_failure("BadAuth", message + suggestion(str(value), known))


def _needs_of_client(properties: Mapping[str, JSON], kind: str, method: str) -> Iterable[str]:
    """Yield the properties that a client needs to authenticate by *method*."""
    if method != NONE:
        yield "clientId"
    if method == PRIVATE_KEY_JWT:
        yield "clientAssertion"
    elif method == SECRET_JWT:
        yield "clientAssertion" if _text(properties, "clientAssertion") else "clientSecret"
    elif method == BASIC or (kind == _CLIENT and method != NONE):
        yield "clientSecret"


def _beneath(authority: str, path: str) -> str:
    """Return the URL of the endpoint at *path* of an authority, which may be below a path itself."""
    is_whole = path.lower().startswith(("http://", "https://"))
    return path if is_whole else f"{authority.rstrip('/')}/{path.lstrip('/')}"


def _sent(kind: str, properties: Mapping[str, JSON]) -> Iterable[tuple[str, str]]:
    """Yield the request parameters specific to a grant."""
    if kind == _EXCHANGE:
        properties = {"subjectTokenType": "access_token", **properties}
        if _text(properties, "actorToken"):
            properties = {"actorTokenType": "access_token", **properties}
    for name, wire in _SENT[kind].items():
        value = _text(properties, name)
        if value:
            # The usual token types have short names, which are the ends of the full ones.
            yield wire, _TOKEN_TYPE + value if name.endswith("TokenType") and ":" not in value else value


def _text(properties: Mapping[str, JSON], name: str) -> str:
    value = properties.get(name)
    return value if isinstance(value, str) else ""


def _texts(properties: Mapping[str, JSON], name: str) -> Iterable[str]:
    value = properties.get(name)
    values = value.split() if isinstance(value, str) else value if isinstance(value, list) else []
    return [item for item in values if isinstance(item, str)]
