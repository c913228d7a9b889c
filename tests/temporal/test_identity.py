"""Who made a change: by the gateway, the console, a command or a program, as the history of the instance has it."""

import getpass
import logging
import os
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from swf_temporal.base.data import JSON
from swf_temporal.operations.client import Client
from swf_temporal.operations.identity import MAX_LENGTH, identity_of, user_identity
from swf_temporal.sdk.asgi_server import asgi_server
from swf_temporal.settings.http import GatewaySettings, Operation, Tenant, name_of_key
from swf_temporal.settings.values import Address
from swf_temporal.temporal import client as swf
from tests.temporal.conftest import Bench, Running, named
from tests.temporal.test_console import APPROVAL, post, until
from tests.temporal.test_gateway import served

Headers = dict[str, str]
Tokens = Callable[[str], Headers]
SHOP, BANK, READER = "a-key-of-the-shop-0001", "a-key-of-the-bank-0002", "a-key-that-reads-0003"
INPUT: JSON = {"item": "x", "quantity": 1}


@asynccontextmanager
async def shared(
    bench: Bench, folder: Path, **settings: Any
) -> AsyncIterator[tuple[httpx.AsyncClient, Running, Tokens]]:
    """Serve an approval to the tenants shop, with two keys and people with JWTs, and bank, with a key of its own."""
    mine = named(APPROVAL)
    (folder / "reader").write_text(READER)
    (folder / "gateway.yaml").write_text(f"""\
gateway:
  tenants:
    shop: {{keys: [env:SHOP_KEY], claims: {{department: shop}}, workflows: ["{mine.id}"]}}
    bank: {{keys: [env:BANK_KEY], workflows: ["other"]}}
    readers: {{keys: ["file:reader"], workflows: ["*"], operations: [read]}}
  jwks: http://127.0.0.1:1/jwks.json
  audience: gateway
""")
    env = {"SHOP_KEY": SHOP, "BANK_KEY": BANK}
    tenants = GatewaySettings.read(env, file=folder / "gateway.yaml", arguments={"address": Address("", 0)}).tenants
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    jwk = {**jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key(), as_dict=True), "kid": "1", "use": "sig"}

    async def keys(_: Request) -> Response:
        return JSONResponse({"keys": [jwk]})

    def token(subject: str) -> Headers:
        facts = {"aud": "gateway", "exp": time.time() + 60, "department": "shop", "sub": subject}
        return {"Authorization": f"Bearer {jwt.encode(facts, key, algorithm='RS256', headers={'kid': '1'})}"}

    issuer = Starlette(routes=[Route("/jwks.json", keys)])
    async with (
        asgi_server(issuer, Address("127.0.0.1", 0), "") as address,
        bench.worker(mine) as worker,
        served(
            bench, [mine], worker.queue, console=True, sonataflow_api=True,
            tenants=tenants, jwks=f"http://{address}/jwks.json", audience="gateway", **settings,
        ) as client,
    ):  # fmt: skip
        yield client, worker, token


async def told_by(bench: Bench, instance: str) -> dict[str, str]:
    """Return the identity that each change in the history has, by the kind of its event."""
    found = {}
    async for event in bench.client.get_workflow_handle(instance).fetch_history_events():
        kind = str(event.WhichOneof("attributes")).removesuffix("_event_attributes")
        about = getattr(event, f"{kind}_event_attributes")
        by = (
            about.accepted_request.meta.identity if kind.endswith("update_accepted") else getattr(about, "identity", "")
        )
        if by and not kind.startswith("workflow_task"):
            found[kind.removeprefix("workflow_execution_")] = str(by)
    return found


async def test_requests(bench: Bench, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Each change has who made it: the subject of a token or the name of a key, and never the key."""
    caplog.set_level(logging.INFO, "swf")
    async with shared(bench, tmp_path) as (client, worker, token):
        started = await client.post(f"/workflows/{worker.definitions[0].id}", json=INPUT, headers=token("ann"))
        instance = started.json()["id"]
        await worker.awaiting(bench.client.get_workflow_handle(instance), "Approved")
        key = {"X-API-Key": SHOP}
        patched = await client.patch(f"/{worker.definitions[0].id}/{instance}", json={"n": 1}, headers=token("bob"))
        cancelled = await client.post(f"/instances/{instance}/cancel", json={"reason": "twice"}, headers=key)
        foreign = await client.post(f"/instances/{instance}/cancel", headers={"X-API-Key": BANK})
        reader = await client.post(f"/instances/{instance}/cancel", headers={"X-API-Key": READER})
        result = await client.get(f"/instances/{instance}/result?wait=20", headers=key)
        found = await told_by(bench, instance)
    assert [one.status_code for one in (started, patched, cancelled, foreign, reader)] == [202, 200, 202, 404, 403]
    assert result.json()["status"] == "cancelled"
    assert found == {"started": "shop/ann", "update_accepted": "shop/bob", "cancel_requested": "shop:SHOP_KEY"}
    assert f"cancelled {worker.definitions[0].id} 1.0: shop:SHOP_KEY: twice" in caplog.messages
    assert f"shop:SHOP_KEY sent POST /instances/{instance}/cancel: 202" in caplog.messages
    assert f"shop/ann sent POST /workflows/{worker.definitions[0].id}: 202" in caplog.messages
    assert not [one for one in caplog.messages if "bank" in one or "readers" in one]
    assert SHOP not in caplog.text


HOSTILE = {
    "markup": "<script>alert(1)</script>",
    "control characters": "ann\x1b[31m\r\nroot sent POST /events: 202\u202e",
    "ten thousand": "a" * 10_000,
    "another tenant": "../bank:BANK_KEY",
    "a command": "root@host",
}


@pytest.mark.parametrize("subject", HOSTILE.values(), ids=HOSTILE)
async def test_a_hostile_subject(bench: Bench, tmp_path: Path, subject: str, caplog: pytest.LogCaptureFixture) -> None:
    """Whatever a token says of its subject, it is in one line, of limited length, and within its tenant."""
    caplog.set_level(logging.INFO, "swf")
    async with shared(bench, tmp_path) as (client, worker, token):
        handle = await worker.start(INPUT)
        ended = await client.post(f"/instances/{handle.id}/terminate", headers=token(subject))
        await client.post("/console/login", data={"key": SHOP})
        shown = (await client.get(f"/console/instances/{handle.id}")).text
        found = (await told_by(bench, handle.id))["terminated"]
    assert ended.status_code == 202
    assert found.startswith("shop/")
    assert found.isprintable()
    assert len(found) <= MAX_LENGTH
    assert [one for one in caplog.messages if one.startswith(f"{found} sent POST /instances/{handle.id}")]
    assert not [one for one in caplog.messages if "\n" in one or one.startswith("root")]
    assert "<script>alert" not in shown
    assert "terminated" in shown


async def test_the_console(bench: Bench, tmp_path: Path) -> None:
    """What a person does there is done by the login, also where several have the page of an instance open."""
    async with shared(bench, tmp_path) as (client, worker, token):
        instance = (await worker.start(INPUT)).id
        path = f"/console/instances/{instance}"
        for subject, action in (("ann", "pause"), ("bob", "resume"), ("cyd", "cancel")):
            key = token(subject)["Authorization"].partition(" ")[2]
            await client.post("/console/login", data={"key": key})
            shown = await until(client, path, "Terminate")
            done = await post(client, f"{path}/{action}", shown, reason=f"for {subject}")
            assert done.status_code == 303
        found = await told_by(bench, instance)
    assert {kind: by for kind, by in found.items() if kind != "started"} == {
        "paused": "shop/ann", "unpaused": "shop/bob", "cancel_requested": "shop/cyd",
    }  # fmt: skip


async def test_without_tenants(bench: Bench) -> None:
    """The gateway does not know who sends requests, and says that."""
    mine = named(APPROVAL)
    async with bench.worker(mine) as worker, served(bench, [mine], worker.queue) as client:
        handle = await worker.start(INPUT)
        await client.post(f"/instances/{handle.id}/terminate", json={"reason": "over"})
        found = await told_by(bench, handle.id)
        shown = (await client.get(f"/instances/{handle.id}")).json()
    who = f"unauthenticated@{socket.gethostname()}"
    assert found["terminated"] == who
    assert shown["reason"] == f"the workflow was terminated: {who}: over"


async def test_a_program(bench: Bench) -> None:
    """A program says for whom it acts, request by request; its other requests have the identity of the SDK."""
    mine = named(APPROVAL)
    client = Client(bench.client)
    async with bench.worker(mine) as worker:
        handle = await worker.start(INPUT)
        await worker.awaiting(handle, "Approved")
        await client.acting_as("ann").instance(handle.id).send_event({"name": "Approved", "data": {"by": "me"}})
        assert (await swf.result(handle))["approval"] == {"by": "me"}  # type: ignore[index,call-overload]
        found = await told_by(bench, handle.id)
    assert found == {"started": bench.client.identity, "update_accepted": "ann"}
    assert client.acting_as("ann").server is client.server


def test_identities_differ_if_their_texts_do() -> None:
    texts = ["ann", "ann\n", "ann\r", "a" * MAX_LENGTH, "a" * (MAX_LENGTH + 1), "b" * 9999, "\ud800", "ü✓"]
    found = [identity_of(one) for one in texts]
    assert len(set(found)) == len(texts)
    assert all(one.isprintable() and len(one) <= MAX_LENGTH for one in found)
    assert [found[0], found[3], found[7]] == ["ann", "a" * MAX_LENGTH, "ü✓"]


def test_a_user_without_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container, a user may have a number alone."""

    def nobody() -> str:
        raise KeyError("getpwuid(): uid not found: 12345")

    assert user_identity() == f"{getpass.getuser()}@{socket.gethostname()}"
    monkeypatch.setattr(getpass, "getuser", nobody)
    assert user_identity() == f"{os.getuid()}@{socket.gethostname()}"


def test_keys_have_the_names_of_their_places(tmp_path: Path) -> None:
    """A key that a program gives has none, and the names stay when a section is changed."""
    (tmp_path / "cyd.key").write_text(BANK)
    text = "gateway: {tenants: {shop: {keys: [env:SHOP_KEY, file:cyd.key], workflows: ['*']}}}"
    (tmp_path / "swf.yaml").write_text(text)
    arguments = {"address": Address("", 0)}
    settings = GatewaySettings.read({"SHOP_KEY": SHOP}, file=tmp_path / "swf.yaml", arguments=arguments)
    shop = settings.tenants["shop"].replace(operations=frozenset({Operation.READ}))
    assert shop.keys == (SHOP, BANK)
    assert [name_of_key(one) for one in shop.keys] == ["SHOP_KEY", "cyd.key"]
    assert [name_of_key(one) for one in Tenant(keys=(SHOP,), workflows=()).keys] == [""]
