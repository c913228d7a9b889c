"""What keeps us from a server, in words."""

import pytest

from swf_temporal.temporal.client_errors import trouble_of

_CONNECT = "Failed client connect: Server connection error: tonic::transport::Error(Transport, ConnectError({}))"
_CALL = "Failed client connect: `get_system_info` call error after connection: Status {{ code: {}, message: {} }}"


@pytest.mark.parametrize(
    ("error", "what", "hint", "is_refusal"),
    [
        (
            _CONNECT.format(
                'ConnectError("tcp connect error", 127.0.0.1:1, Os { code: 111, kind: ConnectionRefused, message: '
                '"Connection refused" })'
            ),
            "nothing listens there (connection refused)",
            "swf dev",
            False,
        ),
        (_CONNECT.format('ConnectError("dns error", None)'), "the host name is unknown", "TEMPORAL_ADDRESS", False),
        (
            _CONNECT.format("Custom { kind: InvalidData, error: InvalidMessage(InvalidContentType) }"),
            "does not speak TLS",
            "TEMPORAL_API_KEY",
            True,
        ),
        (
            _CONNECT.format("Custom { kind: InvalidData, error: InvalidCertificate(UnknownIssuer) }"),
            "certificate is signed by",
            "TEMPORAL_TLS_SERVER_CA_CERT_PATH",
            True,
        ),
        (
            _CONNECT.format("Custom { kind: InvalidData, error: InvalidCertificate(NotValidForNameContext { }) }"),
            "for another name",
            "TEMPORAL_TLS_SERVER_NAME",
            True,
        ),
        (
            _CALL.format("Unknown", '"transport error", error: "received fatal alert: CertificateRequired"'),
            "requires a client certificate",
            "TEMPORAL_TLS_CLIENT_CERT_PATH",
            True,
        ),
        ("tonic::transport::Error(Transport, PrivateKeyParseError)", "key cannot be read", "CLIENT_KEY_PATH", True),
        (_CALL.format("Unauthenticated", '"no"'), "does not accept the caller's credentials", "TEMPORAL_API_KEY", True),
        (_CALL.format("PermissionDenied", '"no"'), "does not permit this", "namespace", True),
        (
            _CALL.format("Unknown", '"transport error", source: hyper::Error(Io, Kind(ConnectionReset))'),
            "does it speak TLS?",
            "TEMPORAL_TLS=true",
            False,
        ),
        (_CALL.format("Internal", '"h2 protocol error: http2 error"'), "not speak gRPC", "TEMPORAL_ADDRESS", False),
        (_CALL.format("Internal", '"x", metadata: {"content-type": "text/html"}'), "HTML", "TEMPORAL_ADDRESS", False),
        (_CALL.format("Odd", '"who knows"'), "Odd: who knows", "TEMPORAL_ADDRESS", False),
        ("", "str", "TEMPORAL_ADDRESS", False),
    ],
)
def test_in_words(error: str, what: str, hint: str, is_refusal: bool) -> None:  # noqa: FBT001 - a column of the table
    trouble = trouble_of(error)
    assert what in trouble.what
    assert hint in trouble.hint
    assert trouble.is_refusal is is_refusal
