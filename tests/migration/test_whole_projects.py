"""Whole projects, each of a few files, run against two services: in the mode where it can be, and once written.

What the services get is what SonataFlow sent. A second migration changes nothing, and a worker takes what is written.
"""

import base64
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from swf_temporal import Definition, load
from swf_temporal.base.data import JSON
from swf_temporal.migration.migrate import migrate, write
from swf_temporal.migration.report import Migration
from swf_temporal.sdk.definitions import catalogue_of
from swf_temporal.settings.calls import Settings, read_settings
from swf_temporal.settings.events import EventSettings
from swf_temporal.simulation.context import SimulationContext
from swf_temporal.text.fetching.resources import in_mode
from swf_temporal.text.yaml_text import write_yaml
from tests.listening import Quiet, listening
from tests.migration.test_manifests import config_map, flow, project, resource, told
from tests.migration.whose import Worker

Got = tuple[str, str, str | None, str]
"""Which service, the path, who is logged in, and the body."""


class Services:
    """Two services, A and B, which note what they get."""

    def __init__(self, stack: ExitStack) -> None:
        self.got: list[Got] = []
        self.urls = {name: self._started(name, stack) for name in "AB"}

    def _started(self, name: str, stack: ExitStack) -> str:
        got = self.got

        class Noting(Quiet):
            def respond(self, content: bytes) -> None:
                kind, _, value = self.headers.get("Authorization", "").partition(" ")
                login = base64.b64decode(value).decode().partition(":")[0] if kind == "Basic" else value or None
                got.append((name, self.path, login, content.decode()))
                self.answer(b'{"by": "%s"}' % name.encode())

        server = ThreadingHTTPServer(("127.0.0.1", 0), Noting)
        stack.enter_context(listening(server))
        return f"http://127.0.0.1:{server.server_port}"


@pytest.fixture(scope="module")
def services() -> Iterator[Services]:
    with ExitStack() as stack:
        yield Services(stack)


def openapi(path: str, server: str = "http://127.0.0.1:1", scheme: str | None = None) -> str:
    operation: dict[str, Any] = {
        "operationId": "send",
        "requestBody": {"content": {"application/json": {"schema": {"type": "object"}}}},
        "responses": {"200": {"description": "sent"}},
    }
    found: dict[str, Any] = {
        "openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "servers": [{"url": server}],
        "paths": {path: {"post": operation}},
    }  # fmt: skip
    if scheme is not None:
        found["security"] = [{scheme: []}]
        found["components"] = {"securitySchemes": {scheme: {"type": "http", "scheme": "basic"}}}
    return write_yaml(found)


def url_of(key: str, url: str) -> str:
    return f"quarkus.rest-client.{key}.url={url}\n"


def login(key: str, scheme: str, name: str) -> str:
    begin = f"quarkus.openapi-generator.{key}.auth.{scheme}"
    return f"{begin}.username={name}\n{begin}.password=made-up\n"


def migrated(folder: Path, into: Path) -> Migration:
    """Migrate and write; then migrate what was written, which changes nothing."""
    migration = migrate(folder)
    write(migration, into)
    again = migrate(into)
    assert again.of("rewritten") == []
    for one in again.files:
        assert (into / one.path).read_bytes() == one.content
    return migration


def settings_in(folder: Path) -> Settings:
    file = folder / "swf.yaml"
    EventSettings.read({}, file=file if file.exists() else None)
    return read_settings({}, local=True, file=file if file.exists() else None)


def requests(
    services: Services, definitions: list[Definition], which: str, settings: Settings, secrets: Mapping[str, JSON]
) -> list[Got]:
    """Return what the services get when the definition *which* runs."""
    services.got.clear()
    [first] = [one for one in definitions if one.id == which]
    others = [one for one in definitions if one.id != which]
    context = SimulationContext([first, *others], {}, [], secrets, stub_services=Worker(settings, secrets))
    ended = context.run({"order": 7})
    assert ended.error is None, ended.error
    return list(services.got)


def written(folder: Path) -> list[Definition]:
    """Return the definitions that a worker takes."""
    return list(catalogue_of([folder]))


def calling(name: str, **more: Any) -> dict[str, Any]:
    """Return a definition that sends its order."""
    actions = [{"functionRef": {"refName": "send", "arguments": {"order": ".order"}}}]
    states = [{"name": "Send", "type": "operation", "actions": actions, "end": True}]
    return flow(name, **{"states": states, **more})


def manifest(name: str, *mounts: tuple[str, str | None], **more: Any) -> dict[str, Any]:
    found = resource(name, *mounts)
    found["spec"]["flow"] = {key: value for key, value in calling(name, **more).items() if key != "id"}
    return found


ANN: JSON = {"username": "ann", "password": "made-up"}
BOB: JSON = {"username": "bob", "password": "made-up"}
SENT = '{"order":7}'
A, B = "{A}", "{B}"
"""The URLs of the services, until they are known."""
SOURCE = "src___main___resources"
PROJECTS: dict[str, tuple[dict[str, Any], dict[str, list[Got]], dict[str, JSON]]] = {
    "a ConfigMap is a folder": (
        {"all__yaml": [manifest("a", ("docs", "specs")), config_map("docs", api__yaml=openapi("/a", A))]},
        {"a": [("A", "/a", None, SENT)]}, {},
    ),
    "two ConfigMaps have the same file": (
        {"all__yaml": [
            manifest("a", ("docs-a", "specs")), config_map("docs-a", api__yaml=openapi("/a", A)),
            manifest("b", ("docs-b", "specs")), config_map("docs-b", api__yaml=openapi("/b", B)),
        ]},
        {"a": [("A", "/a", None, SENT)], "b": [("B", "/b", None, SENT)]}, {},
    ),
    "two flows share a ConfigMap, and call other services": (
        {"all__yaml": [
            manifest("a", ("docs", "specs")), manifest("b", ("docs", "specs")),
            config_map("docs", api__yaml=openapi("/x")),
            config_map("a-props", application__properties=url_of("api_yaml", A)),
            config_map("b-props", application__properties=url_of("api_yaml", B)),
        ]},
        {"a": [("A", "/x", None, SENT)], "b": [("B", "/x", None, SENT)]}, {},
    ),
    "two flows share a ConfigMap, and log in as others": (
        {"all__yaml": [
            manifest("a", ("docs", "specs")), manifest("b", ("docs", "specs")),
            config_map("docs", api__yaml=openapi("/x", A, "basic")),
            config_map("a-props", application__properties=login("api_yaml", "basic", "ann")),
            config_map("b-props", application__properties=login("api_yaml", "basic", "bob")),
        ]},
        {"a": [("A", "/x", "ann", SENT)], "b": [("A", "/x", "bob", SENT)]},
        {"a/api.yaml.basic": ANN, "b/api.yaml.basic": BOB},
    ),
    "a manifest was generated of the source": (
        {
            f"{SOURCE}___a__sw__yaml": calling("a"), f"{SOURCE}___specs___api__yaml": openapi("/a", A),
            f"{SOURCE}___manifests___all__yaml": [
                manifest("a"), config_map("a-props", application__properties=url_of("api_yaml", B))
            ],
        },
        {"a": [("B", "/a", None, SENT)]}, {},
    ),
    "properties are secrets and constants": (
        {
            "a__sw__yaml": flow("a", states=[{
                "name": "Send", "type": "operation", "end": True,
                "actions": [{"functionRef": {
                    "refName": "send", "arguments": {"token": "$SECRET.api.token", "team": "$SECRET.team"}
                }}],
            }]),
            "specs___api__yaml": openapi("/a", A), "application__properties": "api.token=hidden\nteam=red\n",
        },
        {"a": [("A", "/a", None, '{"token":"shown","team":"red"}')]}, {"api": {"token": "shown"}},
    ),
    "a definition is of 0.6": (
        {
            "a__sw__yaml": calling("a", schemaVersion="0.6", states=[
                {"name": "Send", "type": "delay", "timeDelay": "PT1S", "transition": "Call"},
                {"name": "Call", "type": "operation", "end": True, "actions": [
                    {"functionRef": {"refName": "send", "parameters": {"order": "${ .order }"}}}
                ]},
            ]),
            "specs___api__yaml": openapi("/a", A),
        },
        {"a": [("A", "/a", None, SENT)]}, {},
    ),
    "properties have their oldest names": (
        {
            "a__sw__yaml": calling("a"), "specs___api__yaml": openapi("/a", A),
            "application__properties": f"org.kogito.openapi.client.api.base_path={B}\nkie.flyway.enabled=true\n",
        },
        {"a": [("B", "/a", None, SENT)]}, {},
    ),
    "several documents and credentials": (
        {
            "a__sw__yaml": flow("a", functions=[
                {"name": "one", "operation": "one.yaml#send"}, {"name": "two", "operation": "two.yaml#send"},
            ], states=[{"name": "Send", "type": "operation", "end": True, "actions": [
                {"functionRef": {"refName": name, "arguments": {"order": ".order"}}} for name in ("one", "two")
            ]}]),
            "one__yaml": openapi("/one", scheme="basic"), "two__yaml": openapi("/two", scheme="basic"),
            "application__properties": url_of("one_yaml", A) + url_of("two_yaml", B)
            + login("one_yaml", "basic", "ann") + login("two_yaml", "basic", "bob"),
        },
        {"a": [("A", "/one", "ann", SENT), ("B", "/two", "bob", SENT)]},
        {"one.yaml.basic": ANN, "two.yaml.basic": BOB},
    ),
    "sub-workflows are in other folders": (
        {
            "a__sw__yaml": {"id": "a", "start": "Both", "states": [{
                "name": "Both", "type": "operation", "end": True,
                "actions": [{"subFlowRef": "one"}, {"subFlowRef": "two"}],
            }]},
            "one___one__sw__yaml": calling("one"), "one___specs___api__yaml": openapi("/one", A),
            "two___two__sw__yaml": calling("two"), "two___specs___api__yaml": openapi("/two", B),
        },
        {"a": [("A", "/one", None, SENT), ("B", "/two", None, '{"order":7}')]}, {},
    ),
    "sub-workflows are in a ConfigMap": (
        {"all__yaml": [
            {"apiVersion": "sonataflow.org/v1alpha08", "kind": "SonataFlow", "metadata": {"name": "a"}, "spec": {
                "resources": {"configMaps": [
                    {"configMap": {"name": "01-a-resources-subflows"}, "workflowPath": "subflows"},
                    {"configMap": {"name": "02-a-resources-specs"}, "workflowPath": "specs"},
                ]},
                "flow": {"start": "Sub", "states": [
                    {"name": "Sub", "type": "operation", "actions": [{"subFlowRef": "child"}], "end": True}
                ]},
            }},
            config_map(
                "01-a-resources-subflows",
                child__sw__yaml=write_yaml(calling("child", document="classpath:specs/api.yaml")),
            ),
            config_map("02-a-resources-specs", api__yaml=openapi("/child", A)),
        ]},
        {"a": [("A", "/child", None, SENT)]}, {},
    ),
    "events go over channels": (
        {
            "a__sw__yaml": calling(
                "a", events=[{"name": "sent", "type": "sent", "source": "a"}], states=[
                    {"name": "Send", "type": "operation", "end": {"produceEvents": [{"eventRef": "sent"}]}, "actions": [
                        {"functionRef": {"refName": "send", "arguments": {"order": ".order"}}}
                    ]},
                ],
            ),
            "specs___api__yaml": openapi("/a", A),
            "application__properties": "mp.messaging.outgoing.sent.connector=quarkus-http\n"
            f"mp.messaging.outgoing.sent.url={B}\nmp.messaging.incoming.order.connector=smallrye-kafka\n",
        },
        {"a": [("A", "/a", None, SENT)]}, {},
    ),
    "applications are folders": (
        {
            f"{name}___{SOURCE}___{file}": content
            for name, url in (("shop", A), ("crew", B))
            for file, content in {
                f"{name}__sw__yaml": calling(name), "specs___api__yaml": openapi(f"/{name}"),
                "application__properties": url_of("api_yaml", url),
            }.items()
        },
        {"shop": [("A", "/shop", None, SENT)], "crew": [("B", "/crew", None, SENT)]}, {},
    ),
}  # fmt: skip


def made(name: str, folder: Path, services: Services) -> tuple[Path, dict[str, list[Got]], dict[str, JSON]]:
    files, expected, secrets = PROJECTS[name]
    project(folder, **files)
    for path in folder.rglob("*.*"):
        if path.is_file():
            text = path.read_text()
            path.write_text(text.replace(A, services.urls["A"]).replace(B, services.urls["B"]))
    return folder, expected, secrets


@pytest.mark.parametrize("name", PROJECTS)
def test_once_written(name: str, services: Services, tmp_path: Path) -> None:
    folder, expected, secrets = made(name, tmp_path / "project", services)
    migration = migrated(folder, tmp_path / "written")
    assert [one for one in migration.tasks if one.task != "secrets"] == [], told(migration)
    definitions, settings = written(tmp_path / "written"), settings_in(tmp_path / "written")
    for which, wanted in expected.items():
        assert requests(services, definitions, which, settings, secrets) == wanted


IN_THE_MODE = [
    name for name, (files, *_) in PROJECTS.items() if "all__yaml" not in files and name != "applications are folders"
]
"""A document in a ConfigMap is no file, and a worker in the mode serves one application."""


@pytest.mark.parametrize("name", IN_THE_MODE)
def test_as_it_is_in_the_mode(name: str, services: Services, tmp_path: Path) -> None:
    folder, expected, secrets = made(name, tmp_path / "project", services)
    write(migrate(folder), tmp_path / "written")
    settings = settings_in(tmp_path / "written")
    definitions = [load(one, resources=in_mode("sonataflow")) for one in sorted(folder.rglob("*.sw.yaml"))]
    for which, wanted in expected.items():
        assert requests(services, definitions, which, settings, secrets) == wanted
