"""What a workflow and a person are told when a call of a gRPC method fails.

Each is run on a real Temporal server, against a real gRPC server or something that is none: once with onErrors that
names the code, and once without.
"""

import json
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from swf_temporal.settings.calls import Options, Settings
from tests.faults.conftest import Attempt, Stage, Told
from tests.functions.conftest import Service
from tests.functions.rpc.users_service import AIO, GRPC, PROTOS, Users, serving

UNAVAILABLE, DEADLINE_EXCEEDED, NOT_FOUND, UNAUTHENTICATED = 14, 4, 5, 16


@pytest.fixture
async def users() -> AsyncIterator[Users]:
    async with serving() as users:
        yield users


def attempt(server: str, name: str = "Ada", **facts: Any) -> Attempt:
    settings = facts.pop("settings", {})
    function = {
        "type": "rpc",
        "operation": f"file://{PROTOS}/users.proto#UserService#AddUser",
        **facts.pop("function", {}),
    }
    return Attempt(function, {"full_name": name}, Settings(calls=Options(base_url=server, **settings)), **facts)


def check(told: Told, code: str, status: int | None, *texts: str) -> None:
    assert (told.caught["code"], told.caught["status"], told.caught["state"]) == (code, status, "Ask")
    for text in ("'Ask'", "action 'ask'", *texts):
        assert text in told.text
    assert all(text in told.caught["message"] for text in texts)
    if status is not None:
        body = told.caught["body"]
        assert (body["code"], set(body)) == (status, {"code", "message", "metadata"})


async def test_refused(stage: Stage, closed_port: int) -> None:
    told = await stage.play(attempt(f"grpc://127.0.0.1:{closed_port}"), "UNAVAILABLE")
    check(told, "UNAVAILABLE", UNAVAILABLE, f"127.0.0.1:{closed_port}", "refused")


async def test_too_slow(stage: Stage, users: Users) -> None:
    """The method takes its time; the number of the status matches as well as its name."""
    slow = attempt(f"grpc://127.0.0.1:{users.port}", "sloth", settings={"timeout": timedelta(milliseconds=300)})
    told = await stage.play(slow, DEADLINE_EXCEEDED)
    check(told, "DEADLINE_EXCEEDED", DEADLINE_EXCEEDED, "UserService/AddUser")


async def test_an_error_of_the_service(stage: Stage, users: Users) -> None:
    told = await stage.play(attempt(f"grpc://127.0.0.1:{users.port}", "nobody"), "NOT_FOUND")
    check(told, "NOT_FOUND", NOT_FOUND, "no such person")
    assert told.caught["body"]["metadata"]["hint"] == "ask for somebody"


async def test_no_grpc_at_all(stage: Stage, service: Service) -> None:
    told = await stage.play(attempt(service.url.replace("http", "grpc")), "UNAVAILABLE")
    check(told, "UNAVAILABLE", UNAVAILABLE)


async def test_silence(stage: Stage, silent_port: int) -> None:
    quiet = attempt(f"grpc://127.0.0.1:{silent_port}", settings={"timeout": timedelta(milliseconds=300)})
    told = await stage.play(quiet, "DEADLINE_EXCEEDED")
    check(told, "DEADLINE_EXCEEDED", DEADLINE_EXCEEDED)


async def test_malformed(stage: Stage) -> None:
    answer = GRPC.unary_unary_rpc_method_handler(_nonsense)
    server = AIO.server()
    handler = GRPC.method_handlers_generic_handler("shop.users.UserService", {"AddUser": answer})
    server.add_generic_rpc_handlers((handler,))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        told = await stage.play(attempt(f"grpc://127.0.0.1:{port}"), "MalformedAnswer")
    finally:
        await server.stop(None)
    check(told, "MalformedAnswer", None, "the answer is not a 'shop.people.Person'")


async def _nonsense(_request: bytes, _context: Any) -> bytes:
    return b"\xff\xff\xff"


async def test_another_schema(stage: Stage, users: Users) -> None:
    """The arguments are not what the message has; nothing is sent."""
    wrong = attempt(f"grpc://127.0.0.1:{users.port}")
    wrong.arguments = {"fullname": "Ada"}
    told = await stage.play(wrong, "BadArguments")
    check(told, "BadArguments", None, "fullname")
    assert users.received == []


async def test_too_large(stage: Stage, users: Users) -> None:
    loud = attempt(f"grpc://127.0.0.1:{users.port}", "loud", settings={"max_response_bytes": 1000})
    told = await stage.play(loud, "AnswerTooLarge")
    check(told, "AnswerTooLarge", None, "larger than")


async def test_not_to_be_trusted(stage: Stage, untrusted_port: int) -> None:
    strange = attempt(f"grpcs://localhost:{untrusted_port}", settings={"timeout": timedelta(seconds=2)})
    told = await stage.play(strange, "UNAVAILABLE")
    check(told, "UNAVAILABLE", UNAVAILABLE)
    assert "certificate" in told.text.lower()


async def test_an_expired_token(stage: Stage, users: Users, service: Service) -> None:
    """The server refuses the token and the next one as well; none of them is shown to anybody."""
    users.tokens = set()
    tokens = iter(f"token-{number}-of-nobody" for number in range(100))
    granted = {"token_type": "Bearer", "expires_in": 3600}
    service.answers_by("POST", "/token", lambda: {"access_token": next(tokens), **granted})
    client = {"grantType": "clientCredentials", "clientId": "orders", "clientSecret": "s3cret-of-orders"}
    auth = {"name": "by client", "scheme": "oauth2", "properties": {"authority": f"{service.url}/token", **client}}
    function = {"authRef": {"invocation": "by client"}}
    told = await stage.play(
        attempt(f"grpc://127.0.0.1:{users.port}", function=function, auth=[auth]), "UNAUTHENTICATED"
    )
    check(told, "UNAUTHENTICATED", UNAUTHENTICATED, "who are you?")
    granted_to = [request for request in service.requests if request.method == "POST"]
    assert len(granted_to) == 5, "the first call asks for a token, and each of the four for a new one"
    assert "of-nobody" not in told.text + json.dumps(told.caught)
