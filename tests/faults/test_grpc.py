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

STATUSES = {"UNAVAILABLE": 14, "DEADLINE_EXCEEDED": 4, "NOT_FOUND": 5, "UNAUTHENTICATED": 16}
HASTY, LESS_HASTY = ({"timeout": timedelta(milliseconds=milliseconds)} for milliseconds in (300, 2000))


@pytest.fixture
async def users() -> AsyncIterator[Users]:
    async with serving() as users:
        yield users


async def fails(  # noqa: PLR0913 - what tests say of it
    stage: Stage, server: str, code: str, *texts: str, name: str = "Ada", arguments: Any = None,
    expected: str | int = "", function: dict[str, Any] | None = None, auth: Any = (), **options: Any,
) -> FailedCall:  # fmt: skip
    """Add a person, which fails; where the service says so, with the body that gRPC has for it."""
    called = {"type": "rpc", "operation": f"file://{PROTOS}/users.proto#UserService#AddUser", **(function or {})}
    settings, status = Settings(calls=Options(base_url=server, **options)), STATUSES.get(code)
    attempt = Attempt(called, arguments or {"full_name": name}, settings, auth=list(auth))
    told = await stage.fails(attempt, code, *texts, status=status, body=..., match=expected or code)
    if status is not None:
        body = told.caught["body"]
        assert (body["code"], set(body)) == (status, {"code", "message", "metadata"})
    return told


@pytest.fixture
def server(request: pytest.FixtureRequest) -> str:
    """Return the URL of what is called: the form of it, with a fixture's value."""
    fixture, form = request.param
    url: str = form.format(request.getfixturevalue(fixture))
    return url.replace("http://", "grpc://")


AT_USERS = ("users", "{.url}")


@pytest.mark.parametrize(("server", "code", "text", "facts"), [
    (("closed_port", "grpc://127.0.0.1:{}"), "UNAVAILABLE", "refused", {}),
    (("silent_port", "grpc://127.0.0.1:{}"), "DEADLINE_EXCEEDED", "127.0.0.1", HASTY),
    (("untrusted_port", "grpcs://localhost:{}"), "UNAVAILABLE", "ertificate", LESS_HASTY),
    (("service", "{.url}"), "UNAVAILABLE", "127.0.0.1", {}),  # of HTTP alone
    # The number of the status matches as well as its name.
    (AT_USERS, "DEADLINE_EXCEEDED", "UserService/AddUser", {**HASTY, "name": "sloth", "expected": 4}),
    (AT_USERS, "NOT_FOUND", "no such person", {"name": "nobody"}),
    (AT_USERS, "AnswerTooLarge", "larger than", {"name": "loud", "max_response_bytes": 1000}),
], indirect=["server"])  # fmt: skip
async def test_a_call_that_fails(stage: Stage, server: str, code: str, text: str, facts: Any) -> None:
    told = await fails(stage, server, code, text, **facts)
    if code == "NOT_FOUND":
        assert told.caught["body"]["metadata"]["hint"] == "ask for somebody"


async def test_malformed(stage: Stage) -> None:
    async def nonsense(_request: bytes, _context: Any) -> bytes:
        return b"\xff\xff\xff"

    server = AIO.server()
    answers = {"AddUser": GRPC.unary_unary_rpc_method_handler(nonsense)}
    server.add_generic_rpc_handlers((GRPC.method_handlers_generic_handler("shop.users.UserService", answers),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        told = "the answer is not a 'shop.people.Person'"
        await fails(stage, f"grpc://127.0.0.1:{port}", "MalformedAnswer", told)
    finally:
        await server.stop(None)


async def test_another_schema(stage: Stage, users: Users) -> None:
    await fails(stage, users.url, "BadArguments", "fullname", arguments={"fullname": "Ada"})
    assert users.received == []


async def test_an_expired_token(stage: Stage, users: Users, service: Service) -> None:
    """The server refuses the token and the next one as well; none of them is shown to anybody."""
    users.tokens = set()
    grants_tokens(service)
    told = await fails(stage, users.url, "UNAUTHENTICATED", "who are you?", **by_client(service.url))
    granted_to = [request for request in service.requests if request.method == "POST"]
    assert len(granted_to) == 5, "the first call asks for a token, and each of the four for a new one"
    assert "of-nobody" not in told.text + json.dumps(told.caught)
