"""Tokens that nobody can verify hold up nobody who has a key."""

import asyncio
import socket

import httpx
import jwt
import pytest

from swf_temporal.temporal.server import local_server
from tests.attacks.gateway import attacked

pytestmark = pytest.mark.temporal
KEY = "a-key-of-16-chars"
TOKENS = 30


async def test_an_issuer_that_does_not_answer_holds_up_only_tokens() -> None:
    """Instances are read and started by an API key meanwhile; tokens are answered with 503."""
    with socket.create_server(("127.0.0.1", 0)) as issuer:  # which takes connections, and says nothing
        url = f"http://127.0.0.1:{issuer.getsockname()[1]}/jwks.json"
        tenant = "{workflows: ['*'], keys: ['env:SWF_TEST_KEY'], claims: {group: us}}"
        configuration = f"gateway: {{jwks: '{url}', audience: us, tenants: {{us: {tenant}}}}}"
        async with local_server() as server:
            temporal = server.client.service_client.config.target_host
            with attacked(temporal, configuration, SWF_TEST_KEY=KEY) as target:
                async with httpx.AsyncClient(
                    base_url=f"http://{target.host}:{target.port}", trust_env=False, timeout=110
                ) as client:
                    started, asked = await _attack(client)
        assert (started, asked) == (202, [503] * TOKENS)


async def _attack(client: httpx.AsyncClient) -> tuple[int, list[int]]:
    """Return with which statuses the request by key and those by tokens are answered."""
    junk = [jwt.encode({"n": n}, "a" * 32, headers={"kid": str(n)}) for n in range(TOKENS)]
    asked = [asyncio.create_task(client.get("/workflows", headers={"Authorization": f"Bearer {one}"})) for one in junk]
    started = await client.post("/workflows/hello", json={"name": "Ada"}, headers={"X-API-Key": KEY})
    return started.status_code, [(await one).status_code for one in asked]
