"""The codec server: whom it answers, what it answers, and what its log has."""

import base64
import json
import logging
import os
import time
import zlib
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from google.protobuf.json_format import MessageToDict
from temporalio.api.common.v1 import Payload, Payloads

from swf_temporal.base.errors import UsageError
from swf_temporal.http.codec_server import application
from swf_temporal.http.codec_server.application import codec_application
from swf_temporal.http.codec_server.serving import prepare
from swf_temporal.sdk.asgi_server import asgi_server
from swf_temporal.settings.http import CodecServerSettings, read_codec_server_settings
from swf_temporal.settings.payloads import EncryptionSettings, PayloadSettings, StorageSettings
from swf_temporal.settings.values import Address
from swf_temporal.temporal.converter import converter_of
from tests.listening import Quiet, listening

LOOPBACK = Address("127.0.0.1", 0)
UI = "https://temporal.example.com"
TOKEN = "0123456789abcdef-token"  # noqa: S105 - of these tests
CARD = "4111-1111"


@pytest.fixture
def payloads(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> PayloadSettings:
    monkeypatch.setenv("CODEC_KEY", base64.b64encode(bytes([1] * 32)).decode())
    return PayloadSettings(
        storage=StorageSettings(url=f"file://{tmp_path}/objects", threshold=2000),
        encryption=EncryptionSettings(keys={"1": "env:CODEC_KEY"}, key="1"),
    )


@asynccontextmanager
async def served(payloads: PayloadSettings, **settings: Any) -> AsyncIterator[httpx.AsyncClient]:
    codec = codec_application(
        CodecServerSettings(address=LOOPBACK, **settings), lambda namespace: converter_of(payloads, namespace)
    )
    async with (
        asgi_server(codec, LOOPBACK, "") as address,
        httpx.AsyncClient(base_url=f"http://{address}", trust_env=False) as client,
    ):
        yield client


async def encoded(payloads: PayloadSettings, *values: object, namespace: str = "orders") -> dict[str, Any]:
    sent = Payloads(payloads=await converter_of(payloads, namespace).encode(values))
    return MessageToDict(sent)


def values_of(answer: httpx.Response) -> list[Any]:
    assert answer.status_code == 200, answer.text
    return [json.loads(base64.b64decode(one["data"])) for one in answer.json()["payloads"]]


async def test_payloads_are_decoded_and_encoded(payloads: PayloadSettings) -> None:
    values = [{"card": CARD}, {"large": os.urandom(4000).hex()}]
    body = await encoded(payloads, *values)
    assert "external" in json.dumps(body)
    async with served(payloads) as client:
        assert values_of(await client.post("/orders/decode", json=body)) == values
        assert values_of(await client.post("/decode", json=body, headers={"X-Namespace": "orders"})) == values
        plain = {"payloads": [{"metadata": {"encoding": "anNvbi9wbGFpbg=="}, "data": "MQ=="}]}
        assert values_of(await client.post("/decode", json=plain)) == [1]
        hidden = await client.post("/orders/encode", json=plain)
        assert hidden.json()["payloads"][0]["data"] != "MQ=="
        assert values_of(await client.post("/orders/decode", json=hidden.json())) == [1]
        assert (await client.post("/decode", json={})).json() == {}


async def test_what_cannot_be_decoded_is_told(payloads: PayloadSettings, tmp_path: Path) -> None:
    body = await encoded(payloads, {"card": CARD})
    async with served(payloads, namespaces=("orders", "shop")) as client:
        for path, headers, status, message in (
            ("/shop/decode", {}, 400, "cannot be decrypted in 'shop'"),
            ("/other/decode", {}, 403, "the namespace 'other' is not served here"),
            ("/shop/decode", {"X-Namespace": "orders"}, 400, "the path says namespace 'shop'"),
        ):
            answer = await client.post(path, json=body, headers=headers)
            assert answer.status_code == status
            assert message in answer.json()["message"]
        answer = await client.post("/orders/decode", content=b"[1]")
        assert (answer.status_code, "is not a JSON object" in answer.text) == (400, True)
        large = await encoded(payloads, {"large": os.urandom(4000).hex()})
        [reference] = large["payloads"]
        for driver in (b"evil", b""):
            other = base64.b64decode(reference["data"]).replace(b'"swf"', b'"%s"' % driver)
            sent = {"payloads": [{**reference, "data": base64.b64encode(other).decode()}]}
            answer = await client.post("/orders/decode", json=sent)
            assert (answer.status_code, "No driver found" in answer.json()["message"]) == (400, True)
        for file in (tmp_path / "objects").rglob("*"):
            if file.is_file():
                file.unlink()
        answer = await client.post("/orders/decode", json=large)
    assert answer.status_code == 400
    assert "it does not exist" in answer.json()["message"]
    async with served(PayloadSettings(compression=True)) as client:
        answer = await client.post("/orders/decode", json=body)
        assert "encrypted with the key '1', and no keys are configured here" in answer.json()["message"]
        bomb = zlib.compress(Payload(data=bytes(300_000_000)).SerializeToString())
        payload = Payload(metadata={"encoding": b"binary/zlib"}, data=bomb)
        answer = await client.post("/orders/decode", json=MessageToDict(Payloads(payloads=[payload])))
        assert (answer.status_code, "inflates to more than" in answer.json()["message"]) == (400, True)


async def test_bodies_and_payloads_are_counted(payloads: PayloadSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(application, "MAX_PAYLOADS", 3)
    monkeypatch.setattr(application, "MAX_ANSWER_BYTES", 10_000)
    body = await encoded(payloads, {"card": CARD}, {"large": os.urandom(4000).hex()}, 1)
    async with served(payloads, max_bytes=5000) as client:
        assert (await client.post("/orders/decode", json=body)).status_code == 200
        for sent, why in (
            (b" " * 6000, "more than 5,000 bytes"),
            (b'{"payloads": [' + b"{}," * 13 + b"no JSON", "more than 3 payloads"),
            (json.dumps({"payloads": body["payloads"][:2] * 2}).encode(), "more than 3 payloads"),
            (json.dumps({"payloads": [body["payloads"][1]] * 2}).encode(), "more than 10,000 bytes: send fewer"),
        ):
            answer = await client.post("/orders/decode", content=sent)
            assert (answer.status_code, why in answer.json()["message"]) == (413, True), answer.text


async def test_only_pages_of_configured_origins_may_ask(payloads: PayloadSettings) -> None:
    """A browser asks before; a page of another origin is refused even if it does not."""
    body = await encoded(payloads, {"card": CARD})
    preflight = {
        "Origin": UI,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type,x-namespace",
    }
    async with served(payloads, origins=(UI,)) as client:
        allowed = await client.options("/decode", headers=preflight)
        assert allowed.headers["Access-Control-Allow-Origin"] == UI
        refused = await client.options("/decode", headers={**preflight, "Origin": "https://evil.example.com"})
        assert "Access-Control-Allow-Origin" not in refused.headers
        answer = await client.post("/orders/decode", json=body, headers={"Origin": UI})
        assert answer.headers["Access-Control-Allow-Origin"] == UI
        evil = await client.post("/orders/decode", json=body, headers={"Origin": "https://evil.example.com"})
    assert evil.status_code == 403
    assert CARD not in evil.text


async def test_a_secret_is_needed_where_there_is_one(payloads: PayloadSettings) -> None:
    body = await encoded(payloads, {"card": CARD})
    async with served(payloads, token=TOKEN) as client:
        for header in (None, "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer é"):
            headers: dict[bytes, bytes] = {} if header is None else {b"Authorization": header.encode()}
            answer = await client.post("/orders/decode", json=body, headers=headers)
            assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
        answer = await client.post("/orders/decode", json=body, headers={"Authorization": f"bearer {TOKEN}"})
    assert values_of(answer) == [{"card": CARD}]


@pytest.fixture(scope="module")
def issuer() -> Iterator[tuple[str, rsa.RSAPrivateKey]]:
    """Serve the public key of an issuer; give where, and the private key."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    public = jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)
    jwks = json.dumps({"keys": [{**public, "kid": "1", "use": "sig", "alg": "RS256"}]}).encode()

    class Handler(Quiet):
        def respond(self, content: bytes) -> None:  # noqa: ARG002 - there is none
            self.answer(jwks)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    with listening(server):
        yield f"http://127.0.0.1:{server.server_port}/jwks.json", key


async def test_tokens_of_an_issuer_count(
    payloads: PayloadSettings, issuer: tuple[str, rsa.RSAPrivateKey], caplog: pytest.LogCaptureFixture
) -> None:
    url, key = issuer
    body = await encoded(payloads, {"card": CARD})
    claims: Mapping[str, Any] = {"iss": "https://id", "aud": "codec", "sub": "ada\nforged", "exp": time.time() + 60}
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)

    def signed(by: Any = key, algorithm: str = "RS256", **changes: Any) -> str:
        told = {name: value for name, value in {**claims, **changes}.items() if value is not None}
        return jwt.encode(told, by, algorithm=algorithm, headers={"kid": "1"})

    refused = [
        signed(other),
        signed(aud="shop"),
        signed(iss="https://evil"),
        signed(exp=time.time() - 60),
        signed(exp=None),
        signed("a secret that is long enough for it", "HS256"),
        jwt.encode(dict(claims), "", algorithm="none", headers={"kid": "1"}),
        "no.jwt.at-all",
    ]
    caplog.set_level(logging.INFO, "swf")
    async with served(payloads, jwks=url, issuer="https://id", audience="codec", token=TOKEN) as client:
        for token in refused:
            answer = await client.post("/orders/decode", json=body, headers={"Authorization": f"Bearer {token}"})
            assert answer.status_code == 401, token
        ahead = time.time() + 5
        for token in (signed(), signed(iat=ahead, nbf=ahead), TOKEN):
            answer = await client.post("/orders/decode", json=body, headers={"Authorization": f"Bearer {token}"})
            assert values_of(answer) == [{"card": CARD}]

    assert "decoded 1 payload of orders for ada forged" in caplog.messages
    assert not any(CARD in line or TOKEN in line for line in caplog.messages)
    assert all("\n" not in line for line in caplog.messages)


@pytest.mark.parametrize("published", [b"<html>", b"[]", b'{"keys": [5]}', b'{"keys": []}', b"[" * 100_000, None])
async def test_an_issuer_without_keys_is_told(
    payloads: PayloadSettings, published: bytes | None, caplog: pytest.LogCaptureFixture
) -> None:
    """With 503, since it is not the fault of who asks, who may come again; the log has why."""
    asked = 0

    class Handler(Quiet):
        def respond(self, content: bytes) -> None:  # noqa: ARG002 - there is none
            nonlocal asked
            asked += 1
            self.answer(published or b"", 302 if published is None else 200, {"Location": "/elsewhere"})

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    headers = {"Authorization": f"Bearer {jwt.encode({}, 'a' * 32, headers={'kid': '1'})}"}
    url = f"http://127.0.0.1:{server.server_port}/jwks.json"
    with listening(server):
        async with served(payloads, jwks=url, issuer="https://id") as client:
            answers = [await client.post("/orders/decode", json={}, headers=headers) for _ in range(3)]
    assert [one.status_code for one in answers] == [503] * 3
    assert asked == 1
    assert f"the keys at {url} cannot be fetched: " in caplog.text


def test_a_server_for_all_that_asks_nobody_is_refused(tmp_path: Path) -> None:
    everywhere = Address("0.0.0.0", 8888)  # noqa: S104 - nothing listens there
    assert read_codec_server_settings({}, LOOPBACK).is_open
    with pytest.raises(UsageError, match="would decrypt for everyone"):
        read_codec_server_settings({}, everywhere)
    path = tmp_path / "swf.yaml"
    path.write_text("codecServer: {unauthenticated: true}")
    assert read_codec_server_settings({}, everywhere, file=path).is_open


def test_settings_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "swf.yaml"
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    path.write_text(
        "codecServer: {origins: [https://A.example.com/], token: 'file:token', jwks: https://id/jwks, "
        "issuer: https://id, audience: codec, namespaces: [orders]}"
    )
    wanted = CodecServerSettings(
        address=LOOPBACK, origins=("https://a.example.com", UI), token=TOKEN, jwks="https://id/jwks",
        issuer="https://id", audience="codec", namespaces=("orders",),
    )  # fmt: skip
    assert read_codec_server_settings({}, LOOPBACK, [UI], file=path) == wanted


@pytest.mark.parametrize(("text", "message"), [
    ("{origins: ['*']}", "codecServer › origins › 0: it must be an origin without a path"),
    ("{jwks: http://id.example.com/jwks, issuer: a}", "codecServer › jwks: it must be an https URL"),
    ("{jwks: https://id/jwks}", "codecServer › jwks: it needs an issuer or an audience"),
    ("{token: abc}", "codecServer › token: it must be env:VARIABLE or file:PATH"),
    ("{token: 'env:NOWHERE'}", "codecServer › token: the variable NOWHERE is not set"),
    ("{token: 'file:nowhere'}", "codecServer › token: the file nowhere cannot be read"),
    ("{tokens: []}", "codecServer › tokens: there is no such option; did you mean 'token'?"),
])  # fmt: skip
def test_mistakes_are_told_by_their_place(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "swf.yaml"
    path.write_text(f"codecServer: {text}")
    with pytest.raises(UsageError) as refused:
        read_codec_server_settings({}, LOOPBACK, file=path)
    assert message in str(refused.value)


def test_without_anything_to_decode_it_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SWF_CONFIG", raising=False)
    with pytest.raises(UsageError, match="there is nothing to decode"):
        prepare(LOOPBACK, [], None)
