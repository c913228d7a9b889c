"""The owners of properties: the services, functions or calls that a key in SonataFlow's properties stands for."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from swf_temporal.base.calls import Function
from swf_temporal.base.function_types import CONFIG_KEY, callee_of, environment_name, operation_type
from swf_temporal.text.clients import BY_TITLE, Client, Owner, client_of, document_of, spelled, strategy_of


@dataclass(frozen=True, slots=True)
class Called:
    """A function that a definition declares, as it is written here."""

    name: str
    operation: str
    type: str = "rest"
    metadata: Mapping[str, Any] = field(default_factory=dict)
    definition: str = ""
    """The name of what has the definition, for findings."""
    workflow: str | None = None
    """The name that a resource of Kubernetes with the definition has."""

    @property
    def function(self) -> Function:
        return Function(self.name, self.type, self.operation, metadata=self.metadata)


def functions_of(definition: Any, name: str = "", workflow: str | None = None) -> Iterator[Called]:
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
                workflow,
            )


@dataclass(frozen=True, slots=True)
class Found:
    """Whose a key is. Where that cannot be told, there is no owner and a reason."""

    owners: tuple[Owner, ...] = ()
    reason: str | None = None
    hint: str | None = None


class Owners:
    """The owners of the keys of one text of properties: *functions* are those for which it holds."""

    def __init__(
        self, functions: Iterable[Called], properties: Mapping[str, str], everybody: Iterable[Called] = ()
    ) -> None:
        """Take *everybody*, the functions of all definitions, to be served by the same worker."""
        self._functions = list(functions)
        self._everybody = list(everybody) or self._functions
        self.strategy = strategy_of(properties)

    @cached_property
    def _clients(self) -> list[tuple[Called, Client]]:
        return [(one, client) for one in self._functions if (client := client_of(one.function, self.strategy))]

    def of_service(self, key: str) -> Found:
        """Return whose the settings of the client of documents are that has this *key*."""
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
        """Return whose the settings of the client of gRPC are that has this *key*."""
        names = [name for one in self._functions if one.type == "rpc" for name in _rpc_services(one)]
        found = [Owner("services", name) for name in names if spelled(name) == spelled(key)]
        return self._shared_with_none(found, key, lambda one, _: one.type == "rpc")

    def of_function(self, name: str) -> Found:
        """Return whose the settings are that SonataFlow knows for functions of this *name* which are requests."""
        requests = [one for one in self._functions if one.name == name and _is_request(one)]
        return self._shared_with_none(
            [Owner("functions", name)] if requests else [], name, lambda one, _: _is_request(one) and one.name == name
        )

    def _has_key(self, one: Called, key: str) -> bool:
        client = client_of(one.function, self.strategy)
        return client is not None and client.owner_under(key) is not None

    def _shared_with_none(self, found: list[Owner], key: str, is_meant: Any) -> Found:
        """Return *found*, unless something else than what has the *key* would have its settings here, too."""
        owners = {one.identity: one for one in found}
        for owner in owners.values():
            others = [one for one in self._everybody if has_settings_of(one, owner) and not is_meant(one, key)]
            if others:
                told = ", ".join(dict.fromkeys(f"{one.name!r} ({one.operation})" for one in others))
                hint = "let other workers serve these, or call one of them otherwise"
                return Found(reason=f"{owner} would be the name of what {told} calls, too", hint=hint)
        return Found(tuple(owners.values()))


def has_settings_of(one: Called, owner: Owner) -> bool:
    """Tell whether calls of a function have the settings of *owner*."""
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
    """Return keys that one may think a document has."""
    document = document_of(one.function) or ""
    path = PurePosixPath(document)
    names = (document, path.name, path.stem, one.name)
    return frozenset({*names, *map(spelled, names)})


def _rpc_services(one: Called) -> tuple[str, str]:
    """Return the names of the service of gRPC that a function calls: without its package, and with it."""
    service = one.operation.split("#")[1] if one.operation.count("#") > 1 else ""
    return service.rpartition(".")[2], service


def _is_request(one: Called) -> bool:
    kind = operation_type(one.type)
    return one.type == "custom" and one.operation.strip().startswith("rest:") and kind is not None
