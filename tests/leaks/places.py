"""Looks for secrets wherever else something of an instance stands, or is shown.

The instance has a call that takes long enough for a heartbeat, a child workflow, a timer, a produced event whose sink
refuses it, a service that is sent the operator's own header, and a task. Where the call fails, its next attempt is
waited for. At each of these moments the history, the description, the queries, the commands and the gateway are asked.
"""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from google.protobuf.json_format import MessageToDict
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from temporalio.service import RPCError

from swf_temporal import RunEnded
from swf_temporal.events.sinks import Sinks
from swf_temporal.functions.calling import Calls
from swf_temporal.functions.secrets import Secrets
from swf_temporal.http.gateway.serving import gateway
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.loading import load
from swf_temporal.languages.port import Definition
from swf_temporal.operations.client import Client
from swf_temporal.sdk.asgi_server import asgi_server
from swf_temporal.sdk.event_router import EventDelivery
from swf_temporal.settings.calls import Options, Settings
from swf_temporal.settings.events import SinkSettings
from swf_temporal.settings.http import GatewaySettings
from swf_temporal.settings.values import Address
from swf_temporal.temporal import activities
from swf_temporal.temporal import client as swf
from swf_temporal.temporal.connecting import Server
from swf_temporal.temporal.worker import make_worker
from tests.cli.forked import forking, run
from tests.leaks.corpus import KEY, LEAKS, PASSWORD, PIN, SECRETS, Leak
from tests.leaks.finding import QUERIES, Found, Service, logged, places_of, texts

PLACED: Final = tuple(
    one
    for one in LEAKS
    if one.name
    in {
        "a result as it is", "a result in base64", "an error as it is", "an error in base64", "a key of a result",
        "a line of the log of a library", "an exception, and what it came of", "a weak secret that is the result",
        "a number", "a number in an error", "a login", "what an expression fails with",
    }
)  # fmt: skip
"""The ways of the corpus that are tried in all places: what is found in a place does not depend on the encoding."""

HEADER: Final = "h7Rw-93Kd/pQ2x-configured"
TOKEN: Final = "t5Bn-62Yv/sL8m-of-the-sink"  # noqa: S105 - it is none
LOGIN: Final = "Q4-of-the-sink-71hJ/x"
_HEARTBEAT: Final = timedelta(seconds=1)
_LIMIT: Final = 120
_numbers = count(1)


@dataclass
class _Outside:
    refused: list[str] = field(default_factory=list)
    """The credentials of events."""

    async def repeat(self, request: Request) -> JSONResponse:
        return JSONResponse({"headers": dict(request.headers)})

    async def refuse(self, request: Request) -> JSONResponse:
        self.refused.append(request.headers["authorization"])
        return JSONResponse({"why": f"these are not known: {self.refused[-1]}"}, status_code=403)


class _Held(Service):
    """The service of a leak, which answers its first call when it is let go."""

    def __init__(self, leak: Leak) -> None:
        super().__init__(leak)
        self.released = asyncio.Event()

    async def answer(self, given: Any) -> Any:
        await self.released.wait()
        return self(given)


def _definitions(leak: Leak, id_: str, url: str) -> list[Definition]:
    action = {"functionRef": {"refName": "repeat", "arguments": {"given": leak.argument}}, "retryRef": "Later"}
    asking = {"functionRef": "ask", "actionDataFilter": {"toStateData": ".asked"}}
    telling = {"eventRef": {"produceEventRef": "Told", "data": "${ . }"}}
    common = {
        "specVersion": "0.8",
        "secrets": list(SECRETS),
        "functions": [
            {"name": "repeat", "type": "custom"},
            {"name": "ask", "type": "custom", "operation": f"rest:GET:{url}/repeat"},
        ],
        "retries": [{"name": "Later", "delay": "PT1H", "maxAttempts": 3}],
    }
    main = {
        **common,
        "id": id_,
        "errors": [{"name": "Any", "code": "*"}],
        "events": [
            {"name": "Told", "type": f"told-{id_}", "kind": "produced"},
            {"name": "Answered", "type": f"answered-{id_}", "metadata": {"dataSchema": {"type": "object"}}},
        ],
        "states": [
            {"name": "Call", "type": "operation", "actions": [action], "transition": "Ask"},
            {"name": "Ask", "type": "operation", "actions": [asking], "transition": "Tell"},
            {"name": "Tell", "type": "operation", "actions": [telling], "transition": "Refused",
             "onErrors": [{"errorRef": "Any", "transition": "Refused"}]},
            {"name": "Refused", "type": "inject", "data": {"why": "${ $WORKFLOW.error }"}, "transition": "Begin"},
            {"name": "Begin", "type": "operation", "transition": "Wait",
             "actions": [{"subFlowRef": f"{id_}-child", "sleep": {"before": "PT0.01S"}}]},
            {"name": "Wait", "type": "event", "onEvents": [{"eventRefs": ["Answered"]}], "end": True},
        ],
    }  # fmt: skip
    states = [
        {"name": "Nap", "type": "sleep", "duration": "PT0.01S", "transition": "Call again"},
        {"name": "Call again", "type": "operation", "actions": [action], "end": True},
    ]
    return [load(main), load({**common, "id": f"{id_}-child", "states": states})]


class _Places:
    def __init__(self, server: Server, handle: swf.Handle, asking: httpx.AsyncClient) -> None:
        self.kept: dict[str, list[str]] = {}
        self.children: set[str] = set()
        self._server = server
        self._handle = handle
        self._asking = asking

    async def look(self) -> None:
        id_ = self._handle.id
        for child in await self._look_at(self._handle):
            await self._look_at(self._server.client.get_workflow_handle(child))
            self.children.add(child)
        for path in (f"/instances/{id_}", f"/instances/{id_}/result", "/instances", "/tasks", f"/tasks/{id_}"):
            answer = await self._asking.get(path)
            self._add("gateway", [answer.text, dict(answer.headers)])
        for command in (["logs", id_, "-o", "json"], ["logs", id_], ["status", id_, "--trace"], ["tasks", "show", id_]):
            self._add("commands", [await self._told(*command)])

    async def _look_at(self, handle: swf.Handle) -> list[str]:
        history = await handle.fetch_history()
        self._add("history", [json.loads(history.to_json())])
        self._add("description", [MessageToDict((await handle.describe()).raw_description)])
        for name in QUERIES:
            self._add("queries", [await handle.query(name)])
        begun = [one.child_workflow_execution_started_event_attributes for one in history.events]
        return [one.workflow_execution.workflow_id for one in begun if one.workflow_execution.workflow_id]

    def _add(self, place: str, found: list[Any]) -> None:
        self.kept.setdefault(place, []).extend(texts(found))

    async def _told(self, *command: str) -> str:
        address = self._server.client.service_client.config.target_host
        arguments = [*command, "--address", address]
        _, out, err = await asyncio.to_thread(run, arguments, Path.cwd(), os.environ, "", _LIMIT)
        assert out + err, f"swf {' '.join(command)} printed nothing"
        return out + err


async def find_in_places(server: Server, leaks: Iterable[Leak]) -> list[Found]:
    forking()  # commands are run by threads, and only this one may start it
    return [await _find(server, leak) for leak in leaks]


async def _find(server: Server, leak: Leak) -> Found:
    service, outside = _Held(leak), _Outside()
    queue = f"places-{os.getpid()}-{next(_numbers)}"
    with logged() as lines, _beating():
        async with AsyncExitStack() as stack:
            routes = [Route("/repeat", outside.repeat), Route("/events", outside.refuse, methods=["POST"])]
            address = Address("127.0.0.1", 0)
            url = f"http://{await stack.enter_async_context(asgi_server(Starlette(routes=routes), address, ''))}"
            definitions = _definitions(leak, queue, url)
            await stack.enter_async_context(_worker(server, service, url, queue))
            asking = await stack.enter_async_context(_gateway(server, definitions, queue))
            handle = await swf.start(server.client, definitions, {}, workflow_id=queue, task_queue=queue)
            places = _Places(server, handle, asking)
            try:
                await asyncio.wait_for(_through(handle, leak, service, places), _LIMIT)
            finally:
                await _terminated(handle)
    goes_on = not (leak.name.startswith("what an expression") or leak.way in _FAILING)
    assert (len(outside.refused) == 2) == bool(places.children) == goes_on, "two events and a child were expected"
    sent = [one.partition(" ")[2] for one in outside.refused]
    looked_for = {*service.repeated, *sent, KEY, PASSWORD, str(PIN), PASSWORD[3:], HEADER, TOKEN, LOGIN}
    kept = {**places.kept, "log": lines}
    return Found(leak, places_of(looked_for, kept), altered=False)


_FAILING: Final = ("error", "exception")


async def _through(handle: swf.Handle, leak: Leak, service: _Held, places: _Places) -> None:
    is_evaluated = not leak.name.startswith("what an expression")
    if is_evaluated:
        await _pending(handle, lambda one: one.HasField("last_heartbeat_time"))
        await places.look()
    service.released.set()
    if leak.way in _FAILING or not is_evaluated:
        # An expression that fails is not tried again, and the instance ends.
        await (_pending(handle, lambda one: one.attempt > 1) if is_evaluated else _ended(handle))
        await places.look()
        return
    while not (await handle.query("status"))["awaiting"]:
        await asyncio.sleep(0.05)
    await places.look()
    await handle.execute_update("deliver", {"name": "Answered", "data": {}})
    await swf.result(handle)
    await places.look()


async def _pending(handle: swf.Handle, is_there: Any) -> None:
    while not any(is_there(one) for one in (await handle.describe()).raw_description.pending_activities):
        await asyncio.sleep(0.05)


async def _ended(handle: swf.Handle) -> None:
    try:
        await swf.result(handle)
    except RunEnded:
        return


async def _terminated(handle: swf.Handle) -> None:
    try:
        await handle.terminate()
    except RPCError:
        return  # it has ended


@asynccontextmanager
async def _worker(server: Server, service: _Held, url: str, queue: str) -> AsyncIterator[None]:
    settings = Settings(calls=Options(headers={"X-Api-Key": HEADER, "Cookie": f"session={HEADER}"}))
    calls = Calls({"repeat": service.answer}, settings=settings, secrets=Secrets(SECRETS))
    credentials = {"token": {"token": TOKEN}, "login": {"username": "ada", "password": LOGIN}}
    sinks = Sinks(
        [
            SinkSettings(name=name, url=f"{url}/events", credentials=one, max_attempts=1)
            for name, one in credentials.items()
        ],
        settings,
    )
    try:
        async with make_worker(
            server.client, Catalogue(()), calls, EventDelivery(sinks), task_queue=queue, debug_mode=True
        ):
            yield
    finally:
        await calls.aclose()
        await sinks.aclose()


@asynccontextmanager
async def _gateway(server: Server, definitions: list[Definition], queue: str) -> AsyncIterator[httpx.AsyncClient]:
    clients: Mapping[str | None, Client] = {None: Client.of(server)}
    settings = GatewaySettings(address=Address("127.0.0.1", 0), task_queue=queue)
    async with (
        gateway(settings, Catalogue(definitions), dict(clients), "") as url,
        httpx.AsyncClient(base_url=url, trust_env=False, timeout=60) as client,
    ):
        yield client


@contextmanager
def _beating() -> Iterator[None]:
    """Have heartbeats sent more often than usual."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(activities, "HEARTBEAT", _HEARTBEAT)
        yield
