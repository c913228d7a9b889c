"""Whose service, and whose credentials: `python -m tests.migration.whose --count 200`.

Random projects for SonataFlow, of one to three applications, have documents and definitions with equal names, aliases,
keys that a call chooses, requests, and properties that mean no client or all. Each definition is run as `swf migrate
--write` writes the whole, and as it is in the mode, with the configuration and the secrets that the migration of its
application names, against services that note who called them and how. What is expected follows from SonataFlow's rule
alone: the key is the document of the application. Exits with 1 if a call reaches another service, carries other
credentials or headers, or may take another time. Keys that differ in capitals alone cannot be told apart here: what is
said of them has a finding, and is not written.
"""

import argparse
import base64
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from pathlib import Path
from random import Random
from typing import Any, Final, Literal, TypeAlias

from swf_temporal import Definition, load
from swf_temporal.base.data import JSON
from swf_temporal.base.function_types import callee_of
from swf_temporal.functions.calling import Calls
from swf_temporal.functions.secrets import Secrets
from swf_temporal.migration.migrate import migrate, write
from swf_temporal.migration.report import Finding, Migration
from swf_temporal.runtime.host import FunctionCall
from swf_temporal.settings.calls import Settings, read_settings
from swf_temporal.simulation.context import SimulationContext
from swf_temporal.simulation.services.calling_thread import CallingThread
from swf_temporal.text.fetching.resources import in_mode
from tests.listening import Quiet, listening

_SERVICES: Final = 60
_FOLDERS: Final = ("", "specs/", "specs/v2/")
_FILES: Final = ("a.yaml", "b.yaml", "send.yaml", "my-api.v1.yaml", "notify.yaml", "Notify.yaml", "a.json")
_ALIASES: Final = ("notify", "send", "a", "orders")
_NAMES: Final = ("send", "get", "put")
_CHOICES: Final = ("blue", "green", "grey")
_SCHEMES: Final = ("basicAuth", "login")
_STRATEGIES: Final = ("", "", "", "FILE_NAME", "FULL_URI", "FUNCTION_NAME")
_DEFAULT_MS: Final = 30_000
_SECRET: Final = re.compile(r"(\S+) is the property '(\w+)' of the secret '(.+)'")

_APPLICATIONS: Final = ("shop", "crew", "till")
_REQUEST: Final = "ping"
"""The name of a function that is a request, which no document describes."""

Seen: TypeAlias = tuple[int, str | None, str | None, float]
"""The number of the service that was called, the credentials and the header that came, and the seconds of the call."""


class Servers:
    def __init__(self, servers: list[ThreadingHTTPServer], noted: list[tuple[int, str | None, str | None]]) -> None:
        self.noted = noted
        self.urls = [f"http://127.0.0.1:{one.server_port}" for one in servers]


@contextmanager
def servers() -> Iterator[Servers]:
    noted: list[tuple[int, str | None, str | None]] = []

    def handler(number: int) -> type[Quiet]:
        class Noting(Quiet):
            def respond(self, content: bytes) -> None:  # noqa: ARG002 - the method's
                noted.append((number, self.headers.get("Authorization"), self.headers.get("X-Team")))
                self.answer(b"", 204)

        return Noting

    with ExitStack() as stack:
        started = [ThreadingHTTPServer(("127.0.0.1", 0), handler(number)) for number in range(_SERVICES)]
        for one in started:
            stack.enter_context(listening(one))
        yield Servers(started, noted)


@dataclass(frozen=True)
class Document:
    path: str
    scheme: str
    own: int
    """The number of the service that it names itself."""


@dataclass(frozen=True)
class Declared:
    name: str
    document: Document
    alias: str | None = None
    chooses: bool = False


@dataclass
class Application:
    strategy: str
    documents: list[Document] = field(default_factory=list)
    definitions: dict[str, list[Declared]] = field(default_factory=dict)
    services: dict[str, int] = field(default_factory=dict)
    """By keys: the number of the service."""
    logins: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    """By keys and schemes: a name and a password."""
    timeouts: dict[str, int] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    general: int | None = None
    """The timeout of all clients of documents."""
    requests: set[str] = field(default_factory=set)
    """The definitions that call the request, too."""
    request: int = 0
    """The number of its service."""
    decoys: dict[str, str] = field(default_factory=dict)
    """Properties of keys that no client has."""

    def key(self, definition: str, function: Declared, choice: str) -> str:
        name = function.alias
        if name is None and self.strategy == "FUNCTION_NAME":
            name = f"{definition}_{function.name}"
        elif name is None:
            path = function.document.path
            name = path if self.strategy == "FULL_URI" else path.rpartition("/")[2]
        return re.sub("[^A-Za-z0-9]", "_", name) + (f".{choice}" if function.chooses else "")

    def expected(self, definition: str, choice: str) -> list[tuple[str, Seen, Seen]]:
        """Return what each call does: its key, what it does, and what it does if its properties are not written."""
        found = []
        for one in self.definitions[definition]:
            key = self.key(definition, one, choice)
            login = self.logins.get((key, one.document.scheme))
            credentials = None if login is None else _basic(*login)
            general = (self.general or _DEFAULT_MS) / 1000
            seconds = self.timeouts[key] / 1000 if key in self.timeouts else general
            plain: Seen = (one.document.own, None, None, general)
            usual = self.services.get(key, one.document.own), credentials, self.headers.get(key), seconds
            found.append((key, usual, plain))
        if definition in self.requests:
            pinged: Seen = (self.request, None, None, _DEFAULT_MS / 1000)
            found.append((_REQUEST, pinged, pinged))
        return found

    def known_keys(self) -> set[str]:
        return {key for name in self.definitions for choice in _CHOICES for key, *_ in self.expected(name, choice)}

    def properties(self, urls: list[str]) -> dict[str, str]:
        found = {"kogito.sw.operationIdStrategy": self.strategy} if self.strategy else {}
        found |= {f"quarkus.rest-client.{_quoted(key)}.url": urls[number] for key, number in self.services.items()}
        found |= {f"quarkus.rest-client.{_quoted(key)}.read-timeout": str(ms) for key, ms in self.timeouts.items()}
        found |= {f'quarkus.rest-client.{_quoted(key)}.headers."X-Team"': team for key, team in self.headers.items()}
        if self.general is not None:
            found["quarkus.rest-client.read-timeout"] = str(self.general)
        if self.requests:
            host, _, port = urls[self.request].removeprefix("http://").partition(":")
            found |= {f"kogito.sw.functions.{_REQUEST}.host": host, f"kogito.sw.functions.{_REQUEST}.port": port}
        for (key, scheme), (name, password) in self.logins.items():
            begin = f"quarkus.openapi-generator.{_quoted(key)}.auth.{scheme}"
            found |= {f"{begin}.username": name, f"{begin}.password": password}
        return found | self.decoys


def _quoted(key: str) -> str:
    return f'"{key}"' if "." in key else key


def _basic(name: str, password: str) -> str:
    return f"Basic {base64.b64encode(f'{name}:{password}'.encode()).decode()}"


def project_of(seed: int) -> dict[str, Application]:
    """Return the applications of a project, by the names of their folders; one alone is in the project's own."""
    chance = Random(seed)  # noqa: S311 - no secret
    numbers = iter(chance.sample(range(_SERVICES), _SERVICES))
    count = chance.choice((1, 1, 2, 3))
    names = [""] if count == 1 else chance.sample(_APPLICATIONS, count)
    return {name: _application(name, chance, numbers) for name in names}


def _application(name: str, chance: Random, numbers: Iterator[int]) -> Application:
    project = Application(chance.choice(_STRATEGIES))
    paths = chance.sample([folder + file for folder in _FOLDERS for file in _FILES], chance.randint(2, 4))
    project.documents = [Document(path, chance.choice(_SCHEMES), next(numbers)) for path in paths]
    for number in range(chance.randint(1, 4)):
        names = chance.sample(_NAMES, chance.randint(1, len(_NAMES)))
        aliases = dict(zip(_ALIASES, chance.sample(project.documents * 2, 2), strict=False))
        functions = []
        for called_ in names:
            alias = chance.choice(list(aliases)) if chance.random() < 0.25 else None
            document = aliases[alias] if alias is not None else chance.choice(project.documents)
            functions.append(Declared(called_, document, alias, chance.random() < 0.25))
        project.definitions[f"{name}flow{number}"] = functions
    keys = {
        (project.key(definition, one, choice), one.document.scheme)
        for definition, functions in project.definitions.items()
        for one in functions
        for choice in _CHOICES[:2]
    }
    _say(project, name, keys, chance, numbers)
    return project


def _say(project: Application, name: str, keys: set[tuple[str, str]], chance: Random, numbers: Iterator[int]) -> None:
    """Say something of the clients of *project* with these *keys* and schemes, of all, and of none."""
    for key in sorted({key for key, _ in keys}):
        if chance.random() < 0.7 and (free := next(numbers, None)) is not None:
            project.services[key] = free
        if chance.random() < 0.3:
            project.timeouts[key] = chance.randint(31, 99) * 1000
        if chance.random() < 0.3:
            project.headers[key] = f"{name}-{chance.randrange(1000)}"
    if not any(one.chooses for functions in project.definitions.values() for one in functions):
        project.general = chance.choice((None, chance.randint(100, 200) * 1000))
    project.requests = {one for one in project.definitions if chance.random() < 0.3}
    if project.requests:
        project.request = next(numbers)
    for key, scheme in sorted(keys):
        if chance.random() < 0.7:
            project.logins[key, scheme] = f"user-{len(project.logins)}", f"pw-{chance.randrange(10**12)}"
    project.decoys = dict(_decoys(project, {key for key, _ in keys}, chance, numbers))


def _decoys(project: Application, keys: set[str], chance: Random, numbers: Iterator[int]) -> Iterator[tuple[str, str]]:
    """Yield properties that one may think to mean a client, and that SonataFlow does not read for any."""
    near = {re.sub("[^A-Za-z0-9]", "_", one.path.rpartition("/")[2]) for one in project.documents}
    near |= {one.path.rpartition("/")[2].partition(".")[0] for one in project.documents} | set(_NAMES)
    for key in sorted(near - keys):
        if chance.random() < 0.3 and (free := next(numbers, None)) is not None:
            yield f"quarkus.rest-client.{key}.url", f"http://127.0.0.1:1/{free}"
            yield f"quarkus.openapi-generator.{key}.auth.{_SCHEMES[0]}.username", "nobody"


def write_application(project: Application, folder: Path, urls: list[str]) -> None:
    for one in project.documents:
        path = folder / one.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(_openapi(one, urls)))
    for definition, functions in project.definitions.items():
        (folder / f"{definition}.sw.json").write_text(json.dumps(_definition(definition, functions, project)))
    text = "\n".join(f"{key}={value}" for key, value in project.properties(urls).items())
    (folder / "application.properties").write_text(text)


def _openapi(document: Document, urls: list[str]) -> dict[str, Any]:
    operation = {"operationId": "send", "responses": {"204": {"description": "sent"}}}
    return {
        "openapi": "3.0.3",
        "info": {"title": "t", "version": "1"},
        "servers": [{"url": urls[document.own]}],
        "security": [{document.scheme: []}],
        "paths": {"/send": {"post": operation}},
        "components": {"securitySchemes": {document.scheme: {"type": "http", "scheme": "basic"}}},
    }


def _definition(name: str, functions: list[Declared], project: Application) -> dict[str, Any]:
    declared: list[dict[str, Any]] = [
        {"name": one.name, "operation": f"{one.alias or one.document.path}#send"} for one in functions
    ]
    for one, function in zip(functions, declared, strict=True):
        if one.chooses:
            function["metadata"] = {"configKey": ".cluster"}
    if name in project.requests:
        declared.append({"name": _REQUEST, "type": "custom", "operation": "rest:post:/send"})
    uris = {one.alias: one.document.path for one in functions if one.alias is not None}
    actions = [{"functionRef": one["name"]} for one in declared]
    return {
        "id": name, "version": "1.0", "specVersion": "0.8", "start": "Call",
        "extensions": [{"extensionid": "workflow-uri-definitions", "definitions": uris}],
        "functions": declared,
        "states": [{"name": "Call", "type": "operation", "actions": actions, "end": True}],
    }  # fmt: skip


class Worker(CallingThread):
    """Makes calls as a worker with these settings and secrets does."""

    def __init__(self, settings: Settings, secrets: Mapping[str, JSON]) -> None:
        super().__init__()
        self._settings, self._secrets = settings, Secrets(secrets)
        self.seconds: list[float] = []

    async def start(self) -> Calls:
        return Calls(settings=self._settings, secrets=self._secrets)

    async def attempt(self, calls: Calls, call: FunctionCall, source: str, key: str, attempt: int) -> JSON:
        options = self._settings.options_for(callee_of(call.function), "127.0.0.1", 1)
        self.seconds.append(options.timeout.total_seconds())
        return await calls.perform(call, source=source, key=key, attempt=attempt)


def called(
    definition: Definition, choice: str, settings: Settings, secrets: Mapping[str, JSON], there: Servers
) -> tuple[list[Seen], str | None]:
    there.noted.clear()
    worker = Worker(settings, secrets)
    context = SimulationContext([definition], {}, [], {}, stub_services=worker)
    ended = context.run({"cluster": choice})
    seen: list[Seen] = [(*noted, seconds) for noted, seconds in zip(there.noted, worker.seconds, strict=False)]
    return seen, None if ended.error is None else ended.error.message


def secrets_named(migration: Migration, properties: Mapping[str, Mapping[str, str]]) -> dict[str, JSON]:
    """Return the secrets that a person makes of the findings: the values are those of the properties in each folder."""
    found: dict[str, Any] = {}
    for one in migration.findings:
        if (told := _SECRET.match(one.message)) is not None:
            found.setdefault(told[3], {})[told[2]] = properties[_application_of(one)][told[1]]
    return found


def _application_of(finding: Finding) -> str:
    return finding.file.rpartition("/")[0]


@dataclass
class Way:
    """A way to run definitions: where these are, and with what."""

    name: str
    folder: Path
    migration: Migration
    settings: Settings
    secrets: Mapping[str, JSON]
    mode: Literal["sonataflow"] | None = None

    def is_told(self, application: str, key: str) -> bool:
        """Return True if a finding says that what is said of *key* is not written."""
        mine = (one for one in self.migration.findings if _application_of(one) == application)
        return any("is not written" in one.message and f".{_quoted(key)}." in one.message for one in mine)


def _way(
    name: str,
    project: Path,
    written: Path,
    properties: Mapping[str, Mapping[str, str]],
    mode: Literal["sonataflow"] | None = None,
) -> Way:
    migration = migrate(project)
    write(migration, written)
    config = written / "swf.yaml"
    settings = read_settings({}, local=True, file=config if config.exists() else None)
    secrets = secrets_named(migration, properties)
    return Way(name, written if mode is None else project, migration, settings, secrets, mode)


def tried(seed: int, folder: Path, there: Servers) -> tuple[Counter[str], list[str]]:
    project, wrong, counts = project_of(seed), [], Counter[str](projects=1)
    original = folder / "project"
    properties = {name: one.properties(there.urls) for name, one in project.items()}
    for name, application in project.items():
        (original / name).mkdir(parents=True)
        write_application(application, original / name, there.urls)
    whole = _way("written", original, folder / "written", properties)
    for name, application in project.items():
        own = properties if not name else {"": properties[name]}
        in_the_mode = _way("in the mode", original / name, folder / "of one" / name, own, "sonataflow")
        for way, place in ((whole, name), (in_the_mode, "")):
            by_hand = {key for key in application.known_keys() if way.is_told(place, key)}
            for definition in application.definitions:
                file = way.folder / place / f"{definition}.sw.json"
                loaded = load(file, resources=in_mode(way.mode))
                for choice in _CHOICES:
                    expected = application.expected(definition, choice)
                    wanted = [plain if key in by_hand else usual for key, usual, plain in expected]
                    seen, error = called(loaded, choice, way.settings, way.secrets, there)
                    counts["calls"] += len(wanted)
                    counts["not told apart"] += sum(key in by_hand for key, *_ in expected)
                    for index, what in enumerate(_DIFFERENCES):
                        counts[what] += sum(a[index] != b[index] for a, b in zip(seen, wanted, strict=False))
                    if seen != wanted or error is not None:
                        wrong.append(f"seed {seed}, {definition} {way.name}, {choice}: {seen}, not {wanted}: {error}")
    counts["applications"] += len(project)
    return counts, wrong


_DIFFERENCES: Final = ("another service", "other credentials", "another header", "another time")


def line(counts: Mapping[str, int]) -> str:
    return (
        f"{counts['projects']} projects of {counts['applications']} applications, {counts['calls']} calls: "
        f"{counts['another service']} reached another service, "
        f"{counts['other credentials']} carried other credentials, "
        f"{counts['another header']} had another header, {counts['another time']} had another time; "
        f"{counts['not told apart']} calls of services that cannot be told apart, each with a finding"
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.migration.whose", description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0, help="The first of the seeds of the projects.")
    options = parser.parse_args()
    counts, wrong = Counter[str](), []
    with servers() as there, tempfile.TemporaryDirectory() as place:
        for seed in range(options.seed, options.seed + options.count):
            found, told = tried(seed, Path(place, str(seed)), there)
            counts += found
            wrong += told
    sys.stdout.write("\n".join([*wrong, line(counts), ""]))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
