"""The clients of a SonataFlow application: by which keys its properties speak of the services that functions call.

There the key of a document is the name of its file, unless a strategy is set; one that an extension names has that name
as its key. Here a function says what is another name than that of the file, `configuredAs`. It may choose for each call
among clients whose keys begin so, `configKey`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from swf_temporal.base.calls import Function
from swf_temporal.base.function_types import CONFIG_KEY, CONFIGURED_AS, environment_name, operation_type, path_of

CREDENTIAL: Final = re.compile(r'quarkus\.openapi-generator\.("[^"]+"|[^.]+)\.auth\.("[^"]+"|[^.]+)\.([\w-]+)')
"""A property that says something of the credentials of a client: its key, the security scheme, and what is said."""
CREDENTIAL_FIELDS: Final = {
    "username": "username",
    "password": "password",
    "bearer-token": "token",
    "api-key": "apiKey",
}
"""The properties that secrets have here for those of there."""
DESCRIBED: Final = ("rest", "openapi")
"""The types of functions that are called by clients with a key."""
STRATEGY: Final = re.compile(r"kogito\.sw\.operation[iI]d[sS]trategy")
"""The property that says how keys are made."""
BY_TITLE: Final = "SPEC_TITLE"
_NOT_A_NAME: Final = re.compile(r"[^A-Za-z0-9]")

Scope: TypeAlias = Literal["services", "functions", "calls", "secrets"]


@dataclass(frozen=True, slots=True)
class Owner:
    """What has settings of its own here: a service, a function, all calls, or a secret."""

    scope: Scope
    name: str = ""
    choice: str = ""
    """The end of the name, after a dot, if calls choose it."""

    def __str__(self) -> str:
        """Return who it is, as a finding says it."""
        return repr(self.name) if self.name else "all calls"

    @property
    def identity(self) -> tuple[str, str]:
        """What two owners have in common that cannot be told apart."""
        return self.scope, environment_name(self.name)


@dataclass(frozen=True, slots=True)
class Client:
    """The client of a function, and what has its settings here."""

    key: str
    """As properties spell it."""
    owner: Owner
    is_chosen: bool = False
    """Whether each call chooses one of those whose keys begin with this one and a dot."""

    def owner_under(self, key: str) -> Owner | None:
        """Return what has the settings that properties say under *key*; None if they are another client's."""
        if not self.is_chosen:
            return self.owner if spelled(key) == self.key else None
        begin, dot, chosen = key.partition(".")
        if not dot or not chosen or spelled(begin) != self.key:
            return None
        return Owner(self.owner.scope, f"{self.owner.name}.{chosen}", chosen)


def spelled(name: str) -> str:
    """Return *name* as a key spells it: with `_` for what is neither a letter nor a digit."""
    return _NOT_A_NAME.sub("_", name)


def strategy_of(properties: Mapping[str, str]) -> str:
    """Return how *properties* say that keys are made: `FILE_NAME`, if they do not."""
    found = next((value for name, value in properties.items() if STRATEGY.fullmatch(name)), "")
    return found.strip().upper().replace("-", "_") or "FILE_NAME"


def document_of(function: Function) -> str | None:
    """Return the document of the service that *function* calls by a client with a key."""
    kind = operation_type(function.type)
    return kind.document(function.operation) if function.type in DESCRIBED and kind is not None else None


def name_by(strategy: str, document: str, function: str, workflow: object) -> str | None:
    """Return how a service is called where a *strategy* makes the keys; None if that is the file of its document."""
    if strategy == "FUNCTION_NAME":
        return f"{workflow}_{function}"
    return path_of(document).lstrip("/") if strategy == "FULL_URI" else None


def client_of(function: Function, strategy: str) -> Client | None:
    """Return the client of *function*, which is rewritten for here; None if it has none, or one of no known key."""
    document, alias = document_of(function), function.metadata.get(CONFIGURED_AS)
    if document is None:
        return None
    is_chosen = function.metadata.get(CONFIG_KEY) is not None
    if isinstance(alias, str):
        return Client(spelled(alias), Owner("services", alias), is_chosen)
    file = path_of(document).rpartition("/")[2]
    return Client(spelled(file), Owner("services", file), is_chosen) if strategy == "FILE_NAME" and file else None


def secret_of(owner: Owner, scheme: str) -> str:
    """Return what the secret of a security scheme of *owner* is called."""
    return f"{owner.name}.{_unquoted(scheme)}"


def credentials_in(properties: Mapping[str, str], client: Client) -> dict[str, None]:
    """Return the names of the secrets that hold what *properties* say of the credentials of *client*."""
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
