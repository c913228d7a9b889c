"""The grant by which an auth definition of the scheme oauth2 gets its token. Section "OAuth2 Properties Definition"."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import permanent_failure
from swf_temporal.text.suggestions import suggestion

_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
_TOKEN_TYPE = "urn:ietf:params:oauth:token-type:"  # noqa: S105 - the prefix of token types
_KINDS = {
    "password": "password",
    "resourceOwner": "password",
    "clientCredentials": "client_credentials",
    "tokenExchange": _EXCHANGE,
}
_NEEDS = {
    "client_credentials": ("clientSecret",),
    "password": ("username", "password"),
    _EXCHANGE: ("subjectToken",),
}
_SENT = {
    "client_credentials": {},
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
}
"""The properties that each grant sends unchanged, with their names in the request."""
_SECRET_FIELDS = frozenset({"password", "subject_token", "actor_token"})


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

    @property
    def secrets(self) -> list[JSON]:
        """The secrets sent to the token server, which are never shown."""
        return [self.client_secret, *(value for name, value in self.others if name in _SECRET_FIELDS)]


def read_grant(auth: str, properties: Mapping[str, JSON]) -> Grant:
    """Return the grant described by the OAuth2 *properties* of an auth definition, with secrets filled in.

    `tokenEndpoint` is added to them from an OpenAPI document. Raises CallFailed if properties are missing.
    """
    grant_type = properties.get("grantType")
    if not isinstance(grant_type, str) or grant_type not in _KINDS:
        message = f"auth '{auth}': the grantType {grant_type!r} is not one of {', '.join(sorted(_KINDS))}"
        raise permanent_failure("BadAuth", message + suggestion(str(grant_type), _KINDS))
    kind = _KINDS[grant_type]
    endpoint = _text(properties, "tokenEndpoint").strip()
    authority = endpoint or _text(properties, "authority").strip()
    lacking = [name for name in ("clientId", *_NEEDS[kind]) if not _text(properties, name)]
    if not authority:
        lacking.append("authority")
    if lacking:
        raise permanent_failure(
            "BadAuth", f"auth '{auth}' of scheme 'oauth2' lacks '{lacking[0]}', which {grant_type} needs"
        )
    return Grant(
        auth=auth,
        authority=authority,
        kind=kind,
        client_id=_text(properties, "clientId"),
        client_secret=_text(properties, "clientSecret"),
        scopes=tuple(_texts(properties, "scopes")),
        others=(*_sent(kind, properties), *(("audience", audience) for audience in _texts(properties, "audiences"))),
        is_endpoint=bool(endpoint),
    )


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
