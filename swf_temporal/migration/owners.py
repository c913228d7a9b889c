"""The owners of settings that a property sets: the clients of functions, by their keys."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from swf_temporal.base.calls import Function
from swf_temporal.base.function_types import CONFIG_KEY, CONFIGURED_AS, callee_of, environment_name
from swf_temporal.base.grammar import listed
from swf_temporal.text.properties import (
    BY_TITLE,
    Client,
    Owner,
    client_of,
    document_of,
    is_request,
    named_in,
    older_key,
    rpc_services,
    spelled,
    strategy_of,
    usual_name,
)


@dataclass(frozen=True, slots=True)
class Called:
    """A function that a definition declares, as written in the migrated definition."""

    name: str
    operation: str
    type: str = "rest"
    metadata: Mapping[str, Any] = field(default_factory=dict)
    definition: str = ""
    """The name of the definition, for findings."""
    application: str | None = None
    """The application that the definition belongs to, if there are several."""

    @property
    def function(self) -> Function:
        return Function(self.name, self.type, self.operation, metadata=self.metadata)

    @property
    def calls(self) -> bool:
        """Whether it calls a service over the network."""
        return self.type != "expression" and (self.type != "custom" or is_request(self.function))

    @property
    def service_apart(self) -> str | None:
        """The name of its service, if that begins with its application."""
        said = self.metadata.get(CONFIGURED_AS)
        is_apart = (
            self.application is not None and isinstance(said, str) and said.startswith(named_in(self.application, ""))
        )
        return said if is_apart else None

    @property
    def older_key(self) -> str | None:
        """The key of its client in the oldest releases."""
        return older_key(usual_name(self.function) or "") if document_of(self.function) is not None else None

    def client(self, strategy: str) -> Client | None:
        """Return its client, if it has one."""
        return client_of(self.function, strategy, self.application or "")


def functions_of(definition: Any, name: str = "", application: str | None = None) -> Iterator[Called]:
    """Yield the functions that *definition* declares, which has that *name* in findings."""
    functions = definition.get("functions") if isinstance(definition, dict) else None
    for one in functions if isinstance(functions, list) else ():
        if isinstance(one, dict) and isinstance(one.get("name"), str) and isinstance(one.get("operation"), str):
            metadata = one.get("metadata")
            yield Called(
                one["name"],
                one["operation"],
                str(one.get("type", "rest")),
                metadata if isinstance(metadata, dict) else {},
                name,
                application,
            )


@dataclass(frozen=True, slots=True)
class Found:
    """The owners of a key; if they cannot be determined, the reason."""

    owners: tuple[Owner, ...] = ()
    reason: str | None = None
    hint: str | None = None
    entangled: frozenset[str] = frozenset()
    """Applications that can be determined if the names of services begin with those of their applications."""
    others: tuple[str, ...] = ()
    """Other functions that have the settings of these owners, too."""


class Owners:
    """The owners of the keys in one file of properties, which applies to *functions*."""

    def __init__(
        self, functions: Iterable[Called], properties: Mapping[str, str], everybody: Iterable[Called] = ()
    ) -> None:
        """Assume that one worker serves *everybody*, the functions of all definitions."""
        self._functions = list(functions)
        self._everybody = list(everybody) or self._functions
        self.strategy = strategy_of(properties)

    @cached_property
    def _clients(self) -> list[tuple[Called, Client]]:
        return [(one, client) for one in self._functions if (client := one.client(self.strategy)) is not None]

    def of_all(self) -> Found:
        """Return the owners of what is said of all clients of documents: all calls, if there are no other calls."""
        mine = {id(one) for one, _ in self._clients}
        others = [one for one in self._everybody if id(one) not in mine and one.calls]
        if not others or any(client.is_chosen for _, client in self._clients) or self.strategy == BY_TITLE:
            return Found((Owner("calls"),), others=tuple(dict.fromkeys(one.name for one in others)))
        owners = {client.owner.identity: client.owner for _, client in self._clients}
        return Found(tuple(owners.values()))

    def of_older(self, key: str) -> Found:
        """Return the owners of the settings of the document client with this *key* in the oldest releases."""
        found = [client.owner for one, client in self._clients if not client.is_chosen and one.older_key == key]
        return self._shared_with_none(found, key, lambda one, _: one.older_key == key)

    def of_service(self, key: str) -> Found:
        """Return the owners of the settings of the document client with this *key*."""
        exact = [owner for _, client in self._clients if (owner := client.owner_under(key)) is not None]
        if exact:
            return self._shared_with_none(exact, key, self._has_key)
        if self.strategy == BY_TITLE and any(document_of(one.function) for one in self._functions):
            hint = "write it under 'services' and the name of the file of the document"
            return Found(reason="services are named by the files of their documents, and not by titles", hint=hint)
        meant = next((client for one, client in self._clients if key in _nearly(one)), None)
        if meant is None:
            return Found()
        hint = f"if it is meant for {meant.owner}, write it under 'services' and that name"
        return Found(reason=f"it has no effect there: the key of {meant.owner} is {meant.key!r}", hint=hint)

    def of_rpc_service(self, key: str) -> Found:
        """Return the owners of the settings of the gRPC client with this *key*."""
        found = [
            Owner("services", one.service_apart or name)
            for one in self._functions
            if one.type == "rpc"
            for name in rpc_services(one.function)
            if spelled(name) == spelled(key)
        ]
        return self._shared_with_none(found, key, lambda one, _: one.type == "rpc")

    def of_function(self, name: str) -> Found:
        """Return the owners of SonataFlow's settings for functions of this *name* that are requests."""
        requests = [one for one in self._functions if one.name == name and is_request(one.function)]
        found = [
            Owner("functions", name) if (apart := one.service_apart) is None else Owner("services", apart)
            for one in requests
        ]
        return self._shared_with_none(found, name, lambda one, _: is_request(one.function) and one.name == name)

    def _has_key(self, one: Called, key: str) -> bool:
        client = one.client(self.strategy)
        return client is not None and client.owner_under(key) is not None

    def _shared_with_none(self, found: list[Owner], key: str, is_meant: Any) -> Found:
        """Return *found*, unless the settings would also apply to functions that do not have the *key*."""
        owners = {one.identity: one for one in found}
        for owner in owners.values():
            others = [one for one in self._everybody if has_settings_of(one, owner) and not is_meant(one, key)]
            if others:
                told = list(dict.fromkeys(f"{one.name!r} ({one.operation})" for one in others))
                hint = "let other workers serve these, or call one of them otherwise"
                mine = {one.application for one in self._functions}
                entangled = {one.application for one in others} - mine
                calls = "calls" if len(told) == 1 else "call"
                return Found(
                    reason=f"{owner} would be the name of what {listed(told)} {calls}, too",
                    hint=hint,
                    entangled=frozenset(one for one in (*entangled, *mine) if one) if entangled else frozenset(),
                )
        return Found(tuple(owners.values()))


def has_settings_of(one: Called, owner: Owner) -> bool:
    """Return True if the settings of *owner* apply to calls of a function."""
    if owner.scope == "calls":
        return True
    if owner.scope == "functions":
        return environment_name(one.name) == environment_name(owner.name)
    metadata = dict(one.metadata)
    if CONFIG_KEY in metadata:
        if not owner.choice:
            return False
        metadata[CONFIG_KEY] = owner.choice
    names = callee_of(replace(one.function, metadata=metadata)).services
    return environment_name(owner.name) in map(environment_name, names)


def _nearly(one: Called) -> frozenset[str]:
    """Return keys that may have been mistaken for the key of a document."""
    document = document_of(one.function) or ""
    path = PurePosixPath(document)
    names = (document, path.name, path.stem, one.name)
    return frozenset({*names, *map(spelled, names)})
