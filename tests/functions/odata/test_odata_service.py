"""Queries of an OData service that is not ours, and that understands all of version 4."""

from collections.abc import Iterator
from typing import Any

import pytest

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.functions.calling import Call, Functions
from tests.failing import fault_of
from tests.functions.conftest import Calling
from tests.functions.odata.odata_service import PERSONS, serving


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving() as url:
        yield url


@pytest.fixture
def functions(calling: Calling) -> Functions:
    return calling()


def query(url: str, entity_set: str, arguments: JSON = None) -> Call:
    return Call(Function(name="ask", type="odata", operation=f"{url}#{entity_set}"), arguments)


@pytest.mark.parametrize(("options", "expected"), [
    ({}, PERSONS),
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


@pytest.mark.parametrize(("entity_set", "key", "expected"), [
    ("Persons", 3, PERSONS[2]),
    ("Persons", "3", PERSONS[2]),
    ("Cities", "L/1", {"Code": "L/1", "Name": "London"}),
    ("Items", {"Order": 1, "Code": "a b"}, {"Order": 1, "Code": "a b"}),
    ("Items", "Order=1,Code='c'", {"Order": 1, "Code": "c"}),
])  # fmt: skip
async def test_entities_by_their_keys(
    url: str, functions: Functions, entity_set: str, key: JSON, expected: JSON
) -> None:
    assert await functions.call(query(url, entity_set, {"key": key})) == expected


async def test_one_entity_with_options(url: str, functions: Functions) -> None:
    """What is wanted of an entity may be said beside its key; this service adds the key itself."""
    arguments: JSON = {"key": 2, "queryOptions": {"select": "Name", "expand": "City"}}
    found = await functions.call(query(url, "Persons", arguments))
    assert found == {"Id": 2, "Name": "O'Hara", "City": {"Code": "C", "Name": "Cork"}}


async def test_what_is_no_entity_set(url: str, functions: Functions) -> None:
    assert await functions.call(query(url, "Persons(1)/City")) == {"Code": "L/1", "Name": "London"}
    assert await functions.call(query(url, "Persons(1)/Name")) == "Ada"


@pytest.mark.parametrize("options", [{}, {"count": True, "orderby": "Id"}])
async def test_pages(functions: Functions, options: JSON) -> None:
    with serving(page_size=3) as url:
        found: Any = await functions.call(query(url, "Persons", {"queryOptions": options}))
    assert found == ({"count": 4, "value": PERSONS} if options else PERSONS)


@pytest.mark.parametrize(("entity_set", "arguments", "status", "told"), [
    ("Cats", None, 404, "Cats"),
    ("Persons", {"key": 9}, 404, ""),
    ("Persons", {"queryOptions": {"filter": "Wings gt 1"}}, 400, "Wings"),
])  # fmt: skip
async def test_errors(url: str, functions: Functions, entity_set: str, arguments: JSON, status: int, told: str) -> None:
    fault = await fault_of(functions.call(query(url, entity_set, arguments)))
    assert fault.status == status
    assert told in fault.message
