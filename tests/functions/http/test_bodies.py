"""How bodies are written."""

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.functions.http.bodies import write_body
from swf_temporal.functions.http.media_types import FORM, MULTIPART
from swf_temporal.functions.http.parameters import FormField
from tests.failing import failing


@pytest.mark.parametrize(("value", "media_type", "expected"), [
    ({"a": [1, None]}, "application/json", b'{"a":[1,null]}'),
    ("x", "application/vnd.a+json", b'"x"'),
    ({"a": "b c", "n": [1, True], "no": None}, FORM, b"a=b+c&n=1&n=true"),
    ("plain", "text/plain", b"plain"),
    (5, "text/plain", b"5"),
    ({"mediaType": "image/png", "base64": "AAE="}, "image/png", b"\x00\x01"),
    ("<a>\u00fc</a>", "application/xml", "<a>\u00fc</a>".encode()),
    ("\u00fc", "text/plain; charset=ISO-8859-1", b"\xfc"),
    ("\u00fc", "text/plain; charset=klingon", b"\xc3\xbc"),
    ("\u00fc..", "text/plain; charset=idna", b"\xc3\xbc.."),
    ({"a": 1}, "application/yaml", b'{"a":1}'),
    ("a=b&c", FORM, b"a=b&c"),
    ({"a": {"b": 1}, "c": "x&y=z"}, FORM, b"a=%7B%22b%22%3A1%7D&c=x%26y%3Dz"),
])  # fmt: skip
def test_each_media_type_has_its_way(value: JSON, media_type: str, expected: bytes) -> None:
    """Objects become JSON or forms, texts stay texts, and base64 becomes the bytes that it stands for."""
    assert write_body(value, media_type) == (expected, media_type)


@pytest.mark.parametrize("media_type", [FORM, MULTIPART])
def test_bytes_without_the_name_of_a_field_are_no_form(media_type: str) -> None:
    """Of what stands for bytes, no text fields are made, unless the document has fields of those names."""
    value: JSON = {"mediaType": "image/png", "base64": "AAE="}
    with pytest.raises(CallFailed, match="give the bytes under the name of a field"):
        write_body(value, media_type)
    content, _ = write_body(value, media_type, {"base64": FormField()})
    assert b"base64" in content


def test_a_charset_without_a_character_of_the_body() -> None:
    """Sent as question marks, it would be another text than the one that was given."""
    with pytest.raises(CallFailed, match=r"is sent in ISO-8859-1, which cannot write '\u20ac'"):
        write_body("5 \u20ac", "text/plain; charset=ISO-8859-1")


@pytest.mark.parametrize(("value", "told"), [({"a": 1}, "an object"), ([1], "an array")])
@pytest.mark.parametrize("media_type", ["application/xml", "image/png", "application/octet-stream"])
def test_what_cannot_be_written(value: JSON, told: str, media_type: str) -> None:
    """An object has no form in XML that a service could count on; the fault says what to give."""
    with failing("BadArguments", f"is sent as {media_type}, and cannot be {told}", retryable=False):
        write_body(value, media_type)


@pytest.mark.parametrize(("field", "value", "expected"), [
    (FormField("deepObject"), {"a": [1], "b": {"c": 2}}, b"f%5Ba%5D%5B0%5D=1&f%5Bb%5D%5Bc%5D=2"),
    (FormField("form", explode=False), ["a b", "c"], b"f=a+b,c"),
    (FormField("pipeDelimited", explode=False), ["a", "b"], b"f=a%7Cb"),
    (FormField("form", allow_reserved=True), "a/b", b"f=a/b"),
    (FormField("form"), {"a": 1, "b": 2}, b"a=1&b=2"),
    (FormField(content_type="application/json"), "a", b"f=%22a%22"),
    (FormField(), [], b""),
])  # fmt: skip
def test_fields_of_a_form_have_styles(field: FormField, value: JSON, expected: bytes) -> None:
    """A field that the document gives a style is written like a parameter of that style."""
    assert write_body({"f": value}, FORM, {"f": field}) == (expected, FORM)


@pytest.mark.parametrize(("field", "value", "expected"), [
    (FormField(content_type="application/xml"), "<a/>", b'name="f"\r\nContent-Type: application/xml\r\n\r\n<a/>'),
    (FormField(content_type="image/*, image/png"), {"base64": ""}, b'filename="f"\r\nContent-Type: image/png\r\n'),
    (FormField(content_type="image/*"), {"base64": ""}, b"Content-Type: application/octet-stream\r\n"),
    (FormField(content_type="image/png"), {"base64": "", "mediaType": "image/gif"}, b"Content-Type: image/gif\r\n"),
    (FormField(is_file=True), "notes", b'name="f"; filename="f"\r\nContent-Type: text/plain\r\n\r\nnotes'),
    (FormField(headers={"X-A": "1"}), "a", b'name="f"\r\nX-A: 1\r\n\r\na'),
    (FormField(headers={"X-A": "1"}), {"base64": "", "headers": {"X-A": 2}}, b"X-A: 2\r\n"),
    (FormField(content_type="application/vnd.a+json"), {"a": 1},
     b'Content-Type: application/vnd.a+json\r\n\r\n{"a":1}'),
    (FormField(content_type="application/json"), "Ada", b'Content-Type: application/json\r\n\r\n"Ada"\r\n'),
    (FormField(content_type="application/json"), True, b"Content-Type: application/json\r\n\r\ntrue\r\n"),
    (FormField(content_type="application/json", is_file=True), "{}", b"Content-Type: application/json\r\n\r\n{}\r\n"),
])  # fmt: skip
def test_parts_have_media_types_and_headers(field: FormField, value: JSON, expected: bytes) -> None:
    """A part is what it says itself, else what the document says of it."""
    assert expected in write_body({"f": value}, MULTIPART, {"f": field})[0]


@pytest.mark.parametrize(("field", "value", "expected"), [
    (FormField("form", explode=False), ["a b", "c&d"], [b'name="f"\r\n\r\na b,c&d']),
    (FormField("form"), ["a", "b"], [b'name="f"\r\n\r\na', b'name="f"\r\n\r\nb']),
    (FormField("form"), {"a": 1, "b c": "%41"}, [b'name="a"\r\n\r\n1', b'name="b c"\r\n\r\n%41']),
    (FormField("deepObject"), {"a": {"b": "\u00fc"}}, ['name="f[a][b]"\r\n\r\n\u00fc'.encode()]),
    (FormField("pipeDelimited", explode=False, allow_reserved=True), ["%41", "b"], [b'name="f"\r\n\r\n%41|b']),
    (FormField("form", headers={"X-A": "1"}), "a", [b'name="f"\r\nX-A: 1\r\n\r\na']),
    (FormField("form"), [{"base64": "AAE="}], [b'name="f"; filename="f"\r\nContent-Type: application/octet-stream']),
])  # fmt: skip
def test_parts_have_styles(field: FormField, value: JSON, expected: list[bytes]) -> None:
    content, _ = write_body({"f": value, "no": None}, MULTIPART, {"f": field, "no": field})
    assert [piece in content for piece in expected] == [True] * len(expected)
    assert content.count(b"Content-Disposition") == len(expected)


@pytest.mark.parametrize("value", [{}, {"a": None}, {"a": []}])
def test_a_form_without_parts(value: JSON) -> None:
    with failing("BadArguments", "has no part", retryable=False):
        write_body(value, MULTIPART)


def test_other_bodies_in_parts() -> None:
    assert write_body({"a": 1}, "multipart/mixed")[1].startswith("multipart/mixed; boundary=")


@pytest.mark.parametrize("facts", [{"mediaType": "a\r\nb"}, {"headers": {"X": "a\r\nb"}}, {"headers": {"X\n": "a"}}])
def test_the_head_of_a_part_cannot_be_left(facts: dict[str, JSON]) -> None:
    """A line break in what an argument says of a part is refused."""
    with failing("BadArguments", "control character"):
        write_body({"f": {"base64": "", **facts}}, MULTIPART)


def test_a_form_with_parts() -> None:
    value: JSON = {
        "title": "Sun",
        "tags": ["a", "b"],
        "info": {"x": 1},
        "no": None,
        "file": {"base64": "AAE=", "mediaType": "image/png", "fileName": "sun.png"},
    }
    content, media_type = write_body(value, MULTIPART)
    assert media_type.startswith("multipart/form-data; boundary=")
    assert content.count(b'name="tags"') == 2
    assert b'name="no"' not in content
    assert b'name="file"; filename="sun.png"\r\nContent-Type: image/png\r\n\r\n\x00\x01' in content
    assert b'name="info"\r\nContent-Type: application/json\r\n\r\n{"x":1}' in content


def test_base64_that_is_none() -> None:
    with failing("BadArguments", "base64"):
        write_body({"base64": "?"}, "image/png")


def test_half_a_character_in_the_head_of_a_part() -> None:
    file: JSON = {"base64": "AAE=", "fileName": "\ud800.png"}
    content, _ = write_body({"\udc00": file}, MULTIPART)
    assert b'name="?"; filename="?.png"' in content
