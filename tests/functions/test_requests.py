"""Which request an operation and its arguments make."""

from urllib.parse import parse_qsl, urlsplit

import pytest

from swf_temporal.data import JSON
from swf_temporal.errors import CallFailed
from swf_temporal.functions.http import Request
from swf_temporal.functions.operations import Body, Operation, Parameter
from swf_temporal.functions.requests import build_request

ID = Parameter("id", "path", required=True, style="simple")
GET = Operation(
    "getOrder",
    "GET",
    "/orders/{id}",
    (
        ID,
        Parameter("page", "query", default=1, explode=True),
        Parameter("tags", "query", explode=True),
        Parameter("X-Trace", "header", style="simple"),
        Parameter("session", "cookie", explode=True),
        Parameter("lang", "cookie", explode=True),
    ),
)


def put(arguments: JSON, body: Body | None = None) -> Request:
    """Return the request that changes an order."""
    operation = Operation("putOrder", "PUT", "/orders/{id}", (ID,), body or Body(properties=frozenset({"id"})))
    return build_request(operation, "http://shop/api/", arguments)


def post(arguments: JSON, body: Body | None = None) -> bytes | None:
    """Return the body of the request that makes an order."""
    return build_request(Operation("post", "POST", "/orders", (), body or Body()), "http://shop", arguments).content


def test_each_argument_goes_where_it_is_declared() -> None:
    """Path, query, header and cookies are filled by name, and defaults fill what is not given."""
    arguments: JSON = {"id": 7, "tags": ["a", "b"], "X-Trace": "t", "session": "s", "lang": "de"}

    request = build_request(GET, "http://shop/api/", arguments)

    url = urlsplit(request.url)
    assert (request.method, url.path) == ("GET", "/api/orders/7")
    assert parse_qsl(url.query) == [("page", "1"), ("tags", "a"), ("tags", "b")]
    assert request.headers == (("X-Trace", "t"), ("Cookie", "session=s; lang=de"))
    assert request.content is None


@pytest.mark.parametrize(("arguments", "state"), [({}, "is missing"), ({"id": None}, "is null"), (None, "is missing")])
def test_a_required_parameter_is_asked_for(arguments: JSON, state: str) -> None:
    """The fault names the operation, the argument and its place."""
    with pytest.raises(CallFailed) as caught:
        build_request(GET, "http://shop", arguments)

    assert (caught.value.code, caught.value.retryable) == ("BadArguments", False)
    assert caught.value.message == f"operation 'getOrder': the argument 'id' (path) {state}"


def test_an_argument_too_many_is_told() -> None:
    """Where there is no body, an unknown argument is a misspelling, and the near name is shown."""
    with pytest.raises(CallFailed, match="takes no argument 'pge'; did you mean 'page'") as caught:
        build_request(GET, "http://shop", {"id": 1, "pge": 2})

    assert caught.value.code == "BadArguments"


def test_arguments_need_names_where_there_is_no_body() -> None:
    """A bare value has no place in an operation that has only parameters."""
    with pytest.raises(CallFailed, match="by name"):
        build_request(GET, "http://shop", [1])


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"a": 1}, b'{"a": 1}'),
        ({"body": {"a": 1}}, b'{"a": 1}'),
        ({"body": [1]}, b"[1]"),
        ({"body": 1, "a": 2}, b'{"body": 1, "a": 2}'),
        ([1, 2], b"[1, 2]"),
        ("text", b'"text"'),
        ({}, None),
        (None, None),
    ],
)
def test_what_is_no_parameter_is_the_body(arguments: JSON, expected: bytes | None) -> None:
    """The rest is the body's fields; `body` alone is the whole body; nothing is no body."""
    assert post(arguments) == expected


def test_a_field_named_body_is_a_field() -> None:
    """If the schema has a field `body`, that is what the argument is."""
    assert post({"body": "text"}, Body(properties=frozenset({"body"}))) == b'{"body": "text"}'


def test_version_2_names_its_body() -> None:
    """The name of the body parameter stands for the whole body, and `body` does not."""
    assert post({"order": {"a": 1}}, Body(name="order")) == b'{"a": 1}'
    assert post({"body": {"a": 1}}, Body(name="order")) == b'{"body": {"a": 1}}'


def test_a_body_that_must_be_is_an_empty_object() -> None:
    """The service, not the workflow, knows whether an empty object will do."""
    assert post(None, Body(required=True)) == b"{}"


def test_an_argument_may_be_parameter_and_field() -> None:
    """`PUT /orders/{id}` with an order that has an id sends it twice; another parameter only once."""
    assert put({"id": 7, "total": 5}).content == b'{"id": 7, "total": 5}'
    assert put({"id": 7, "total": 5}, Body()).content == b'{"total": 5}'
    assert put({"id": 7, "total": 5}).url == "http://shop/api/orders/7"


def test_a_path_with_a_hole_is_the_documents_mistake() -> None:
    """A place in the path that no parameter declares is told as such."""
    with pytest.raises(CallFailed, match="undeclared 'id'") as caught:
        build_request(Operation("x", "GET", "/orders/{id}"), "http://shop", None)

    assert caught.value.code == "BadDocument"
