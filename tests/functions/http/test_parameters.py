"""How parameters are written in each style."""

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.functions.http.parameters import Parameter, in_cookie, in_header, in_path, in_query
from tests.failing import failing

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


@pytest.mark.parametrize("value", ["", ".", ".."])
def test_a_path_cannot_be_left(value: str) -> None:
    with failing("BadArguments", "cannot be", retryable=False):
        in_path(Parameter("c", "path", style="simple"), value)


@pytest.mark.parametrize("value", ["", "."])
def test_a_label_cannot_leave_the_path(value: str) -> None:
    """The dot of a label must not become a segment that leads up, together with the value."""
    with pytest.raises(CallFailed, match=f"cannot be '.{value}'"):
        in_path(Parameter("c", "path", style="label"), value)


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
    assert in_cookie(cookie, "a;b") == "session=a%3Bb"
    assert in_cookie(cookie, ["a", "b"]) == "session=a; session=b"


def test_the_collection_format_of_a_header() -> None:
    assert in_header(Parameter("X-Tags", "header", style="pipeDelimited"), LIST) == "blue|black"
    assert in_header(Parameter("X-Tags", "header", style="tabDelimited"), LIST) == "blue\tblack"


def test_a_parameter_with_content_is_written_so() -> None:
    """A parameter that declares a media type is written in it, whatever its style; JSON quotes texts."""
    assert in_query(Parameter("c", "query", media_type="application/vnd.a+json"), "a") == "c=%22a%22"
    assert in_query(Parameter("c", "query", media_type="text/plain"), "a") == "c=a"
    assert in_path(Parameter("c", "path", media_type="application/json"), [1]) == "%5B1%5D"
    assert in_query(Parameter("c", "query", explode=True, media_type="application/json"), OBJECT) == (
        "c=%7B%22R%22%3A100%2C%22G%22%3A200%7D"
    )
    assert in_header(Parameter("c", "header", media_type="application/json"), OBJECT) == '{"R":100,"G":200}'
