"""How bodies and parameters are written, and in which media types."""

import re

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.functions.http.bodies import write_body
from swf_temporal.functions.http.media_types import FORM, MULTIPART, accept, choose, closest, concrete
from swf_temporal.functions.http.parameters import FormField, Parameter, in_cookie, in_header, in_path, in_query
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
    assert write_body(value, media_type) == (expected, media_type)


NO_PARTS: list[JSON] = [{}, {"a": None}, {"a": []}]


@pytest.mark.parametrize(("value", "media_type", "told"), [
    # Of what stands for bytes, no text fields are made.
    *(({"mediaType": "image/png", "base64": "AAE="}, kind, "give the bytes under the name of a field")
      for kind in (FORM, MULTIPART)),
    # Sent as question marks, it would be another text than the one that was given.
    ("5 \u20ac", "text/plain; charset=ISO-8859-1", r"is sent in ISO-8859-1, which cannot write '\u20ac'"),
    *((value, kind, f"is sent as {kind}, and cannot be {told}")
      for value, told in (({"a": 1}, "an object"), ([1], "an array"))
      for kind in ("application/xml", "image/png", "application/octet-stream")),
    *((value, MULTIPART, "has no part") for value in NO_PARTS),
    *(({"f": {"base64": "", **facts}}, MULTIPART, "control character")
      for facts in ({"mediaType": "a\r\nb"}, {"headers": {"X": "a\r\nb"}}, {"headers": {"X\n": "a"}})),
    ({"base64": "?"}, "image/png", "base64"),
])  # fmt: skip
def test_what_cannot_be_written(value: JSON, media_type: str, told: str) -> None:
    with failing("BadArguments", told, retryable=False):
        write_body(value, media_type)


def test_bytes_in_forms_and_parts() -> None:
    """Fields of a document may have the names by which bytes are known; half a character becomes a question mark."""
    content, _ = write_body({"mediaType": "image/png", "base64": "AAE="}, FORM, {"base64": FormField()})
    assert b"base64" in content
    assert write_body({"a": 1}, "multipart/mixed")[1].startswith("multipart/mixed; boundary=")
    file: JSON = {"base64": "AAE=", "fileName": "\ud800.png"}
    assert b'name="?"; filename="?.png"' in write_body({"\udc00": file}, MULTIPART)[0]


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


LIST: JSON = ["blue", "black"]
OBJECT: JSON = {"R": 100, "G": 200}


@pytest.mark.parametrize(("style", "explode", "value", "expected"), [
    ("simple", False, "a b/c", "a%20b%2Fc"),
    ("simple", False, 5, "5"),
    ("simple", False, True, "true"),
    ("simple", False, LIST, "blue,black"),
    ("simple", False, OBJECT, "R,100,G,200"),
    ("simple", True, OBJECT, "R=100,G=200"),
    ("label", False, LIST, ".blue,black"),
    ("label", True, LIST, ".blue.black"),
    ("label", True, OBJECT, ".R=100.G=200"),
    ("matrix", False, "blue", ";c=blue"),
    ("matrix", False, "", ";c"),
    ("matrix", False, LIST, ";c=blue,black"),
    ("matrix", True, LIST, ";c=blue;c=black"),
    ("matrix", False, OBJECT, ";c=R,100,G,200"),
    ("matrix", True, OBJECT, ";R=100;G=200"),
    ("simple", False, ["a", None, "b"], "a,b"),
    ("simple", False, {"a": None, "b": 1}, "b,1"),
    ("spaceDelimited", False, LIST, "blue%20black"),
    ("pipeDelimited", False, LIST, "blue%7Cblack"),
    ("tabDelimited", False, LIST, "blue%09black"),
])  # fmt: skip
def test_path_styles(*, style: str, explode: bool, value: JSON, expected: str) -> None:
    assert in_path(Parameter("c", "path", style=style, explode=explode), value) == expected


@pytest.mark.parametrize(("style", "value"), [
    ("simple", ""), ("simple", "."), ("simple", ".."), ("label", ""), ("label", "."),
])  # fmt: skip
def test_a_path_cannot_be_left(style: str, value: str) -> None:
    """The dot of a label must not become a segment that leads up, together with the value."""
    written = f".{value}" if style == "label" else value
    with failing("BadArguments", f"cannot be '{re.escape(written)}'", retryable=False):
        in_path(Parameter("c", "path", style=style), value)


@pytest.mark.parametrize(("style", "explode", "value", "expected"), [
    ("form", True, "a&b", "c=a%26b"),
    ("form", True, "", "c="),
    ("form", True, 1.5, "c=1.5"),
    ("form", True, LIST, "c=blue&c=black"),
    ("form", True, [], ""),
    ("form", False, LIST, "c=blue,black"),
    ("form", True, OBJECT, "R=100&G=200"),
    ("form", True, {"page": 0, "sort": ["name", None, "age"], "none": []}, "page=0&sort=name&sort=age"),
    ("form", False, OBJECT, "c=R,100,G,200"),
    ("spaceDelimited", False, LIST, "c=blue%20black"),
    ("pipeDelimited", False, LIST, "c=blue%7Cblack"),
    ("tabDelimited", False, LIST, "c=blue%09black"),
    ("deepObject", True, OBJECT, "c%5BR%5D=100&c%5BG%5D=200"),
    ("deepObject", True, {"a": {"b": [1, {"c": 2}], "d": None}},
     "c%5Ba%5D%5Bb%5D%5B0%5D=1&c%5Ba%5D%5Bb%5D%5B1%5D%5Bc%5D=2"),
    ("deepObject", True, LIST, "c%5B0%5D=blue&c%5B1%5D=black"),
    ("deepObject", True, "blue", "c=blue"),
    ("spaceDelimited", False, OBJECT, "c=R%20100%20G%20200"),
    ("pipeDelimited", True, LIST, "c=blue&c=black"),
    ("form", True, ["a", None], "c=a"),
    ("form", True, [{"x": 1}], "c=%7B%22x%22%3A1%7D"),
])  # fmt: skip
def test_query_styles(*, style: str, explode: bool, value: JSON, expected: str) -> None:
    assert in_query(Parameter("c", "query", style=style, explode=explode), value) == expected


@pytest.mark.parametrize(("value", "expected"), [
    ("a/b?c:d", "c=a/b?c:d"),
    ("a&b=c#d+e[f] \u00fc", "c=a%26b%3Dc%23d%2Be%5Bf%5D%20%C3%BC"),
    ("a%2Fb%20c 5% %zz", "c=a%2Fb%20c%205%25%20%25zz"),
])  # fmt: skip
def test_what_may_stay_as_it_is(value: str, expected: str) -> None:
    """With allowReserved a URL stays readable, but a value cannot end its place in the query."""
    assert in_query(Parameter("c", "query", explode=True, allow_reserved=True), value) == expected


@pytest.mark.parametrize(("value", "expected"), [([], "c="), ({}, "c="), ("", "c="), (["a"], "c=a")])
def test_what_may_be_empty(value: JSON, expected: str) -> None:
    assert in_query(Parameter("c", "query", explode=True, allow_empty=True), value) == expected


def test_headers_and_cookies() -> None:
    header = Parameter("X-Tags", "header", style="simple")
    cookie = Parameter("session", "cookie", explode=True)
    assert in_header(header, LIST) == "blue,black"
    assert in_header(header, OBJECT) == "R,100,G,200"
    assert in_header(Parameter("X-Tags", "header", style="pipeDelimited"), LIST) == "blue|black"
    assert in_header(Parameter("X-Tags", "header", style="tabDelimited"), LIST) == "blue\tblack"
    assert in_cookie(cookie, "a;b") == "session=a%3Bb"
    assert in_cookie(cookie, ["a", "b"]) == "session=a; session=b"


def test_a_parameter_with_content_is_written_so() -> None:
    assert in_query(Parameter("c", "query", media_type="application/vnd.a+json"), "a") == "c=%22a%22"
    assert in_query(Parameter("c", "query", media_type="text/plain"), "a") == "c=a"
    assert in_path(Parameter("c", "path", media_type="application/json"), [1]) == "%5B1%5D"
    assert in_query(Parameter("c", "query", explode=True, media_type="application/json"), OBJECT) == (
        "c=%7B%22R%22%3A100%2C%22G%22%3A200%7D"
    )
    assert in_header(Parameter("c", "header", media_type="application/json"), OBJECT) == '{"R":100,"G":200}'


J, X, T, OCTETS = "application/json", "application/xml", "text/plain", "application/octet-stream"
PNG: JSON = {"mediaType": "image/png", "base64": "AAE="}


@pytest.mark.parametrize(("declared", "value", "expected"), [
    ([X, FORM, J], {"a": 1}, J),
    ([X, FORM, "application/vnd.a+json; v=1"], [1], "application/vnd.a+json; v=1"),
    ([MULTIPART, FORM], {"a": 1}, FORM),
    ([FORM, J, MULTIPART], {"a": PNG}, MULTIPART),
    ([FORM, J, MULTIPART], {"a": [PNG]}, MULTIPART),
    ([J, X], "<a/>", X),
    ([J, X], "a", J),
    ([J, T], "a", T),
    ([J, T], 5, J),
    ([J, FORM], "a=b", J),
    ([FORM, OCTETS], "a", OCTETS),
    ([J, "image/jpeg", "image/*", "image/png"], PNG, "image/png"),
    ([J, "image/*"], PNG, "image/*"),
    ([J, FORM, OCTETS], PNG, OCTETS),
    (["*/*", X], {"a": 1}, "*/*"),
    ([X], {"a": 1}, X),
])  # fmt: skip
def test_what_suits_a_value(declared: list[str], value: JSON, expected: str) -> None:
    assert choose(declared, value) == expected


@pytest.mark.parametrize(("declared", "value", "expected"), [
    (J, "a", J), ("image/*", PNG, "image/png"), ("*/*", {"base64": ""}, OCTETS), ("*/*", "a", T), ("*/*", {"a": 1}, J),
    ("application/*", "a", J), ("image/*", {"base64": ""}, OCTETS), ("application/*+json", "a", J),
    (OCTETS, PNG, OCTETS),
])  # fmt: skip
def test_a_range_is_not_sent(declared: str, value: JSON, expected: str) -> None:
    assert concrete(declared, value) == expected


@pytest.mark.parametrize(("declared", "media_type", "expected"), [
    (["*/*", "text/*", "text/plain"], "Text/Plain; charset=utf-8", "text/plain"),
    (["*/*", "text/*"], "text/html", "text/*"),
    (["*/*", "text/*"], "image/png", "*/*"),
    (["application/*+json"], "application/problem+json", "application/*+json"),
    (["text/*"], "image/png", None),
    ([J], "", None),
])  # fmt: skip
def test_the_narrowest_range_counts(declared: list[str], media_type: str, expected: str | None) -> None:
    assert closest(declared, media_type) == expected


@pytest.mark.parametrize(("declared", "expected"), [
    ([], None),
    ([J], "application/json, */*;q=0.1"),
    ([X, J, X], "application/json, application/xml;q=0.9, */*;q=0.1"),
    (["*/*"], "*/*"),
])  # fmt: skip
def test_what_is_asked_for(declared: list[str], expected: str | None) -> None:
    """JSON is asked for first, and everything else last: an error may be of any kind."""
    assert accept(declared) == expected
