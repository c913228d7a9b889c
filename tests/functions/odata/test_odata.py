"""Queries of OData: of a service that understands all of version 4, and the forms that older versions answer in."""

from collections.abc import Iterator
from typing import Any

import pytest

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.functions.odata.odata import entity_url, key_text
from swf_temporal.settings.calls import Options, Settings
from tests.failing import fault_of
from tests.functions.conftest import Calling, Service, showing
from tests.functions.odata.odata_service import PERSONS, serving


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving() as url:
        yield url


def query(url: str, entity_set: str, arguments: JSON = None) -> Call:
    return Call(Function(name="ask", type="odata", operation=f"{url}#{entity_set}"), arguments)


async def test_all_entities(url: str, functions: Functions) -> None:
    assert await functions.call(query(url, "Persons")) == PERSONS


@pytest.mark.parametrize(("options", "expected"), [
    ({"filter": "startswith(Name, 'A')"}, [PERSONS[0], PERSONS[2]]),
    ({"filter": "Name eq 'O''Hara'"}, [PERSONS[1]]),
    ({"select": "Id", "top": 1}, [{"Id": 1}]),
    ({"orderby": "Born desc", "select": ["Id", "Born"], "skip": 1, "top": 2},
     [{"Id": 2, "Born": 1926}, {"Id": 3, "Born": 1912}]),
    ({"filter": "Id eq 1", "expand": "City"}, [{**PERSONS[0], "City": {"Code": "L/1", "Name": "London"}}]),
    ({"expand": "City($select=Name)", "select": "Id", "top": 1},
     [{"Id": 1, "City": {"Code": "L/1", "Name": "London"}}]),
    ({"orderBy": "City/Name", "filter": "City/Name ne null", "select": "Id"}, [{"Id": 2}, {"Id": 1}]),
    ({"compute": "Born add 1 as Next", "select": "Id,Next", "top": 1}, [{"Id": 1, "Next": 1816}]),
    ({"search": "Edsger"}, [PERSONS[3]]),
    ({"apply": "aggregate(Born with max as Last)"}, [{"Last": 1930}]),
    ({"count": True, "top": 0}, {"count": 4, "value": []}),
    ({"format": "json", "top": 1}, [PERSONS[0]]),
])  # fmt: skip
async def test_query_options(url: str, functions: Functions, options: JSON, expected: JSON) -> None:
    assert await functions.call(query(url, "Persons", {"queryOptions": options})) == expected


@pytest.mark.parametrize(("entity_set", "arguments", "expected"), [
    ("Persons", {"key": 3}, PERSONS[2]),
    ("Persons", {"key": "3"}, PERSONS[2]),
    ("Cities", {"key": "L/1"}, {"Code": "L/1", "Name": "London"}),
    ("Items", {"key": {"Order": 1, "Code": "a b"}}, {"Order": 1, "Code": "a b"}),
    ("Items", {"key": "Order=1,Code='c'"}, {"Order": 1, "Code": "c"}),
    # What is wanted of an entity may be said beside its key; this service adds the key itself.
    ("Persons", {"key": 2, "queryOptions": {"select": "Name", "expand": "City"}},
     {"Id": 2, "Name": "O'Hara", "City": {"Code": "C", "Name": "Cork"}}),
    ("Persons(1)/City", None, {"Code": "L/1", "Name": "London"}),
    ("Persons(1)/Name", None, "Ada"),
])  # fmt: skip
async def test_one_entity_or_property(
    url: str, functions: Functions, entity_set: str, arguments: JSON, expected: JSON
) -> None:
    assert await functions.call(query(url, entity_set, arguments)) == expected


@pytest.mark.parametrize("options", [{}, {"count": True, "orderby": "Id"}])
async def test_pages_are_read_to_the_end(calling: Calling, functions: Functions, options: JSON) -> None:
    with serving(page_size=3) as url:
        call = query(url, "Persons", {"queryOptions": options})
        found: Any = await functions.call(call)
        small = calling(settings=Settings(calls=Options(max_response_bytes=250)))
        await fault_of(small.call(call), "AnswerTooLarge", retryable=False)
    assert found == ({"count": 4, "value": PERSONS} if options else PERSONS)


@pytest.mark.parametrize(("entity_set", "arguments", "status", "told"), [
    ("Cats", None, 404, "Cats"),
    ("Persons", {"key": 9}, 404, ""),
    ("Persons", {"queryOptions": {"filter": "Wings gt 1"}}, 400, "Wings"),
])  # fmt: skip
async def test_errors(url: str, functions: Functions, entity_set: str, arguments: JSON, status: int, told: str) -> None:
    fault = await fault_of(functions.call(query(url, entity_set, arguments)), told=told)
    assert fault.status == status


NEXT = "/S/A?$skiptoken=1"
ONE, TWO = {"Id": 1}, {"Id": 2}


@pytest.mark.parametrize(("first", "last", "expected"), [
    ({"d": {"results": [ONE], "__next": NEXT}}, {"d": {"results": [TWO]}}, [ONE, TWO]),
    ({"d": {"results": [ONE], "__count": "2", "__next": NEXT}}, {"d": {"results": [TWO]}},
     {"count": 2, "value": [ONE, TWO]}),
    ({"odata.metadata": "m", "value": [ONE], "odata.nextLink": NEXT}, {"value": [TWO]}, [ONE, TWO]),
    ({"odata.count": "2", "value": [ONE], "odata.nextLink": NEXT}, {"value": [TWO]}, {"count": 2, "value": [ONE, TWO]}),
    ({"@odata.context": "m", "value": [ONE], "@odata.nextLink": NEXT}, {"value": [TWO]}, [ONE, TWO]),
    ({"d": ONE}, None, ONE),
    ({"odata.metadata": "m#Persons/@Element", **ONE}, None, ONE),
    ({"@odata.context": "m#Persons/$entity", **ONE}, None, ONE),
])  # fmt: skip
async def test_every_version_has_its_form(
    service: Service, functions: Functions, first: JSON, last: JSON, expected: JSON
) -> None:
    """Of entities, of pages and of what they count. A key goes with the query of every page."""
    pages = iter([first, last])
    service.answers_by("GET", "/S/A", lambda: next(pages))
    key = {"in": "query", "name": "api-key", "key": "k-9"}
    call = query("/S", "A", {"queryOptions": {"inlinecount": "allpages"}})
    assert await functions.call(showing(call, "apiKey", key)) == expected
    assert service.requests[0].query[0] == ("$inlinecount", "allpages")
    assert [dict(one.query)["api-key"] for one in service.requests] == ["k-9"] * (1 if last is None else 2)
    assert [dict(one.query).get("$skiptoken") for one in service.requests[1:]] == ([] if last is None else ["1"])


@pytest.mark.parametrize("message", ["a text", {"lang": "en", "value": "a text"}])
@pytest.mark.parametrize("name", ["error", "odata.error"])
async def test_errors_have_their_code(service: Service, functions: Functions, name: str, message: Any) -> None:
    service.answers_with("GET", "/S/A", {name: {"code": "NoSet", "message": message}}, status=404)
    fault = await fault_of(functions.call(query("/S", "A")), "NoSet")
    assert (fault.status, fault.message.endswith("answered 404: a text")) == (404, True)


@pytest.mark.parametrize(("link", "code", "told"), [
    ("http://elsewhere.example/", "BadUrl",
     "is on another server, http://elsewhere.example/, which must not get the credentials"),
    ("//[", "BadUrl", ""),
    ("A", "MalformedAnswer", ""),
])  # fmt: skip
async def test_pages_elsewhere(service: Service, functions: Functions, link: str, code: str, told: str) -> None:
    """A page on another server is not fetched, as it would be sent the credentials; nor are pages in a cycle."""
    service.answers_with("GET", "/S/A", {"value": [], "@odata.nextLink": link})
    await fault_of(functions.call(query("/S", "A")), code, told)


@pytest.mark.parametrize("body", [{"error": "overloaded"}, {"error": {"code": "", "message": "no"}}])
async def test_other_errors_stay_as_they_are(service: Service, functions: Functions, body: JSON) -> None:
    service.answers_with("GET", "/S/A", body, status=503)
    fault = await fault_of(functions.call(query("/S", "A")), "503")
    assert (fault.status, fault.body) == (503, body)


@pytest.mark.parametrize(("operation", "arguments", "code", "told"), [
    ("http://h/S", None, "BadOperation", "#EntitySet"),
    ("http://h/S#", None, "BadOperation", "#EntitySet"),
    ("http://h/S#A", ["x"], "BadArguments", "must be an object"),
    ("http://h/S#A", {"queryoptions": {}}, "BadArguments", "did you mean 'queryOptions'?"),
    ("http://h/S#A", {"queryOptions": "top=1"}, "BadArguments", "must be an object"),
    ("http://h/S#A", {"queryOptions": {"filtre": "x"}}, "BadArguments", "did you mean 'filter'?"),
    ("http://h/S#A", {"queryOptions": {"filter": {}}}, "BadArguments", "must be a text, a number"),
    ("http://h/S#A", {"key": ""}, "BadArguments", "cannot be the key"),
    ("http://h/S#A", {"key": {"a b": 1}}, "BadArguments", "the part 'a b' of the key"),
])  # fmt: skip
async def test_what_cannot_be_asked(
    functions: Functions, operation: str, arguments: JSON, code: str, told: str
) -> None:
    call = Call(Function(name="ask", type="odata", operation=operation), arguments)
    await fault_of(functions.call(call), code, told, retryable=False)


async def test_a_service_without_a_host_and_credentials(functions: Functions, service: Service) -> None:
    service.answers_with("GET", "/Service.svc/Persons(1)", ONE)
    call = showing(query("Service.svc", "Persons", {"key": 1}), "bearer", {"token": "t0ken"})
    assert await functions.call(call) == ONE
    assert service.last.headers["authorization"] == "Bearer t0ken"


@pytest.mark.parametrize(("key", "text"), [
    (7, "7"), ("7", "7"), ("007", "'007'"), (True, "true"), ("'7'", "'7'"), ("it's", "'it''s'"),
    ("1) or (1", "'1) or (1'"),
    ("01234567-89ab-cdef-0123-456789abcdef", "01234567-89ab-cdef-0123-456789abcdef"),
    ("guid'01234567-89ab-cdef-0123-456789abcdef'", "guid'01234567-89ab-cdef-0123-456789abcdef'"),
    ({"Order": 1, "Item": "x"}, "Order=1,Item='x'"), ("Order=1,Item='x'", "Order=1,Item='x'"),
])  # fmt: skip
def test_forms_of_keys(key: JSON, text: str) -> None:
    assert key_text(key) == text


def test_the_url_of_the_specification_s_example() -> None:
    options: dict[str, JSON] = {"expand": "PersonDetail/Person", "top": 5, "orderby": "Id", "skip": None}
    url = entity_url("https://example.com/OData.svc/?sap-client=1", "Persons", "a/b", options)
    written = "?sap-client=1&$expand=PersonDetail%2FPerson&$top=5&$orderby=Id"
    assert url == f"https://example.com/OData.svc/Persons('a%2Fb'){written}"
