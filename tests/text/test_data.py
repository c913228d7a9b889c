"""YAML as data, and bodies by their media types."""

from typing import Any

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.text.bodies import read_answer, read_error_answer
from swf_temporal.text.parsing import read_data
from swf_temporal.text.yaml_text import write_yaml


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b'{"a": [1, null]}', {"a": [1, None]}),
        (b"200: {a: 1}", {"200": {"a": 1}}),
        (b"[no, on, Yes, true, False]", ["no", "on", "Yes", True, False]),
        (b"[2026-01-31, 12:30, 1_000, 007]", ["2026-01-31", "12:30", "1_000", "007"]),
        (b"[1, -2, 1.5, 1e3, .5, ~, null]", [1, -2, 1.5, 1000.0, 0.5, None, None]),
        (b"a: &x {b: 1}\nc: *x\nd: {<<: *x, e: 2}", {"a": {"b": 1}, "c": {"b": 1}, "d": {"b": 1, "e": 2}}),
        (b"null: {true: 1, 1.5: 2}", {"null": {"true": 1, "1.5": 2}}),
        (b"a:\nb: ''", {"a": None, "b": ""}),
        (b"# nothing", None),
        (b"- !!str 12\n- ! 12\n- !!int '12'\n- '12'\n- '<<'\n- |\n  a\n  b\n", ["12", "12", 12, "12", "<<", "a\nb\n"]),
        (b"a: {<<: [{b: 1, c: 2}, {b: 3}], c: 4}", {"a": {"b": 1, "c": 4}}),
    ],
)
def test_yaml_is_read_as_json_would_be(text: bytes, expected: Any) -> None:
    """What older YAML takes for a truth, a date or a time is a text, and so is every name."""
    assert read_data(text) == expected


def test_an_alias_is_what_it_stands_for() -> None:
    value = read_data(b"a: &x {b: 1}\nc: [*x, *x]")

    assert value["a"] is value["c"][0] is value["c"][1]


@pytest.mark.parametrize(
    "text",
    [b"a: [", b"{", b"\xff", b'{"a":' * 100_000, b"[" * 100_000, b"- " * 100_000, b"- !!binary aGk=",
     b"a: 1\n---\nb: 2", b"a: *b", b"&a {b: *a}",
     b"- &a0 [x, x]\n" + b"".join(b"- &a%d [*a%d, *a%d]\n" % (n, n - 1, n - 1) for n in range(1, 40)), b"? [a]\n: b",
     b"<<: 1"],
)  # fmt: skip
def test_what_cannot_be_read(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_data(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: 1\nb: [", "line 3, column 1: a value is missing here"),
        ("a: 1\nb: \x07", "line 2, column 4: the character U+0007 is not allowed in YAML or JSON"),
        ("a: 1\n---\nb: 2", "line 2, column 1: a second document starts here: a file holds one"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, told: str) -> None:
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - its message is what is asked for
        read_data(text)

    assert str(raised.value) == told


def test_the_flow_style_of_yaml() -> None:
    assert read_data("{a: 1, b: [c]} # done") == {"a": 1, "b": ["c"]}


def test_what_is_written_can_be_read() -> None:
    """Keys keep their order; texts that YAML would take for something else get quotes."""
    value = {"z": ["1", True, None, "é\n"], "a": {}}

    assert list(read_data(write_yaml(value))) == ["z", "a"]
    assert read_data(write_yaml(value)) == value
    assert write_yaml("text") == "text\n"


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
