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
from tests.faults.conftest import Attempt, FailedCall, Stage, by_client, grants_tokens
from tests.functions.conftest import Service
from tests.functions.rpc.users_service import AIO, GRPC, PROTOS, Users, serving

UNAVAILABLE, DEADLINE_EXCEEDED, NOT_FOUND, UNAUTHENTICATED = 14, 4, 5, 16


@pytest.fixture
async def users() -> AsyncIterator[Users]:
    async with serving() as users:
        yield users


async def fails(  # noqa: PLR0913 - what tests say of it
    stage: Stage, server: str, code: str, status: int | None, *texts: str, name: str = "Ada",
    arguments: Any = None, expected: str | int = "", function: dict[str, Any] | None = None, auth: Any = (),
    **options: Any,
) -> FailedCall:  # fmt: skip
    """Add a person, which fails; where the service says so, with the body that gRPC has for it."""
    called = {"type": "rpc", "operation": f"file://{PROTOS}/users.proto#UserService#AddUser", **(function or {})}
    settings = Settings(calls=Options(base_url=server, **options))
    attempt = Attempt(called, arguments or {"full_name": name}, settings, auth=list(auth))
    told = await stage.fails(attempt, code, *texts, status=status, body=..., match=expected or code)
    if status is not None:
        body = told.caught["body"]
        assert (body["code"], set(body)) == (status, {"code", "message", "metadata"})
    return told


async def test_refused(stage: Stage, closed_port: int) -> None:
    host = f"127.0.0.1:{closed_port}"
    await fails(stage, f"grpc://{host}", "UNAVAILABLE", UNAVAILABLE, host, "refused")


async def test_too_slow(stage: Stage, users: Users) -> None:
    """The method takes its time; the number of the status matches as well as its name."""
    told = ("DEADLINE_EXCEEDED", DEADLINE_EXCEEDED, "UserService/AddUser")
    await fails(stage, at(users), *told, name="sloth", expected=DEADLINE_EXCEEDED, timeout=timedelta(milliseconds=300))


async def test_an_error_of_the_service(stage: Stage, users: Users) -> None:
    """The status, the message and what the server adds."""
    told = await fails(stage, at(users), "NOT_FOUND", NOT_FOUND, "no such person", name="nobody")
    assert told.caught["body"]["metadata"]["hint"] == "ask for somebody"


async def test_no_grpc_at_all(stage: Stage, service: Service) -> None:
    await fails(stage, service.url.replace("http", "grpc"), "UNAVAILABLE", UNAVAILABLE)


async def test_silence(stage: Stage, silent_port: int) -> None:
    server, patience = f"grpc://127.0.0.1:{silent_port}", timedelta(milliseconds=300)
    await fails(stage, server, "DEADLINE_EXCEEDED", DEADLINE_EXCEEDED, timeout=patience)


async def test_malformed(stage: Stage) -> None:
    answer = GRPC.unary_unary_rpc_method_handler(_nonsense)
    server = AIO.server()
    handler = GRPC.method_handlers_generic_handler("shop.users.UserService", {"AddUser": answer})
    server.add_generic_rpc_handlers((handler,))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        told = "the answer is not a 'shop.people.Person'"
        await fails(stage, f"grpc://127.0.0.1:{port}", "MalformedAnswer", None, told)
    finally:
        await server.stop(None)


async def _nonsense(_request: bytes, _context: Any) -> bytes:
    return b"\xff\xff\xff"


async def test_another_schema(stage: Stage, users: Users) -> None:
    await fails(stage, at(users), "BadArguments", None, "fullname", arguments={"fullname": "Ada"})
    assert users.received == []


async def test_too_large(stage: Stage, users: Users) -> None:
    await fails(stage, at(users), "AnswerTooLarge", None, "larger than", name="loud", max_response_bytes=1000)


async def test_not_to_be_trusted(stage: Stage, untrusted_port: int) -> None:
    server = f"grpcs://localhost:{untrusted_port}"
    told = await fails(stage, server, "UNAVAILABLE", UNAVAILABLE, timeout=timedelta(seconds=2))
    assert "certificate" in told.text.lower()


async def test_an_expired_token(stage: Stage, users: Users, service: Service) -> None:
    """The server refuses the token and the next one as well; none of them is shown to anybody."""
    users.tokens = set()
    grants_tokens(service)
    facts = by_client(service.url)
    told = await fails(stage, at(users), "UNAUTHENTICATED", UNAUTHENTICATED, "who are you?", **facts)
    granted_to = [request for request in service.requests if request.method == "POST"]
    assert len(granted_to) == 5, "the first call asks for a token, and each of the four for a new one"
    assert "of-nobody" not in told.text + json.dumps(told.caught)


def at(users: Users) -> str:
    return f"grpc://127.0.0.1:{users.port}"
