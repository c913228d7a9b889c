"""What answers mean as JSON."""

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.text.bodies import read_answer, read_error_answer


@pytest.mark.parametrize(
    ("content", "content_type", "expected"),
    [
        (b'{"a": 1}', "application/json", {"a": 1}),
        (b'{"a": 1}', "application/problem+json; charset=utf-8", {"a": 1}),
        (b"", "application/json", None),
        (b"hello", "text/plain", "hello"),
        ("gr\u00fc\u00df".encode("latin-1"), "text/plain; charset=ISO-8859-1", "gr\u00fc\u00df"),
        (b"hello", "text/plain; charset=klingon", "hello"),
        (b"gr\xfc", "text/plain", {"mediaType": "text/plain", "base64": "Z3L8"}),
        (b"gr\xfc", "text/plain; charset=klingon", {"mediaType": "text/plain", "base64": "Z3L8"}),
        (b"\xef\xbb\xbfhello", "text/plain", "hello"),
        (b"\xef\xbb\xbfhello", "", "hello"),
        ("\ufeffhello".encode("utf-16-le"), "text/plain; charset=UTF-16LE", "hello"),
        (b'\xef\xbb\xbf{"a": 1}', "application/json; charset=utf-8", {"a": 1}),
        (b'{"a": "gr\xfc"}', "application/json; charset=ISO-8859-1", {"a": "gr\u00fc"}),
        ('{"a": "gr\u00fc"}'.encode("utf-16"), "application/json", {"a": "gr\u00fc"}),
        (b"hello..", "text/plain; charset=idna", "hello.."),
        (b"hello-x", "text/plain; charset=punycode", "hello-x"),
        (b"<a/>", "application/xml", "<a/>"),
        (b"\x00\x01", "image/png", {"mediaType": "image/png", "base64": "AAE="}),
        (b"[1]", "", [1]),
        (b"plain", "", "plain"),
        (b"\xff", "", {"mediaType": "application/octet-stream", "base64": "/w=="}),
    ],
)
def test_the_media_type_decides(content: bytes, content_type: str, expected: JSON) -> None:
    assert read_answer(content, content_type) == expected


@pytest.mark.parametrize("content", [b"{", b"NaN", b"-1e999", b"\xff\xfe\xff", b"[" * 100_000, b"[" * 300 + b"]" * 300])
def test_broken_json_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_answer(content, "application/json")


def test_broken_json_of_an_error_is_shown_as_text() -> None:
    assert read_error_answer(b"<html>", "application/json") == "<html>"
    assert read_error_answer(b"gr\xfc", "application/json") == {"mediaType": "application/json", "base64": "Z3L8"}
