"""Brokers are shown who is calling as the document asks for."""

import base64
from collections.abc import Sequence
from typing import Any

import pytest

from swf_temporal.base.calls import Auth, AuthRef
from swf_temporal.base.errors import CallFailed
from swf_temporal.events.brokers.port import Credentials
from swf_temporal.settings.calls import Options
from tests.failing import failing
from tests.functions.asyncapi.memory import Bench, bench, sending, version2
from tests.functions.conftest import Service

__all__ = ["bench"]
TOKEN = "t-1"  # noqa: S105 - no secret of anybody
PASSWORD = {"username": "ada", "password": "pw-1"}
BASIC = "Basic " + base64.b64encode(b"ada:pw-1").decode()
SCHEMES: dict[str, Any] = {
    "tokens": {},
    "login": {"type": "userPassword"},
    "plain": {"type": "plain"},
    "scram": {"type": "scramSha256"},
    "scram512": {"type": "scramSha512"},
    "asUser": {"type": "apiKey", "in": "user"},
    "asPassword": {"type": "apiKey", "in": "password"},
    "basic": {"type": "http", "scheme": "basic"},
    "bearer": {"type": "http", "scheme": "bearer"},
    "inHeader": {"type": "httpApiKey", "in": "header", "name": "X-Key"},
    "inQuery": {"type": "httpApiKey", "in": "query", "name": "key"},
    "inCookie": {"type": "httpApiKey", "in": "cookie", "name": "key"},
    "certificate": {"type": "X509"},
    "kerberos": {"type": "gssapi"},
    "sealed": {"type": "symmetricEncryption", "in": "password"},
    "signedUp": {"type": "openIdConnect", "openIdConnectUrl": "https://login.example.com"},
}
AUTHS = (
    Auth(name="by password", scheme="basic", properties=PASSWORD),
    Auth(name="by token", scheme="bearer", properties={"token": TOKEN}),
)


def secured(*schemes: str, protocol: str = "mqtt", operation: Sequence[str] = ()) -> dict[str, Any]:
    channel: dict[str, Any] = {"publish": {"operationId": "send"}}
    if operation:
        channel["publish"]["security"] = [{name: []} for name in operation]
    document = version2({"lights": channel}, components={"securitySchemes": SCHEMES})
    document["servers"]["broker"] |= {"protocol": protocol}
    if schemes:
        document["servers"]["broker"]["security"] = [{name: []} for name in schemes]
    return document


def by(auth: str | None) -> dict[str, Any]:
    return {"auth": AUTHS, "auth_ref": AuthRef(invocation=auth) if auth else None}


ADA = Credentials("ada", "pw-1")


@pytest.mark.parametrize(("schemes", "auth", "secrets", "expected"), [
    (["login"], "by password", {}, ADA),
    (["plain"], "by password", {}, Credentials("ada", "pw-1", mechanism="PLAIN")),
    (["scram"], "by password", {}, Credentials("ada", "pw-1", mechanism="SCRAM-SHA-256")),
    (["scram512"], "by password", {}, Credentials("ada", "pw-1", mechanism="SCRAM-SHA-512")),
    (["asUser"], "by token", {}, Credentials(username="t-1")),
    (["asPassword"], "by token", {}, Credentials(password=TOKEN)),
    (["bearer"], "by token", {}, Credentials(token=TOKEN)),
    (["signedUp"], "by token", {}, Credentials(token=TOKEN)),
    (["certificate"], "by token", {}, Credentials()),
    # A secret called like the scheme is used; without any that fits, the broker decides.
    (["login"], None, {"login": PASSWORD}, ADA),
    (["login"], None, {}, Credentials()),
    (["login"], None, {"login": "just a text"}, Credentials()),
    # Without security the function's auth counts.
    ([], None, {}, Credentials()), ([], "by password", {}, ADA), ([], "by token", {}, Credentials(token=TOKEN)),
    # The first possibility counts for which there is something: here the second, by a secret.
    (["login", "bearer"], None, {"bearer": TOKEN}, Credentials(token=TOKEN)),
])  # fmt: skip
async def test_a_broker_gets_what_its_scheme_asks_for(
    bench: Bench, schemes: list[str], auth: str | None, secrets: Any, expected: Credentials
) -> None:
    await bench.has(secured(*schemes)).call("send", 1, secrets=secrets, **by(auth))
    assert bench.memory.channel.credentials == expected


@pytest.mark.parametrize(("scheme", "auth", "headers", "address"), [
    ("basic", "by password", (("Authorization", BASIC),), "lights"),
    ("bearer", "by token", (("Authorization", "Bearer t-1"),), "lights"),
    ("inHeader", "by token", (("X-Key", "t-1"),), "lights"),
    ("inCookie", "by token", (("Cookie", "key=t-1"),), "lights"),
    ("inQuery", "by token", (), "lights?key=t-1"),
])  # fmt: skip
async def test_what_begins_as_http_does_gets_it_so(
    bench: Bench, scheme: str, auth: str, headers: Any, address: str
) -> None:
    await bench.has(secured(scheme, protocol="ws")).call("send", 1, **by(auth))
    assert bench.memory.channel.credentials.headers == headers
    assert bench.memory.channel.address == address


async def test_an_operation_may_ask_for_more_than_its_server(bench: Bench) -> None:
    secrets = {"login": PASSWORD, "bearer": "t-2"}
    await bench.has(secured("login", operation=["bearer"])).call("send", 1, secrets=secrets)
    assert bench.memory.channel.credentials == Credentials("ada", "pw-1", "t-2")


async def test_security_of_version_3_is_a_list_of_schemes(bench: Bench) -> None:
    """The secret is called as the reference calls the scheme. With an empty possibility, none is needed."""
    document = sending(components={"securitySchemes": SCHEMES})
    document["servers"]["broker"]["security"] = [{"$ref": "#/components/securitySchemes/login"}]
    await bench.has(document).call("send", 1, secrets={"login": PASSWORD})
    assert bench.memory.channel.credentials == Credentials("ada", "pw-1")
    document = secured("login")
    document["servers"]["broker"]["security"].append({})
    await bench.has(document).call("send", 1, **by("by token"))
    assert bench.memory.channel.credentials == Credentials()


async def test_a_server_may_have_a_user(bench: Bench) -> None:
    """An operator may write name and password into the URL, as is usual for AMQP; an auth wins."""
    bench.given(functions={"ask": Options(base_url="mqtt://guest:s%40crt@127.0.0.1")}).has(secured())
    await bench.call("send", 1)
    await bench.call("send", 1, **by("by password"))
    assert [channel.credentials.username for channel, _ in bench.memory.sent] == ["guest", "ada"]
    assert bench.memory.sent[0][0].credentials.password == "s@crt"  # noqa: S105 - no secret of anybody


@pytest.mark.parametrize(("schemes", "auth", "code", "reason"), [
    (["login"], "by token", "BadAuth", "asks for 'login', and auth 'by token' has no credentials for that"),
    (["login", "asUser"], "by password", None, ""),
    (["kerberos"], "by password", "Unsupported", "security of type 'gssapi'"),
    (["sealed"], None, "Unsupported", "security of type 'symmetricEncryption'"),
    (["unheard-of"], None, "BadDocument", "the security scheme 'unheard-of', which is not in it"),
])  # fmt: skip
async def test_an_auth_must_have_what_is_asked_for(
    bench: Bench, schemes: list[str], auth: str | None, code: str | None, reason: str
) -> None:
    bench.has(secured(*schemes))
    if code is None:
        await bench.call("send", 1, **by(auth))
        return
    with failing(code, reason, retryable=False):
        await bench.call("send", 1, **by(auth))
    assert bench.memory.sent == []


def granting(service: Service, protocol: str = "mqtt", scopes: str = "scopes") -> dict[str, Any]:
    service.answers_with("POST", "/token", {"access_token": TOKEN, "token_type": "Bearer"})
    document = secured("tokens", protocol=protocol)
    flow = {"tokenUrl": f"{service.url}/token", scopes: {"light": ""}}
    document["components"]["securitySchemes"]["tokens"] = {"type": "oauth2", "flows": {"clientCredentials": flow}}
    document["servers"]["broker"]["security"] = [{"tokens": ["light"]}]
    return document


CLIENT: Any = {"tokens": {"clientId": "app", "clientSecret": "hush"}}


@pytest.mark.parametrize("scopes", ["scopes", "availableScopes"])
async def test_a_token_is_fetched_where_the_document_says(bench: Bench, service: Service, scopes: str) -> None:
    await bench.has(granting(service, scopes=scopes)).call("send", 1, secrets=CLIENT)
    assert bench.memory.channel.credentials == Credentials(token=TOKEN)
    assert b"scope=light" in service.last.content


async def test_a_token_that_is_refused_is_fetched_anew_once(bench: Bench, service: Service) -> None:
    """A server of WebSocket may answer 401 before the token expires."""

    def refuse(*_: object) -> None:
        raise CallFailed("who are you?", code=401, status=401)

    bench.memory.responder = refuse
    with pytest.raises(CallFailed):
        await bench.has(granting(service, "ws")).call("send", 1, secrets=CLIENT)
    assert [request.path for request in service.requests] == ["/token", "/token"]
    assert len(bench.memory.sent) == 2


async def test_the_document_is_fetched_with_the_auth_for_it(bench: Bench, service: Service) -> None:
    service.answers_with("GET", "/api.json", secured())
    references = AuthRef(resource="by token", invocation="by password")
    await bench.call(f"{service.url}/api.json#send", 1, auth=AUTHS, auth_ref=references)
    assert service.last.headers["authorization"] == "Bearer t-1"
    assert bench.memory.channel.credentials == Credentials("ada", "pw-1")
