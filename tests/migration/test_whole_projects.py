"""Whole projects, each of a few files, run against two services: as they are, in the mode, and once written.

What the services get is what SonataFlow sent. A second migration changes nothing, and a worker takes what is written.
In the mode a worker serves one application, which has the files that Kubernetes would mount: a call reads its document
as a file, and neither the properties nor the secrets of an application say whose they are.
"""

import asyncio
import base64
import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, aclosing
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from swf_temporal import Definition, load
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.events.sinks import Sinks
from swf_temporal.migration.migrate import migrate, write
from swf_temporal.migration.report import Migration
from swf_temporal.sdk.definitions import catalogue_of
from swf_temporal.settings.calls import read_settings
from swf_temporal.settings.events import EventSettings
from swf_temporal.simulation.context import SimulationContext
from swf_temporal.text.fetching.resources import in_mode
from swf_temporal.text.yaml_text import write_yaml
from tests.listening import Quiet, listening
from tests.migration.shapes import PORT, PROJECTS, A, B, Got, Shape
from tests.migration.test_manifests import project, told
from tests.migration.whose import Worker


class Services:
    """Two services, A and B, which note what they get, and give tokens to those who ask for them."""

    def __init__(self, stack: ExitStack) -> None:
        self.got: list[Got] = []
        self.ports = {name: self._started(name, stack) for name in "AB"}

    def _started(self, name: str, stack: ExitStack) -> int:
        got = self.got

        class Noting(Quiet):
            def respond(self, content: bytes) -> None:
                kind, _, value = self.headers.get("Authorization", "").partition(" ")
                login = base64.b64decode(value).decode().partition(":") if kind == "Basic" else (value, "", "")
                who = ", ".join(filter(None, (login[0], self.headers.get("X-Key"))))
                body = content.decode()
                if "cloudevents" in self.headers.get("Content-Type", ""):
                    event = json.loads(body)
                    body = f"{event['type']}: {json.dumps(event['data'], separators=(',', ':'))}"
                got.append(Got(name, self.path, who or None, body, self.headers.get("X-Team")))
                self.answer(json.dumps(self._answer(login, body)).encode())

            def _answer(self, login: tuple[str, str, str], body: str) -> JSON:
                if self.path.endswith("/.well-known/openid-configuration"):
                    url = f"http://{self.headers['Host']}{self.path}"
                    return {"token_endpoint": url.replace("/.well-known/openid-configuration", "/token")}
                asked = parse_qs(body)
                if "grant_type" in asked:
                    secrets = asked.get("client_secret") or asked.get("password") or [login[2]]
                    return {"access_token": f"token by {secrets[0]}", "token_type": "Bearer", "expires_in": 300}
                return {"by": name}

        server = ThreadingHTTPServer(("127.0.0.1", 0), Noting)
        stack.enter_context(listening(server))
        return server.server_port

    def put_into(self, text: str) -> str:
        """Return *text* with the URLs of the services."""
        for place, name in ((A, "A"), (B, "B")):
            text = text.replace(place, f"http://127.0.0.1:{self.ports[name]}")
        return text.replace(PORT, str(self.ports["A"]))


@pytest.fixture(scope="module")
def services() -> Iterator[Services]:
    with ExitStack() as stack:
        yield Services(stack)


def migrated(folder: Path, into: Path) -> Migration:
    """Migrate and write; then migrate what was written, which changes nothing."""
    migration = migrate(folder)
    write(migration, into)
    again = migrate(into)
    assert again.of("rewritten") == []
    for one in again.files:
        assert (into / one.path).read_bytes() == one.content
    return migration


def requests(
    services: Services,
    definitions: list[Definition],
    which: str,
    config: Path,
    secrets: Mapping[str, JSON],
    shape: Shape,
) -> list[Got]:
    """Return what the services get when the definition *which* runs."""
    file = config if config.exists() else None
    settings, channels = read_settings({}, local=True, file=file), EventSettings.read({}, file=file)
    services.got.clear()
    [first] = [one for one in definitions if one.id == which]
    others = [one for one in definitions if one.id != which]
    events = [CloudEvent("1", "test", kind, {"order": 7}, {}) for kind in shape.events]
    context = SimulationContext([first, *others], {}, events, secrets, stub_services=Worker(settings, secrets))
    ended = context.run({"order": 7})
    assert ended.error is None, ended.error
    asyncio.run(published(channels, context.produced))
    return list(services.got)


async def published(channels: EventSettings, events: list[CloudEvent]) -> None:
    async with aclosing(Sinks(channels.sinks)) as sinks:
        for one in events:
            await sinks.publish(one)


def made(name: str, folder: Path, services: Services) -> Shape:
    project(folder, **PROJECTS[name].files)
    for path in folder.rglob("*.*"):
        if path.is_file():
            path.write_text(services.put_into(path.read_text()))
    return PROJECTS[name]


@pytest.mark.parametrize("name", PROJECTS)
def test_once_written(name: str, services: Services, tmp_path: Path) -> None:
    shape = made(name, tmp_path / "project", services)
    migration = migrated(tmp_path / "project", tmp_path / "written")
    assert [one for one in migration.tasks if one.task != "secrets"] == [], told(migration)
    definitions = list(catalogue_of([tmp_path / "written"]))
    for which, wanted in shape.expected.items():
        config = tmp_path / "written" / "swf.yaml"
        assert requests(services, definitions, which, config, shape.secrets, shape) == wanted


def applications(
    folder: Path, files: Mapping[str, Any], mounted: Path, services: Services
) -> Iterator[tuple[str, Path]]:
    """Yield the applications of a project in *folder*, each with the folder that its worker has."""
    resources = files.get("all__yaml", [])
    modules = [one.parents[3] for one in sorted(folder.rglob("src/main/resources/application.properties"))]
    if resources:
        for one in resources:
            if one["kind"] == "SonataFlow":
                name = one["metadata"]["name"]
                mount(one, [other for other in resources if other["kind"] == "ConfigMap"], mounted / name, services)
                yield name, mounted / name
    elif len(modules) > 1:
        yield from ((one.name, one) for one in modules)
    else:
        yield "", folder


def mount(resource: dict[str, Any], config_maps: list[dict[str, Any]], folder: Path, services: Services) -> None:
    """Put a resource into *folder*, with the files of its ConfigMaps where Kubernetes mounts them.

    What a definition in a folder names by `classpath:` is a file of that folder, so these files are mounted there, too.
    """
    name = resource["metadata"]["name"]
    own = {one["metadata"]["name"]: one["data"] for one in config_maps}
    mounts = {one["workflowPath"]: own[one["configMap"]["name"]] for one in resource["spec"]["resources"]["configMaps"]}
    nested = [path for path, data in mounts.items() if any(one.endswith(".sw.yaml") for one in data)]
    found = {f"{path}/{file}": text for path, data in mounts.items() for file, text in data.items()}
    found |= {
        f"{path}/{file}": text for path in nested for file, text in found.items() if not file.endswith(".sw.yaml")
    }
    properties = [own.get(one, {}).get("application.properties", "") for one in ("shared", f"{name}-props")]
    found |= {f"{name}.yaml": write_yaml(resource), "application.properties": "\n".join(properties)}
    for file, text in found.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(services.put_into(text))


@pytest.mark.parametrize("name", PROJECTS)
def test_as_it_is_in_the_mode(name: str, services: Services, tmp_path: Path) -> None:
    shape = made(name, tmp_path / "project", services)
    run = set()
    for application, folder in applications(tmp_path / "project", shape.files, tmp_path / "mounted", services):
        config = tmp_path / "written" / application
        write(migrate(folder), config)
        secrets = {one.removeprefix(f"{application}/"): value for one, value in shape.secrets.items()}
        files = {*folder.rglob("*.sw.yaml"), *folder.glob(f"{application or 'none'}.yaml")}
        definitions = [load(one, resources=in_mode("sonataflow"), folder=folder) for one in sorted(files)]
        for which in shape.expected.keys() & {one.id for one in definitions}:
            got = requests(services, definitions, which, config / "swf.yaml", secrets, shape)
            assert got == shape.expected[which]
            run.add(which)
    assert run == shape.expected.keys()
