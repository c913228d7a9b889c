"""Sends secrets in every way of authentication and part of a request, to a service that repeats them in all spellings.

A worker and a gateway are processes of their own, with their logs at the lowest level, metrics and traces. Histories,
queries, answers, pages, logs, metrics, spans, the output of commands, and all files that they leave are searched.
"""

import asyncio
import html
import json
import os
import re
import secrets
import urllib.request
from base64 import b64decode
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from http.cookies import SimpleCookie
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import parse_qs, unquote, urlsplit

import httpx
from google.protobuf.json_format import MessageToDict
from temporalio.client import WorkflowExecutionStatus

from swf_temporal import Client
from swf_temporal.languages.loading import load
from swf_temporal.temporal.connecting import Server
from tests.cli.conftest import COMMAND, Place, free_port
from tests.cli.forked import forking, run
from tests.leaks.corpus import BUSINESS, ENCODINGS, Leak
from tests.leaks.finding import QUERIES, Found, places_of, texts
from tests.listening import Quiet, listening
from tests.sampling import sample

_LIMIT: Final = 120
_FILE: Final = "secrets.json"


def _drawn(name: str) -> str:
    """Return a secret that no text has by chance."""
    return f"{name}-{secrets.token_urlsafe(18)}+/=A9z"


SECRETS: Final[dict[str, Any]] = {
    "login": {"username": "ada", "password": _drawn("p4Ss")},
    "client": {"id": "app", "secret": _drawn("cL13nt")},
    "bearer": _drawn("b3Ar"),
    "key": _drawn("k3Y"),
    "argument": _drawn("aRg5"),
}
_OAUTH2: Final = {
    "scheme": "oauth2",
    "clientId": "${ $SECRETS.client.id }",
    "clientSecret": "${ $SECRETS.client.secret }",
}
_LOGIN: Final = {"username": "${ $SECRETS.login.username }", "password": "${ $SECRETS.login.password }"}
_KEY: Final = {"scheme": "apiKey", "name": "x-own", "key": "${ $SECRETS.key }"}
_ARGUMENT: Final = "${ $SECRETS.argument }"
AUTHS: Final[dict[str, dict[str, Any]]] = {
    "basic": {"scheme": "basic", **_LOGIN},
    "bearer": {"scheme": "bearer", "token": "${ $SECRETS.bearer }"},
    "oauth2 of a client": {**_OAUTH2, "grantType": "clientCredentials"},
    "oauth2 of a person": {**_OAUTH2, "grantType": "password", **_LOGIN},
    "oauth2 by exchange": {**_OAUTH2, "grantType": "tokenExchange", "subjectToken": "${ $SECRETS.bearer }"},
    "an API key in a header": {**_KEY, "in": "header"},
    "an API key in the query": {**_KEY, "in": "query"},
    "an API key in a cookie": {**_KEY, "in": "cookie"},
}
ARGUMENTS: Final[dict[str, dict[str, Any]]] = {
    "a header": {"headers": {"x-own": _ARGUMENT}},
    "a header with more": {"headers": {"authorization": '${ "Bearer " + $SECRETS.argument }'}},
    "a cookie": {"cookies": {"own": _ARGUMENT}},
    "the query": {"query": {"own": _ARGUMENT}},
    "the body": {"body": {"own": {"inner": [_ARGUMENT]}}},
}
WAYS: Final = (*AUTHS, *ARGUMENTS)


class _Repeating(ThreadingHTTPServer):
    """A service that repeats what it is told, refuses to say more, issues tokens, and collects spans."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.told: dict[str, set[str]] = {}
        """The credentials that it was told, by their ways."""
        self.spans: list[bytes] = []


class _Answers(Quiet):
    def respond(self, content: bytes) -> None:
        server, parts = cast("_Repeating", self.server), urlsplit(self.path)
        if parts.path == "/v1/traces":
            server.spans.append(content)
            self.answer(b"")
        elif parts.path.startswith("/token/"):
            way, token = unquote(parts.path.split("/")[2]), _drawn("t0k3n")
            told = server.told.setdefault(way, set())
            told |= {token, *_in_header(self.headers.get("authorization", ""))}
            told |= {one for values in parse_qs(content.decode()).values() for one in values if one in _known()}
            self.answer(json.dumps({"access_token": token, "token_type": "Bearer", "expires_in": 3600}).encode())
        elif parts.path.startswith("/w/"):
            self._repeat(unquote(parts.path.split("/")[2]), content, is_refused=parts.path.endswith("/refused"))
        else:
            self.answer(b"{}", 404)

    def _repeat(self, way: str, content: bytes, *, is_refused: bool) -> None:
        server = cast("_Repeating", self.server)
        found = set(_in_header(self.headers.get("authorization", "")))
        found |= {self.headers.get("x-own", ""), *parse_qs(urlsplit(self.path).query).get("own", ())}
        found |= {*parse_qs(urlsplit(self.path).query).get("x-own", ())}
        found |= {unquote(one.value) for one in SimpleCookie(self.headers.get("cookie", "")).values()}
        found |= {one for one in _known() if one in content.decode()}
        found.discard("")
        server.told.setdefault(way, set()).update(found)
        said = {f"{number} {name}": f"said: {encode(one)}; no more" for number, one in enumerate(sorted(found))
                for name, encode in ENCODINGS.items()}  # fmt: skip
        body = json.dumps({"business": BUSINESS, "said": said, "own": sorted(found)}).encode()
        self.answer(body, 403 if is_refused else 200)


def _known() -> set[str]:
    return {one for one in texts(SECRETS) if len(one) > 20}


def _in_header(value: str) -> Iterator[str]:
    scheme, _, credentials = value.partition(" ")
    if credentials:
        yield credentials
    if scheme == "Basic":
        yield b64decode(credentials).decode().partition(":")[2]


def _definition(url: str) -> dict[str, Any]:
    auth = [
        {"name": name, "scheme": one["scheme"], "properties": {
            **{key: value for key, value in one.items() if key != "scheme"},
            **({"authority": f"{url}/token/{name.replace(' ', '%20')}"} if one["scheme"] == "oauth2" else {}),
        }}
        for name, one in AUTHS.items()
    ]  # fmt: skip
    functions, states = list[dict[str, Any]](), list[dict[str, Any]]()
    for number, way in enumerate(WAYS):
        path = f"{url}/w/{way.replace(' ', '%20')}"
        more = {"authRef": way} if way in AUTHS else {}
        for name, end in ((f"ask {way}", ""), (f"refuse {way}", "/refused")):
            functions.append({"name": name, "type": "custom", "operation": f"rest:POST:{path}{end}", **more})
        asks, refuses = (
            {"functionRef": {"refName": f"{verb} {way}", "arguments": ARGUMENTS.get(way, {})},
             "actionDataFilter": {"toStateData": f".asked{number}"}}
            for verb in ("ask", "refuse")
        )  # fmt: skip
        after = f"Ask {number + 1}" if number + 1 < len(WAYS) else "Wait"
        states += [
            {"name": f"Ask {number}", "type": "operation", "actions": [asks], "transition": f"Refuse {number}"},
            {"name": f"Refuse {number}", "type": "operation", "actions": [refuses], "transition": after,
             "onErrors": [{"errorRef": "Any", "transition": f"Keep {number}"}]},
            {"name": f"Keep {number}", "type": "inject", "data": {f"why{number}": "${ $WORKFLOW.error }"},
             "transition": after},
        ]  # fmt: skip
    states += [
        {"name": "Wait", "type": "event", "onEvents": [{"eventRefs": ["Answered"]}], "transition": "Fail"},
        {"name": "Fail", "type": "operation", "end": True,
         "actions": [{"functionRef": {"refName": f"refuse {WAYS[0]}", "arguments": {}}}]},
    ]  # fmt: skip
    return {
        "id": "credentials", "version": "1.0", "specVersion": "0.8", "secrets": list(SECRETS), "auth": auth,
        "functions": functions, "errors": [{"name": "Any", "code": "*"}],
        "events": [{"name": "Answered", "type": "answered", "source": "people"}], "states": states,
    }  # fmt: skip


class _Kept:
    def __init__(self) -> None:
        self.places: dict[str, list[str]] = {}

    def add(self, place: str, found: Iterable[Any]) -> None:
        for one in found:
            self.places.setdefault(place, []).extend(texts(one))


async def find_credentials(server: Server, folder: Path) -> list[Found]:
    """Return what was found of each way. *folder* is that of the processes."""
    forking()  # commands are run by threads, and only this one may start it
    kept, service = _Kept(), _Repeating()
    address = server.client.service_client.config.target_host
    with listening(service):
        text = json.dumps(_definition(service.url))
        async with _processes(folder, address, service.url, text, kept) as pages:
            instance = await (await Client.connect(address)).start(load(text), {}, task_queue="credentials")
            async with asyncio.timeout(_LIMIT):
                while not (status := await instance.status()).get("awaiting"):
                    assert status["status"] == "running", status
                    await asyncio.sleep(0.1)
            output = cast("dict[str, Any]", await instance.data())
            await _look(server, address, folder, instance.id, pages, kept)
            await instance.send_event({"name": "Answered", "data": {}})
            async with asyncio.timeout(_LIMIT):
                while (await instance.status())["status"] == "running":
                    await asyncio.sleep(0.1)
            await _look(server, address, folder, instance.id, pages, kept)
        kept.add("traces", ([one.decode(errors="replace") for one in service.spans],))
    _search_files(folder, kept)
    assert any("***" in one for one in kept.places["history"]), "nothing was hidden"
    found = list[Found]()
    for number, way in enumerate(WAYS):
        told = service.told.get(way, set())
        assert told, f"{way}: the service was told nothing"
        spelled = {encode(one) for one in told for encode in ENCODINGS.values()}
        altered = output[f"asked{number}"]["business"] != BUSINESS or f"why{number}" not in output
        found.append(Found(Leak(f"by {way}"), places_of(spelled, kept.places), altered))
    missing = {"history", "queries", "log", "traces", "metrics", "pages", "files", "commands"} - kept.places.keys()
    assert not missing, f"nothing was kept of {missing}"
    return found


@asynccontextmanager
async def _processes(
    folder: Path, address: str, url: str, definition: str, kept: _Kept
) -> AsyncIterator[httpx.AsyncClient]:
    place = Place(folder)
    place.write("definitions/credentials.json", definition)
    place.write(_FILE, json.dumps(SECRETS))
    (folder / "tmp").mkdir()
    place.env |= {
        "SWF_SECRETS_FILE": str(folder / _FILE), "SWF_LOG_LEVEL": "debug", "TMPDIR": str(folder / "tmp"),
        "OTEL_EXPORTER_OTLP_ENDPOINT": url, "OTEL_EXPORTER_OTLP_COMPRESSION": "none", "SWF_TASK_QUEUE": "credentials",
        "SWF_ALLOW_HOSTS": "127.0.0.1",
    }  # fmt: skip
    ports = free_port(), free_port()
    common = ["definitions", "--address", address, "--metrics"]

    def command(log: str) -> list[str]:
        return ["sh", "-c", f'exec "$@" 2>{log}', "-", *COMMAND]

    gateway_words = ["gateway", *common, str(ports[1]), "--port", "0", "--console"]
    async with AsyncExitStack() as stack:
        worker = stack.enter_context(place.running("worker", *common, str(ports[0]), command=command("worker.log")))
        gateway = stack.enter_context(place.running(*gateway_words, command=command("gateway.log"), stream="stdout"))
        base = (await asyncio.to_thread(gateway.until, "http://")).strip()
        yield await stack.enter_async_context(httpx.AsyncClient(base_url=base, trust_env=False, timeout=60))
        kept.add("metrics", await asyncio.gather(*(asyncio.to_thread(_scraped, one) for one in ports)))
        for one in (worker, gateway):
            one.process.terminate()
            await asyncio.to_thread(one.process.wait, _LIMIT)
    for name in ("worker.log", "gateway.log"):
        kept.add("log", [(folder / name).read_text(encoding="utf-8")])


def _scraped(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=_LIMIT) as answer:
        return str(answer.read().decode())


async def _look(server: Server, address: str, folder: Path, id_: str, pages: httpx.AsyncClient, kept: _Kept) -> None:
    handle = server.client.get_workflow_handle(id_)
    kept.add("history", [json.loads((await handle.fetch_history()).to_json())])
    kept.add("description", [MessageToDict((await handle.describe()).raw_description)])
    kept.add("queries", [await handle.query(name) for name in QUERIES])
    of_instance = (f"/instances/{id_}", f"/instances/{id_}/result", "/instances", "/tasks")
    of_console = ("/definitions", "/definitions/credentials", "/instances", f"/instances/{id_}",
                  f"/instances/{id_}/pictures", f"/instances/{id_}/trace", "/tasks")  # fmt: skip
    opened = sample(await _opened(pages, f"/console/instances/{id_}"), "pages of steps", 12)
    for place, paths in (("gateway", of_instance), ("pages", [*(f"/console{one}" for one in of_console), *opened])):
        answers = [await pages.get(path) for path in paths]
        kept.add(place, [[one.text, dict(one.headers)] for one in answers])
    drawn = ["graph", "--instance", id_, "--output", str(folder / "drawn.svg")]
    has_ended = (await handle.describe()).status is not WorkflowExecutionStatus.RUNNING
    last = [["result", id_]] if has_ended else []  # which waits for the end
    for words in (["logs", id_, "-o", "json"], ["logs", id_], ["status", id_, "--trace"], drawn, ["list"], *last):
        _, out, err = await asyncio.to_thread(run, [*words, "--address", address], folder, os.environ, "", _LIMIT)
        kept.add("commands", [out, err])


async def _opened(pages: httpx.AsyncClient, page: str) -> list[str]:
    """Return the addresses of all steps and parts that the graph, the timeline and the trace of an instance link to."""
    shown = [(await pages.get(f"{page}/{one}")).text for one in ("pictures", "trace")]
    return sorted({html.unescape(one) for text in shown for one in re.findall(r'href="([^"]*/steps\?[^"]*)"', text)})


def _search_files(folder: Path, kept: _Kept) -> None:
    """Read every file that the processes and commands have left, but for that with the secrets."""
    for path in folder.rglob("*"):
        if path.is_file() and path.name != _FILE:
            kept.add("files", [path.read_bytes().decode(errors="replace")])
