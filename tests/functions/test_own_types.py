"""Types of functions that users add; one of ours is one package and one line in a table."""

from contextlib import aclosing

import pytest

from swf_temporal import UsageError
from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.base.function_types import TYPES, operation_type
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.functions.port import Performer, Services
from swf_temporal.functions.registry import Registry
from swf_temporal.languages.loading import check
from swf_temporal.languages.port import FunctionUse
from swf_temporal.sdk.documents import addresses_of
from tests.failing import failing, fault_of
from tests.functions.soap.type import Soap


class Echo:
    closed = False

    async def perform(self, call: Call) -> object:
        match call.arguments:
            case "break":
                raise LookupError("no such echo")
            case "refuse":
                raise CallFailed("not here", code=404, status=404)
            case "nonsense":
                return object()
        return [call.function.name, call.function.operation, call.arguments, call.attempt]

    async def aclose(self) -> None:
        self.closed = True


def _say(arguments: JSON, operation: str = "loudly") -> Call:
    return Call(Function(name="say", type="echo", operation=operation), arguments, attempt=2)


def _registry(kind: object = Echo) -> Registry:
    registry = Registry()
    registry.type("echo")(kind)  # type: ignore[type-var]  # it says what must be JSON, and is told if it is not
    return registry


@pytest.mark.parametrize("operation", ["loudly", "rest:GET:http://example.com", "sysout", "script:python"])
async def test_a_type_gets_the_whole_call(operation: str) -> None:
    """Whoever carries out a type sees the function as it was defined, whatever its operation looks like."""
    functions = Functions(_registry())
    assert await functions.call(_say({"x": 1}, operation)) == ["say", operation, {"x": 1}, 2]


@pytest.mark.parametrize(("arguments", "name", "code"), [
    ("break", "LookupError", "LookupError"), ("refuse", "CallFailed", "404"), ("nonsense", "CallFailed", "NotJSON"),
])  # fmt: skip
async def test_what_goes_wrong_is_the_functions_error(arguments: str, name: str, code: str) -> None:
    fault = await fault_of(Functions(_registry()).call(_say(arguments)))
    assert (fault.name, fault.code, fault.function, fault.attempt) == (name, code, "say", 2)


async def test_a_type_that_nobody_knows_is_told() -> None:
    fault = await fault_of(Functions().call(_say({"x": 1})), "UnknownFunction", retryable=False)
    assert fault.message == ("no custom function 'loudly' is known; nor are there functions of the type 'echo'")


async def test_a_type_ends_with_the_worker() -> None:
    """What it holds is let go, if the worker has made it; an object may be shared, and belongs to who made it."""
    made: list[Echo] = []

    class Kept(Echo):
        def __init__(self) -> None:
            made.append(self)

    registry, shared = _registry(Kept), Echo()
    assert made == []
    for _ in range(2):
        await Functions(registry).aclose()
    await Functions(_registry(shared)).aclose()

    assert [one.closed for one in made] == [True, True]
    assert not shared.closed


async def test_a_type_needs_nothing_to_let_go() -> None:
    class Bare:
        async def perform(self, call: Call) -> JSON:
            return call.arguments

    registry = Registry()
    registry.type("echo")(Bare)
    functions = Functions(registry)
    assert await functions.call(_say("hi")) == "hi"
    await functions.aclose()


async def test_what_else_a_type_may_have() -> None:
    class Careful(Echo):
        async def look(self, call: Call) -> dict[str, JSON]:
            return {"channel": call.function.operation}

        def check(self, call: Call) -> None:
            if call.function.operation != "loudly":
                raise ValueError("it can only be said loudly")

    functions = Functions(_registry(Careful()))
    whispered = Function(name="say", type="echo", operation="softly")

    found = await functions.prepare(whispered, None)
    functions.check(Function(name="say", type="echo", operation="loudly"))
    with failing("ValueError", "only be said loudly"):
        functions.check(whispered)
    await functions.aclose()

    assert found is not None
    assert found.address == {"channel": "softly"}


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


def test_its_operations_are_validated_and_described() -> None:
    """It says whether secrets may be needed, and its word is taken."""
    assert told(FINE) == []
    [problem] = told("https://example.com/quotes")
    assert problem.endswith("names no method: one of the type soap is written https://example.com/service#Method")
    assert told(FINE, "soup") == ["function 'getQuote': 'soup' is treated as a custom type"]
    assert addresses_of(None, [FunctionUse(GET_QUOTE)]) == {"getQuote": {"soapAction": "GetQuote"}}
    kind = operation_type("soap")
    assert kind is not None
    assert kind.may_need_credentials
    with pytest.raises(UsageError, match="'soap' is reserved"):
        Registry().type("soap")(Soap)


async def test_it_is_looked_at_called_and_closed() -> None:
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
    async with aclosing(Functions()) as usual:  # the line in the table is enough
        assert await usual.call(Call(GET_QUOTE, {"symbol": "SWF"})) == result
