"""A type of functions is one package and one line in a table."""

import pytest

from swf_temporal import UsageError
from swf_temporal.base.calls import Function
from swf_temporal.base.function_types import TYPES, operation_type
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.functions.port import Performer, Services
from swf_temporal.functions.registry import Registry
from swf_temporal.languages.loading import check
from swf_temporal.sdk.addresses import addresses_of
from tests.functions.soap.type import Soap

DEFINITION = """
id: quotes
version: 1.0.0
specVersion: "0.8"
functions:
- {{name: getQuote, type: {kind}, operation: {operation}}}
states:
- {{name: Ask, type: operation, actions: [{{functionRef: getQuote}}], end: true}}
"""
FINE = "https://example.com/quotes#GetQuote"
GET_QUOTE = Function(name="getQuote", type="soap", operation=FINE)


@pytest.fixture(autouse=True)
def _added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TYPES, "soap", "tests.functions.soap.type")


def told(operation: str, kind: str = "soap") -> list[str]:
    return [one.message for one in check(DEFINITION.format(kind=kind, operation=operation)).problems]


def test_its_operations_are_validated() -> None:
    assert told(FINE) == []
    [problem] = told("https://example.com/quotes")
    assert problem.endswith("names no method: one of the type soap is written https://example.com/service#Method")
    assert told(FINE, "soup") == ["function 'getQuote': 'soup' is treated as a custom type"]


async def test_it_is_looked_at_called_and_closed() -> None:
    """One object, made from what all types share, does all of it."""
    made: list[Soap] = []

    def performer(services: Services) -> Performer:
        made.append(Soap(services))
        return made[-1]

    functions = Functions(replaced={"soap": performer})
    described = await functions.look(GET_QUOTE, None)
    result = await functions.call(Call(GET_QUOTE, {"symbol": "SWF"}))
    await functions.aclose()

    assert described is not None
    assert described.address == {"soapAction": "GetQuote"}
    assert result == {"service": "https://example.com/quotes", "method": "GetQuote", "body": {"symbol": "SWF"}}
    assert [one.is_closed for one in made] == [True]


async def test_the_line_in_the_table_is_enough() -> None:
    functions = Functions()
    assert await functions.call(Call(GET_QUOTE, 1)) == {
        "service": "https://example.com/quotes",
        "method": "GetQuote",
        "body": 1,
    }
    await functions.aclose()


def test_descriptions_show_where_it_leads() -> None:
    assert addresses_of(None, [GET_QUOTE]) == {"getQuote": {"soapAction": "GetQuote"}}


def test_it_says_whether_secrets_may_be_needed() -> None:
    kind = operation_type("soap")
    assert kind is not None
    assert kind.may_need_credentials


def test_its_word_is_taken() -> None:
    with pytest.raises(UsageError, match="'soap' is reserved"):
        Registry().type("soap")(Soap)
