"""What a client says of a server that TLS, or another protocol, keeps it from."""

import importlib
import logging
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import trustme
from temporalio.api.workflowservice.v1 import DescribeNamespaceResponse, GetSystemInfoResponse

from swf_temporal.base.errors import UsageError
from swf_temporal.temporal.client_errors import trouble_of
from swf_temporal.temporal.connecting import connect
from tests.cli.answering_server import answering_server

grpc: Any = importlib.import_module("grpc")

PAST: dict[str, Any] = {"not_before": datetime(2019, 1, 1, tzinfo=UTC), "not_after": datetime(2020, 1, 1, tzinfo=UTC)}
ANSWERS: dict[str, Callable[[bytes, Any], bytes]] = {
    "GetSystemInfo": lambda *_: bytes(GetSystemInfoResponse().SerializeToString()),
    "DescribeNamespace": lambda *_: bytes(DescribeNamespaceResponse().SerializeToString()),
}


class Place:
    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.authority = trustme.CA()
        self._folder = folder
        self._monkeypatch = monkeypatch
        self.authority.cert_pem.write_to_path(folder / "ca.pem")
        folder.joinpath("empty").write_text("")
        for name, authority, validity in (
            ("client", self.authority, {}), ("strange", trustme.CA(), {}), ("expired", self.authority, PAST)
        ):  # fmt: skip
            issued = authority.issue_cert("client@example.com", **validity)
            issued.cert_chain_pems[0].write_to_path(folder / f"{name}.pem")
            issued.private_key_pem.write_to_path(folder / f"{name}.key")

    def client(self, **files: str) -> None:
        self._monkeypatch.setenv("TEMPORAL_TLS", "true")
        for name, file in {"SERVER_CA_CERT": "ca.pem", **files}.items():
            self._monkeypatch.setenv(f"TEMPORAL_TLS_{name}_PATH", str(self._folder / file))

    def server(self, *, knows_clients: bool = False, **validity: Any) -> Any:
        issued = self.authority.issue_cert("127.0.0.1", **validity)
        chain = b"".join(part.bytes() for part in issued.cert_chain_pems)
        return grpc.ssl_server_credentials(
            [(issued.private_key_pem.bytes(), chain)],
            root_certificates=self.authority.cert_pem.bytes() if knows_clients else None,
            require_client_auth=knows_clients,
        )


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    return Place(tmp_path, monkeypatch)


async def told(address: str) -> str:
    with pytest.raises(UsageError) as error:
        await connect(address=address)
    return str(error.value)


NO_FILE = "none.pem, which the configuration of Temporal names, cannot be read: No such"
LACKING: list[tuple[dict[str, str], str]] = [
    ({}, "certificate"),
    ({"CLIENT_CERT": "strange.pem", "CLIENT_KEY": "strange.key"}, "client's certificate"),
    ({"CLIENT_CERT": "expired.pem", "CLIENT_KEY": "expired.key"}, "client's certificate"),
    ({"CLIENT_CERT": "client.pem"}, "there is a client certificate without its key"),
    ({"CLIENT_CERT": "client.pem", "CLIENT_KEY": "strange.key"}, "the client's key does not belong to its certificate"),
    ({"CLIENT_CERT": "empty", "CLIENT_KEY": "client.key"}, "the client's certificate cannot be read"),
    ({"CLIENT_CERT": "none.pem", "CLIENT_KEY": "client.key"}, NO_FILE),
    ({"SERVER_CA_CERT": "none.pem"}, NO_FILE),
    ({"SERVER_CA_CERT": "empty"}, "the file of the authority that signed the server's certificate has no certific"),
]


@pytest.mark.parametrize(("files", "what"), LACKING)
async def test_a_server_that_requires_a_certificate(place: Place, files: dict[str, str], what: str) -> None:
    place.client(**files)
    with answering_server(ANSWERS, place.server(knows_clients=True)) as address:
        text = await told(address)
    assert what in text
    assert "TEMPORAL_TLS_" in text


async def test_a_server_that_lets_in(place: Place) -> None:
    place.client(CLIENT_CERT="client.pem", CLIENT_KEY="client.key")
    with answering_server(ANSWERS, place.server(knows_clients=True)) as address:
        await connect(address=address)


ENDS_AT_ITS_LAST_ANSWER = """
import asyncio, sys, time
from swf_temporal.temporal.connecting import connect

written = asyncio.SelectorEventLoop._write_to_self

def slowly(loop):
    written(loop)
    time.sleep(0.01)  # the thread that tells the loop of the answer is still busy when the program ends

asyncio.SelectorEventLoop._write_to_self = slowly
asyncio.run(connect(address=sys.argv[1]))
"""


def test_a_program_that_ends_with_its_last_answer() -> None:
    with answering_server(ANSWERS) as address:
        program = [sys.executable, "-c", ENDS_AT_ITS_LAST_ANSWER, address]
        assert subprocess.run(program, timeout=60, check=False).returncode == 0


async def test_a_server_whose_certificate_has_expired(place: Place) -> None:
    place.client()
    with answering_server(ANSWERS, place.server(**PAST)) as address:
        assert "its certificate has expired" in await told(address)


async def test_plaintext_to_tls(place: Place) -> None:
    with answering_server(ANSWERS, place.server()) as address:
        assert "does it speak TLS?\n  TEMPORAL_TLS=true asks for TLS" in await told(address)


async def test_a_mistyped_key_of_a_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "temporal.toml"
    with answering_server(ANSWERS) as address:
        file.write_text(f'[profile.default]\naddress = "{address}"\nname_space = "sales"\n')
        monkeypatch.setenv("TEMPORAL_CONFIG_FILE", str(file))
        with caplog.at_level(logging.WARNING, "swf"):
            await connect()
            await connect()
    assert caplog.text.count("unknown field `name_space`") == 1


_CONNECT = "Failed client connect: Server connection error: tonic::transport::Error(Transport, ConnectError({}))"
_CALL = "Failed client connect: `get_system_info` call error after connection: Status {{ code: {}, message: {} }}"


REFUSED = (
    'ConnectError("tcp connect error", 127.0.0.1:1, Os { kind: ConnectionRefused, message: "Connection refused" })'
)
INVALID = "Custom {{ kind: InvalidData, error: {} }}"
TROUBLE = [
    (_CONNECT.format(REFUSED), "nothing listens there (connection refused)", "swf dev", False),
    (_CONNECT.format('ConnectError("dns error", None)'), "the host name is unknown", "TEMPORAL_ADDRESS", False),
    (_CONNECT.format(INVALID.format("InvalidMessage(InvalidContentType)")),
     "does not speak TLS", "TEMPORAL_API_KEY", True),
    (_CONNECT.format(INVALID.format("InvalidCertificate(UnknownIssuer)")),
     "certificate is signed by", "TEMPORAL_TLS_SERVER_CA_CERT_PATH", True),
    (_CONNECT.format(INVALID.format("InvalidCertificate(NotValidForNameContext { })")),
     "for another name", "TEMPORAL_TLS_SERVER_NAME", True),
    (_CALL.format("Unknown", '"transport error", error: "received fatal alert: CertificateRequired"'),
     "requires a client certificate", "TEMPORAL_TLS_CLIENT_CERT_PATH", True),
    ("tonic::transport::Error(Transport, PrivateKeyParseError)", "key cannot be read", "CLIENT_KEY_PATH", True),
    (_CALL.format("Unauthenticated", '"no"'), "does not accept the caller's credentials", "TEMPORAL_API_KEY", True),
    (_CALL.format("PermissionDenied", '"no"'), "does not permit this", "namespace", True),
    (_CALL.format("Unknown", '"transport error", source: hyper::Error(Io, Kind(ConnectionReset))'),
     "does it speak TLS?", "TEMPORAL_TLS=true", False),
    (_CALL.format("Internal", '"h2 protocol error: http2 error"'), "not speak gRPC", "TEMPORAL_ADDRESS", False),
    (_CALL.format("Internal", '"x", metadata: {"content-type": "text/html"}'), "HTML", "TEMPORAL_ADDRESS", False),
    (_CALL.format("Odd", '"who knows"'), "Odd: who knows", "TEMPORAL_ADDRESS", False),
    ("", "str", "TEMPORAL_ADDRESS", False),
]  # fmt: skip


@pytest.mark.parametrize(("error", "what", "hint", "is_refusal"), TROUBLE)
def test_in_words(error: str, what: str, hint: str, is_refusal: bool) -> None:  # noqa: FBT001 - a column of the table
    trouble = trouble_of(error)
    assert what in trouble.what
    assert hint in trouble.hint
    assert trouble.is_refusal is is_refusal
