"""Methods of a gRPC service, called by a worker on a real server."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from swf_temporal.functions.performing import Calls
from swf_temporal.functions.secrets import Secrets
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.loading import load
from swf_temporal.settings.calls import Options, Settings
from swf_temporal.temporal.worker import make_worker
from tests.functions.rpc.users_service import PROTOS, Users, serving
from tests.temporal.conftest import Bench, Running, Scripted, events_of

DEFINITION = """
id: users
version: 1.0.0
specVersion: "0.8"
secrets: [directory]
auth:
  - {name: ours, scheme: bearer, properties: {token: "${ $SECRETS.directory.token }"}}
errors:
  - {name: Not there, code: "NOT_FOUND"}
functions:
  - {name: addUser, type: rpc, operation: "file://users.proto#UserService#AddUser", authRef: ours}
  - {name: importUsers, type: rpc, operation: "file://users.proto#UserService#ImportUsers", authRef: ours}
states:
  - name: Import
    type: operation
    actions:
      - functionRef: {refName: importUsers, arguments: "${ .people }"}
        actionDataFilter: {toStateData: .imported}
    transition: Add
  - name: Add
    type: operation
    actions:
      - functionRef: {refName: addUser, arguments: {full_name: "${ .name }"}}
        actionDataFilter: {toStateData: .added}
    onErrors:
      - {errorRef: Not there, transition: Tell}
    end: true
  - name: Tell
    type: inject
    data: {error: "${ $WORKFLOW.error | {code, status, body} }"}
    end: true
"""


@asynccontextmanager
async def working(bench: Bench, users: Users, folder: Path) -> AsyncIterator[Running]:
    copytree(PROTOS, folder, dirs_exist_ok=True)
    (folder / "users.yaml").write_text(DEFINITION)
    definition = load(folder / "users.yaml")
    calls = Calls(
        settings=Settings(calls=Options(base_url=f"grpc://127.0.0.1:{users.port}")),
        secrets=Secrets({"directory": {"token": "sesame"}}),
    )
    queue = f"rpc-{os.getpid()}-{next(Bench.numbers)}"
    worker = make_worker(bench.client, Catalogue([definition]), calls, Scripted({}), task_queue=queue)
    async with worker:
        yield Running(bench, [definition], Scripted({}), queue, worker)
    await calls.aclose()


@pytest.fixture
async def users() -> AsyncIterator[Users]:
    async with serving() as users:
        users.tokens = {"Bearer sesame"}
        yield users


async def test_methods_are_called(bench: Bench, users: Users, tmp_path: Path) -> None:
    """Messages and streams come and go as data; the credentials reach the service, and not the history."""
    people: Any = [{"full_name": "Grace"}, {"full_name": "Edsger"}]
    async with working(bench, users, tmp_path) as worker:
        handle = await worker.start({"name": "Ada", "people": people})
        output = await handle.result()
        history = str(await events_of(handle))

    assert output["imported"] == {"count": 2, "names": ["Grace", "Edsger"]}
    assert output["added"] == {"id": "7", "full_name": "Ada"}
    assert users.metadata["authorization"] == "Bearer sesame"
    assert str(users.metadata["idempotency-key"]).startswith(handle.id)
    assert "sesame" not in history


async def test_an_error_is_caught(bench: Bench, users: Users, tmp_path: Path) -> None:
    """The definition sees the status by its name and its number, and what the service added."""
    async with working(bench, users, tmp_path) as worker:
        output: Any = await worker.run({"name": "nobody", "people": []})

    assert output["error"] == {
        "code": "NOT_FOUND",
        "status": 5,
        "body": {"code": 5, "message": "no such person", "metadata": {"hint": "ask for somebody", "hint-bin": "AP8="}},
    }
