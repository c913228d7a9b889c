"""Writes the page with all routes of a gateway, as its code has them: `python -m tests.docs.routes`."""

import asyncio
from collections.abc import Callable, Iterator
from inspect import getdoc
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import temporalio.client
from starlette.applications import Starlette
from starlette.routing import Route

from swf_temporal.http.console.application import PAGES
from swf_temporal.http.gateway.application import Gateway
from swf_temporal.http.gateway.endpoints import ENDPOINTS, SONATAFLOW
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.operations.client import Client
from swf_temporal.settings.http import GatewaySettings, Operation, Tenant
from swf_temporal.settings.values import Address
from swf_temporal.temporal.connecting import Server

PAGE: Final = Path(__file__).parents[2] / "docs" / "routes.md"
PUBLIC: Final = {
    "/": "Go to the documentation page.",
    "/docs": "Show the documentation page.",
    "/docs/{file}": "Show a file of that page.",
    "/livez": "Tell whether the gateway is alive.",
    "/readyz": "Tell whether it has read its definitions, and reaches Temporal.",
    "/console": "Go to the list of definitions.",
    "/console/": "Go to the list of definitions.",
    "/console/login": "Show the form for a key, or keep the key that was sent in a cookie.",
    "/console/static/{name}": "Show a file of the console's pages.",
    "/console/{rest:path}": "Tell that there is no such page.",
}
"""What all clients may ask for, and what it does."""
FOR_ALL_TENANTS: Final = {
    "/openapi.json": "Show the description of these requests, with the tenant's definitions.",
    "/console/logout": "End the session, and delete its cookie.",
}
"""What needs a key, but no permission, and what it does."""
_READS: Final = (
    ("/openapi.json", "definitions"),
    ("/workflows", "definitions"),
    ("/tasks", "tasks"),
    ("/console/definitions/{id}/source", "definitions"),
    ("/console/definitions/{id}", "definitions, instances"),
    ("/console/definitions", "definitions"),
    ("/console/tasks", "tasks"),
    ("/{id}/schema", "definitions"),
)
"""What is read with GET, by the beginnings of paths; the first that fits. All others are about instances."""
_TEXT: Final = """\
# Routes of the gateway

All requests that a [gateway](gateway.md) answers, with `--console` and `--sonataflow-api`. The table is made from the
code, and [a test](../tests/temporal/test_gateway_routes.py) sends each of them without a key, with a key for nothing,
with one for reading, and as another tenant.

- **Who may ask**: a key for `read` is one of a tenant whose [`operations`](gateway.md#tenants) include that. Without
  tenants, all clients may ask for everything.
- **What is read**: a tenant only reaches its own definitions, the instances of these in its namespace, and the tasks of
  these instances. Everything else is answered like what does not exist. A request that starts, changes or ends an
  instance is answered with what became of that one. Forms of the console are answered with a page of the instance if
  the key is for `read`, too.
- **What it counts for**: the `rate` of the tenant, and that of the gateway. A request without a valid key is counted
  with others of this kind, and takes nothing from tenants. What all clients may ask for is not counted.

| request | what it does | who may ask | what is read | counts |
|---|---|---|---|---|
"""


class Described(NamedTuple):
    method: str
    path: str
    does: str
    who: str
    reads: str
    counts: str

    def __str__(self) -> str:
        path = self.path.replace("{rest:path}", "…")
        return f"| `{self.method} {path}` | {self.does} | {self.who} | {self.reads} | {self.counts} |\n"


async def routes(**settings: Any) -> list[tuple[str, str]]:
    """Return the methods and paths that a gateway with *settings* answers; the files of a page are one path."""
    tenant = Tenant(workflows=("*",), keys=("a-key-of-the-owner-01",))
    every = GatewaySettings(address=Address("127.0.0.1", 0), tenants={"own": tenant}, **settings)
    lazy = await temporalio.client.Client.connect("127.0.0.1:7233", lazy=True)
    raw = Gateway(every, Catalogue(), {None: Client.of(Server(lazy, None))}).application()
    application = cast("Starlette", raw.__closure__[0].cell_contents)
    found = set[tuple[str, str]]()
    for one in application.routes:
        assert isinstance(one, Route)
        path = "/docs/{file}" if one.path.startswith("/docs/") else one.path
        own = [each for each in (*ENDPOINTS, *SONATAFLOW) if each.path == path]
        methods = {each.method for each in own} | {"PUT" for each in own if each.takes_events}
        if path.startswith("/console"):
            methods = (one.methods or set()) - {"HEAD"}
        found.update((method, path) for method in methods or {"GET"})
    return sorted(found, key=lambda pair: (pair[1].startswith("/{"), pair[1], pair[0]))


EVERYTHING: Final[dict[str, Any]] = {"console": True, "sonataflow_api": True}
"""The settings of a gateway that answers all requests."""


def permission(method: str, path: str) -> Operation | None:
    return _known(method, path)[0]


def _known(method: str, path: str) -> tuple[Operation | None, Callable[..., Any]]:
    """Return the permission that a request needs, and what answers it."""
    if (page := PAGES.get((method, path))) is not None:
        return page.permits, page.show
    for each in (*ENDPOINTS, *SONATAFLOW):
        if each.path == path and (each.method == method or (each.takes_events and method == "PUT")):
            return each.permits, each.work
    raise LookupError(f"there is no permission for {method} {path}")


async def rows() -> list[Described]:
    found = [*_described(await routes(**EVERYTHING))]
    return [one for one in found if one.method != "PUT"]  # it is the same as POST


def _described(asked: list[tuple[str, str]]) -> Iterator[Described]:
    for method, path in asked:
        if path in PUBLIC:
            counts = "as one of the key's tenant" if (method, path) == ("POST", "/console/login") else "nothing"
            yield Described(method, path, PUBLIC[path], "all clients", "nothing", counts)
            continue
        reads = next((read for begin, read in _READS if path.startswith(begin)), "instances")
        if method != "GET":
            reads = "nothing" if path.startswith("/console") or path.endswith("/events") else "that instance"
        if path in FOR_ALL_TENANTS:
            yield Described(method, path, FOR_ALL_TENANTS[path], "any key", reads, "1")
            continue
        permits, work = _known(method, path)
        does = (getdoc(work) or "").partition("\n\n")[0].replace("\n", " ")
        assert does.endswith("."), f"{work.__name__} has no docstring, which the page shows"
        counts = "each event" if path.endswith("/events") else "1"
        if path.endswith("/stream"):
            counts = "1, and a live page"
        yield Described(method, path, does, f"a key for `{permits}`", reads, counts)


async def text() -> str:
    return _TEXT + "".join(map(str, await rows()))


if __name__ == "__main__":
    PAGE.write_text(asyncio.run(text()), encoding="utf-8")
