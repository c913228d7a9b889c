"""How OData services are queried, against a small one that filters, sorts, selects, counts and pages for real."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.functions.odata.odata import entity_url, key_text
from swf_temporal.settings.calls import Options, Settings
from tests.failing import fault_of
from tests.functions.conftest import Calling, Service, showing
from tests.listening import Quiet, listening

PERSONS: list[dict[str, Any]] = [
    {"Id": 1, "Name": "Ada", "City": "London"},
    {"Id": 2, "Name": "O'Hara", "City": "Cork"},
    {"Id": 3, "Name": "Grace", "City": "New York"},
    {"Id": 4, "Name": "Edsger", "City": "Cork"},
]


class ODataService:
    def __init__(self, server: ThreadingHTTPServer, version: int) -> None:
        self.url = f"http://127.0.0.1:{server.server_port}/Service.svc"
        self.version = version
        self.page_size = 100
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []

    def answer(self, path: str) -> tuple[int, Any]:
        url = urlsplit(path)
        options = {name: values[0] for name, values in parse_qs(url.query).items()}
        match = re.fullmatch(r"/Service\.svc/Persons(?:\((.+)\))?", unquote(url.path))
        if match is None:
            return 404, self._error("NoSet", "there is no such entity set")
        if match[1] is None:
            return 200, self._rows(url.path, options)
        found = [row for row in PERSONS if match[1] in {str(row["Id"]), self._quoted(row["Name"])}]
        return (200, self._entity(found[0])) if found else (404, self._error("", "there is no such person"))

    def _rows(self, path: str, options: dict[str, str]) -> Any:
        rows = PERSONS
        if "$filter" in options:
            name, value = options["$filter"].split(" eq ")
            rows = [row for row in rows if value in {str(row[name]), self._quoted(str(row[name]))}]
        if "$orderby" in options:
            name, _, direction = options["$orderby"].partition(" ")
            rows = sorted(rows, key=lambda row: row[name], reverse=direction == "desc")
        count = len(rows)
        rows = rows[int(options.get("$skip", 0)) :][: int(options.get("$top", len(rows)))]
        start = int(options.get("$skiptoken", 0))
        end = start + self.page_size
        link = f"{path}?$skiptoken={end}" if end < len(rows) else None
        rows = rows[start:end]
        if "$select" in options:
            wanted = [name.strip() for name in options["$select"].split(",")]
            rows = [{name: row[name] for name in wanted} for row in rows]
        counted: dict[str, Any]
        if self.version == 2:
            counted = {"__count": str(count)} if options.get("$inlinecount") == "allpages" else {}
            return {"d": {"results": rows, **counted, **({"__next": link} if link else {})}}
        if self.version == 3:
            counted = {"odata.count": str(count)} if options.get("$inlinecount") == "allpages" else {}
            linked = {"odata.nextLink": link} if link else {}
            return {"odata.metadata": f"{self.url}/$metadata#Persons", **counted, "value": rows, **linked}
        counted = {"@odata.count": count} if options.get("$count") == "true" else {}
        linked = {"@odata.nextLink": link} if link else {}
        return {"@odata.context": f"{self.url}/$metadata#Persons", **counted, "value": rows, **linked}

    def _entity(self, row: dict[str, Any]) -> Any:
        if self.version == 2:
            return {"d": row}
        if self.version == 3:
            return {"odata.metadata": f"{self.url}/$metadata#Persons/@Element", **row}
        return {"@odata.context": f"{self.url}/$metadata#Persons/$entity", **row}

    def _error(self, code: str, message: str) -> Any:
        told = message if self.version == 4 else {"lang": "en", "value": message}
        return {"odata.error" if self.version == 3 else "error": {"code": code, "message": told}}

    @staticmethod
    def _quoted(text: str) -> str:
        return "'" + text.replace("'", "''") + "'"


@contextmanager
def serving(version: int) -> Iterator[ODataService]:
    class Handler(Quiet):
        def respond(self, content: bytes) -> None:
            assert not content
            served.asked.append(self.path)
            served.headers.append({name.lower(): value for name, value in self.headers.items()})
            status, body = served.answer(self.path)
            headers = {"Content-Type": "application/json;odata.metadata=minimal"}
            self.answer(json.dumps(body).encode(), status, headers)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served = ODataService(server, version)
    with listening(server):
        yield served


@pytest.fixture(params=[2, 3, 4])
def odata(request: pytest.FixtureRequest) -> Iterator[ODataService]:
    with serving(request.param) as odata:
        yield odata


def call_of(operation: str, arguments: JSON = None, **facts: Any) -> Call:
    return Call(Function(name="ask", type="odata", operation=operation), arguments, **facts)


async def test_all_entities(odata: ODataService, functions: Functions) -> None:
    assert await functions.call(call_of(f"{odata.url}#Persons")) == PERSONS


async def test_query_options(odata: ODataService, functions: Functions) -> None:
    options: JSON = {"filter": "City eq 'Cork'", "select": ["Id", "Name"], "orderBy": "Name desc", "top": 1}
    assert await functions.call(call_of(f"{odata.url}#Persons", {"queryOptions": options})) == [
        {"Id": 2, "Name": "O'Hara"}
    ]
    assert "$orderby=Name%20desc" in odata.asked[-1]


@pytest.mark.parametrize(("key", "name"), [(3, "Grace"), ("3", "Grace"), ("O'Hara", "O'Hara"), ("'Ada'", "Ada")])
async def test_an_entity_by_its_key(odata: ODataService, functions: Functions, key: JSON, name: str) -> None:
    found = await functions.call(call_of(f"{odata.url}#Persons", {"key": key}))
    assert found == next(row for row in PERSONS if row["Name"] == name)


async def test_a_count(odata: ODataService, functions: Functions) -> None:
    counting: dict[str, JSON] = {"count": True} if odata.version == 4 else {"inlinecount": "allpages"}
    options = {**counting, "top": 1}
    counted = await functions.call(call_of(f"{odata.url}#Persons", {"queryOptions": options}))
    assert counted == {"count": 4, "value": PERSONS[:1]}


async def test_pages_are_read_to_the_end(odata: ODataService, functions: Functions) -> None:
    odata.page_size = 1
    assert await functions.call(call_of(f"{odata.url}#Persons")) == PERSONS
    assert len(odata.asked) == len(PERSONS)


async def test_pages_have_a_limit(calling: Calling, odata: ODataService) -> None:
    odata.page_size = 1
    functions = calling(settings=Settings(calls=Options(max_response_bytes=250)))
    await fault_of(functions.call(call_of(f"{odata.url}#Persons")), "AnswerTooLarge", retryable=False)


async def test_pages_elsewhere(service: Service, functions: Functions) -> None:
    """A page on another server is not fetched, as it would be sent the credentials; nor are pages in a cycle."""
    service.answers_with("GET", "/S/A", {"value": [], "@odata.nextLink": "http://elsewhere.example/"})
    await fault_of(
        functions.call(call_of("/S#A")),
        "BadUrl",
        "is on another server, http://elsewhere.example/, which must not get the credentials",
        retryable=False,
    )
    service.answers_with("GET", "/S/A", {"value": [], "@odata.nextLink": "//["})
    assert (await fault_of(functions.call(call_of("/S#A")))).code == "BadUrl"
    service.answers_with("GET", "/S/A", {"value": [], "@odata.nextLink": "A"})
    assert (await fault_of(functions.call(call_of("/S#A")))).code == "MalformedAnswer"


async def test_errors_of_the_service(odata: ODataService, functions: Functions) -> None:
    fault = await fault_of(functions.call(call_of(f"{odata.url}#Cats")))
    assert (fault.code, fault.status) == ("NoSet", 404)
    assert fault.message.endswith("answered 404: there is no such entity set")
    fault = await fault_of(functions.call(call_of(f"{odata.url}#Persons", {"key": 9})))
    assert (fault.code, fault.status) == ("404", 404)


async def test_other_errors_stay_as_they_are(service: Service, functions: Functions) -> None:
    service.answers_with("GET", "/S/A", {"error": "overloaded"}, status=503)
    fault = await fault_of(functions.call(call_of("/S#A")))
    assert (fault.code, fault.status, fault.body) == ("503", 503, {"error": "overloaded"})


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
    await fault_of(functions.call(call_of(operation, arguments)), code, told, retryable=False)


async def test_a_service_without_a_host_and_credentials(calling: Calling, odata: ODataService) -> None:
    """A service that is a path is found where the settings say, and is shown the function's credentials."""
    call = showing(call_of("Service.svc#Persons", {"key": 1}), "bearer", {"token": "t0ken"})
    assert await calling(at=odata.url.removesuffix("/Service.svc")).call(call) == PERSONS[0]
    assert odata.headers[-1]["authorization"] == "Bearer t0ken"


async def test_a_key_in_the_query_of_every_page(odata: ODataService, functions: Functions) -> None:
    odata.page_size = 2
    key = {"in": "query", "name": "api-key", "key": "k-9"}
    assert await functions.call(showing(call_of(f"{odata.url}#Persons"), "apiKey", key)) == PERSONS
    assert [parse_qs(urlsplit(path).query)["api-key"] for path in odata.asked] == [["k-9"], ["k-9"]]


@pytest.mark.parametrize(("key", "text"), [
    (7, "7"),
    ("7", "7"),
    ("007", "'007'"),
    (True, "true"),
    ("'7'", "'7'"),
    ("it's", "'it''s'"),
    ("1) or (1", "'1) or (1'"),
    ("01234567-89ab-cdef-0123-456789abcdef", "01234567-89ab-cdef-0123-456789abcdef"),
    ("guid'01234567-89ab-cdef-0123-456789abcdef'", "guid'01234567-89ab-cdef-0123-456789abcdef'"),
    ({"Order": 1, "Item": "x"}, "Order=1,Item='x'"),
    ("Order=1,Item='x'", "Order=1,Item='x'"),
])  # fmt: skip
def test_forms_of_keys(key: JSON, text: str) -> None:
    assert key_text(key) == text


def test_the_url_of_the_specification_s_example() -> None:
    options: dict[str, JSON] = {"expand": "PersonDetail/Person", "top": 5, "orderby": "Id", "skip": None}
    url = entity_url("https://example.com/OData.svc/?sap-client=1", "Persons", "a/b", options)
    assert url == (
        "https://example.com/OData.svc/Persons('a%2Fb')?sap-client=1&$expand=PersonDetail%2FPerson&$top=5&$orderby=Id"
    )
