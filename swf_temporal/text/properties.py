"""Reads Java properties, as in `application.properties`, and maps the keys of clients in them to our settings.

In properties, the key of a client is the file name of its document, unless a strategy is set or an extension names the
key. Here, the function's metadata `configuredAs` is a name that differs from the file name, and `configKey` chooses,
for each call, among clients whose keys begin with it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal, TypeAlias

from swf_temporal.base.calls import Function
from swf_temporal.base.function_types import CONFIG_KEY, CONFIGURED_AS, environment_name, operation_type, path_of

_BETWEEN_WORDS: Final = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")
_SECRET: Final = re.compile(
    r"\w*(?:password|passwd|passphrase|pwd|secret|token|credential|api_?key|access_?key|private_?key|webhook)s?|"
    r"authorization|bearer|cert|certificate|cookie|hmac|jwt|otp|p12|pass|passcode|pem|pfx|pin|private|salt|seed|session|"
    r"signature|signing|keystore|truststore",
)
_CREDENTIAL: Final = re.compile(
    r"://[^/\s@]+@|(?:password|passwd|pwd|secret|token|key)\s*[=:]|\b(?:bearer|basic)\s|-----BEGIN|"
    r"(?<![A-Za-z0-9])(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9]{20,}",
    re.IGNORECASE,
)
"""Matches a value that is or contains a credential, such as a long run of letters and digits."""


def is_secret(name: str) -> bool:
    """Return True if the property *name* is a secret, judging by its words."""
    words = [one.lower() for one in _BETWEEN_WORDS.split(name)]
    pairs = (f"{one}_{other}" for one, other in pairwise(words))
    return any(_SECRET.fullmatch(one) for one in (*words, *pairs))


def has_credential(value: str) -> bool:
    """Return True if *value* is or contains a credential."""
    return _CREDENTIAL.search(value) is not None


_COMMENT: Final = re.compile(r"[ \t\f]*(?:[#!].*)?")
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_PLACE: Final = re.compile(r"\$\{([^{}:]+)(?::(?!:)([^{}]*))?\}")
_PROFILE: Final = re.compile(r"%([\w,-]+)\.(.+)", re.DOTALL)
_PRODUCTION: Final = "prod"
_MAX_ROUNDS: Final = 10


@dataclass(frozen=True, slots=True)
class PropertiesText:
    """Properties in their own file, or within a manifest."""

    name: str
    """The path of the file, relative to the project."""
    text: str
    line: int = 0
    """The number of lines of the file before the text."""
    is_on_one_line: bool = False
    """Whether the text is quoted in a line of the file, and not a block of lines."""
    profile: str | None = None
    """The only profile that the text applies to, if there is one."""
    application: str | None = None
    """The name of the only application that the text applies to, if there is one."""

    def lines(self) -> dict[str, int]:
        """Return the line of the file in which each property is set, by its name; the last of several counts."""
        if self.is_on_one_line:
            return dict.fromkeys(read_properties(self.text), self.line + 1)
        return {_pair(line)[0]: self.line + number for number, line in _numbered(self.text)}


def read_properties(text: str) -> dict[str, str]:
    """Return the properties that *text* sets, unresolved; the last of several with one name counts."""
    return dict(_pair(line) for _, line in _numbered(text))


def of_production(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties in production: those for it alone, `%prod.NAME`, override those for all profiles."""
    found, own = dict[str, str](), dict[str, str]()
    for name, value in properties.items():
        matched = _PROFILE.fullmatch(name)
        if matched is None:
            found[name] = value
        elif _PRODUCTION in matched[1].split(","):
            own[matched[2]] = value
    return found | own


def in_production(texts: Iterable[PropertiesText]) -> dict[str, str]:
    """Return the properties that *texts* set for production; later ones override earlier ones."""
    found: dict[str, str] = {}
    for one in texts:
        if one.profile in (None, _PRODUCTION):
            found |= of_production(read_properties(one.text))
    return found


def resolved(value: str, properties: Mapping[str, str], is_known: Callable[[str], bool] = lambda _: True) -> str:
    """Return *value* with references to properties, `${name:default}`, resolved; unknown ones stay as they are."""

    def put_in(place: re.Match[str]) -> str:
        default = place[0] if place[2] is None else place[2]
        return properties.get(place[1], default) if is_known(place[1]) else place[0]

    for _ in range(_MAX_ROUNDS):
        put = _PLACE.sub(put_in, value)
        if put == value:
            break
        value = put
    return value


def other_profiles(properties: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the profiles other than production, each with its first property."""
    found: dict[str, str] = {}
    for name in properties:
        matched = _PROFILE.fullmatch(name)
        if matched is not None and _PRODUCTION not in matched[1].split(","):
            found.setdefault(matched[1], name)
    yield from found.items()


def _numbered(text: str) -> Iterator[tuple[int, str]]:
    """Yield the logical lines with their numbers; an odd number of backslashes at the end continues a line."""
    begun, first = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if not begun and _COMMENT.fullmatch(line):
            continue
        first = first or number
        begun += line.lstrip(" \t\f")
        if (len(begun) - len(begun.rstrip("\\"))) % 2:
            begun = begun[:-1]
            continue
        yield first, begun
        begun, first = "", 0
    if begun:
        yield first, begun


def _pair(line: str) -> tuple[str, str]:
    match = re.match(r"((?:\\.|[^\\=: \t\f])*)[ \t\f]*[=:]?[ \t\f]*(.*)", line, re.DOTALL)
    assert match is not None  # noqa: S101 - every part may be empty
    return _plain(match[1]), _plain(match[2]).rstrip()


def _plain(text: str) -> str:
    return _ESCAPE.sub(lambda one: chr(int(one[1][1:], 16)) if len(one[1]) > 1 else _ESCAPED.get(one[1], one[1]), text)


CREDENTIAL: Final = re.compile(r'quarkus\.openapi-generator\.("[^"]+"|[^.]+)\.auth\.("[^"]+"|[^.]+)\.([\w-]+)')
"""A property for the credentials of a client: the client's key, the security scheme, and the field."""
CREDENTIAL_FIELDS: Final = {
    "username": "username",
    "password": "password",
    "bearer-token": "token",
    "api-key": "apiKey",
}
"""The properties of our secrets, by the fields in Java properties."""
DESCRIBED: Final = ("rest", "openapi")
"""The types of functions that are called by clients with a key."""
STRATEGY: Final = re.compile(r"kogito\.sw\.operation[iI]d[sS]trategy")
"""The property for the strategy by which keys are made."""
BY_TITLE: Final = "SPEC_TITLE"
_NOT_A_NAME: Final = re.compile(r"[^A-Za-z0-9]")

Scope: TypeAlias = Literal["services", "functions", "calls", "secrets"]


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of settings here: a service, a function, all calls, or a secret."""

    scope: Scope
    name: str = ""
    choice: str = ""
    """The end of the name, after a dot, if calls choose it."""

    def __str__(self) -> str:
        """Return the owner's name, for findings."""
        return repr(self.name) if self.name else "all calls"

    @property
    def identity(self) -> tuple[str, str]:
        """A key that is the same for owners that settings cannot distinguish."""
        return self.scope, environment_name(self.name)


@dataclass(frozen=True, slots=True)
class Client:
    """The client of a function, and the owner of its settings here."""

    key: str
    """Its key, as spelled in properties."""
    owner: Owner
    is_chosen: bool = False
    """Whether each call chooses one of those whose keys begin with this one and a dot."""

    def owner_under(self, key: str) -> Owner | None:
        """Return the owner of the settings under *key* in properties; None if they are another client's."""
        if not self.is_chosen:
            return self.owner if spelled(key) == self.key else None
        begin, dot, chosen = key.partition(".")
        if not dot or not chosen or spelled(begin) != self.key:
            return None
        return Owner(self.owner.scope, f"{self.owner.name}.{chosen}", chosen)


def spelled(name: str) -> str:
    """Return *name* as spelled in keys: with `_` for characters that are neither letters nor digits."""
    return _NOT_A_NAME.sub("_", name)


def strategy_of(properties: Mapping[str, str]) -> str:
    """Return the strategy that *properties* set for making keys, by default `FILE_NAME`."""
    found = next((value for name, value in properties.items() if STRATEGY.fullmatch(name)), "")
    return found.strip().upper().replace("-", "_") or "FILE_NAME"


def document_of(function: Function) -> str | None:
    """Return the document of the service that *function* calls, if its client has a key."""
    kind = operation_type(function.type)
    return kind.document(function.operation) if function.type in DESCRIBED and kind is not None else None


def name_by(strategy: str, document: str, function: str, workflow: object) -> str | None:
    """Return the name of a service for a *strategy* of making keys; None if it is the file of its document."""
    if strategy == "FUNCTION_NAME":
        return f"{workflow}_{function}"
    return path_of(document).lstrip("/") if strategy == "FULL_URI" else None


def usual_name(function: Function) -> str | None:
    """Return the name of the service of *function*: its document's file, its service of gRPC, or itself as a request.

    None means that it calls no service.
    """
    document = document_of(function)
    if document is not None:
        return path_of(document).rpartition("/")[2] or None
    if function.type == "rpc":
        return rpc_services(function)[0] or None
    return function.name if is_request(function) else None


def rpc_services(function: Function) -> tuple[str, str]:
    """Return the names of the gRPC service that *function* calls: without its package, and with it."""
    operation = str(function.operation)
    service = operation.split("#")[1] if operation.count("#") > 1 else ""
    return service.rpartition(".")[2], service


def is_request(function: Function) -> bool:
    """Return True if *function* is a request whose URL is its operation."""
    return function.type == "custom" and str(function.operation).strip().startswith("rest:")


def older_key(file: str) -> str:
    """Return the key of the client of a document in the oldest releases: the letters of its file's name."""
    return re.sub("[^a-z]", "", file.rpartition(".")[0].lower() or file.lower())


def named_in(application: str, name: str) -> str:
    """Return the *name* of a service, told from that of the same name in other applications."""
    return f"{application}/{name}"


def client_of(function: Function, strategy: str, application: str = "") -> Client | None:
    """Return the client of *function*, which is already converted; None if it has none, or its key is unknown.

    With *application*, the name of its service may begin with that.
    """
    document, alias = document_of(function), function.metadata.get(CONFIGURED_AS)
    if document is None:
        return None
    is_chosen = function.metadata.get(CONFIG_KEY) is not None
    if isinstance(alias, str):
        named = alias.removeprefix(named_in(application, "")) if application else alias
        return Client(spelled(named), Owner("services", alias), is_chosen)
    file = path_of(document).rpartition("/")[2]
    return Client(spelled(file), Owner("services", file), is_chosen) if strategy == "FILE_NAME" and file else None


def secret_of(owner: Owner, scheme: str) -> str:
    """Return the name of the secret of a security scheme of *owner*."""
    return f"{owner.name}.{_unquoted(scheme)}"


def credentials_in(properties: Mapping[str, str], client: Client) -> dict[str, None]:
    """Return the names of the secrets for the credentials of *client* in *properties*."""
    found: dict[str, None] = {}
    for name in properties:
        said = CREDENTIAL.fullmatch(name)
        if said is not None and said[3] in CREDENTIAL_FIELDS:
            owner = client.owner_under(_unquoted(said[1]))
            if owner is not None:
                found[secret_of(owner, said[2])] = None
    return found


def _unquoted(name: str) -> str:
    return name.strip('"')
