"""How parameters are written in each style."""

import pytest

from swf_temporal.data import JSON
from swf_temporal.errors import CallFailed
from swf_temporal.functions.operations import Parameter
from swf_temporal.functions.parameters import in_cookie, in_header, in_path, in_query

LIST: JSON = ["blue", "black"]
OBJECT: JSON = {"R": 100, "G": 200}


@pytest.mark.parametrize(
    ("style", "explode", "value", "expected"),
    [
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
        ("matrix", False, LIST, ";c=blue,black"),
        ("matrix", True, LIST, ";c=blue;c=black"),
        ("matrix", False, OBJECT, ";c=R,100,G,200"),
        ("matrix", True, OBJECT, ";R=100;G=200"),
    ],
)
def test_path_styles(*, style: str, explode: bool, value: JSON, expected: str) -> None:
    """Each style of a path parameter is written as the table in OpenAPI shows."""
    assert in_path(Parameter("c", "path", style=style, explode=explode), value) == expected


@pytest.mark.parametrize("value", ["", ".", ".."])
def test_a_path_cannot_be_left(value: str) -> None:
    """A path parameter cannot lead to another path than the operation's."""
    with pytest.raises(CallFailed, match="cannot be") as caught:
        in_path(Parameter("c", "path", style="simple"), value)

    assert (caught.value.code, caught.value.retryable) == ("BadArguments", False)


@pytest.mark.parametrize(
    ("style", "explode", "value", "expected"),
    [
        ("form", True, "a&b", "c=a%26b"),
        ("form", True, "", "c="),
        ("form", True, 1.5, "c=1.5"),
        ("form", True, LIST, "c=blue&c=black"),
        ("form", True, [], ""),
        ("form", False, LIST, "c=blue,black"),
        ("form", True, OBJECT, "R=100&G=200"),
        ("form", False, OBJECT, "c=R,100,G,200"),
        ("spaceDelimited", False, LIST, "c=blue%20black"),
        ("pipeDelimited", False, LIST, "c=blue%7Cblack"),
        ("tabDelimited", False, LIST, "c=blue%09black"),
        ("deepObject", True, OBJECT, "c%5BR%5D=100&c%5BG%5D=200"),
        ("form", True, [{"x": 1}], "c=%7B%22x%22%3A1%7D"),
    ],
)
def test_query_styles(*, style: str, explode: bool, value: JSON, expected: str) -> None:
    """Each style of a query parameter is written as the table in OpenAPI shows."""
    assert in_query(Parameter("c", "query", style=style, explode=explode), value) == expected


def test_headers_and_cookies() -> None:
    """Headers hold values bare, cookies hold them escaped, and both know lists."""
    header = Parameter("X-Tags", "header", style="simple")
    cookie = Parameter("session", "cookie", explode=True)

    assert in_header(header, LIST) == "blue,black"
    assert in_header(header, OBJECT) == "R,100,G,200"
    assert in_cookie(cookie, "a;b") == "session=a%3Bb"
    assert in_cookie(cookie, ["a", "b"]) == "session=a; session=b"


def test_a_parameter_with_content_is_json() -> None:
    """A parameter that declares a media type is written as JSON, whatever its style."""
    assert in_query(Parameter("c", "query", explode=True, is_json=True), OBJECT) == (
        "c=%7B%22R%22%3A100%2C%22G%22%3A200%7D"
    )
    assert in_header(Parameter("c", "header", is_json=True), OBJECT) == '{"R":100,"G":200}'
