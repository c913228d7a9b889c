"""Who performs which type of function."""

import pytest

from swf_temporal.base.calls import Function
from swf_temporal.base.errors import CallFailed
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.settings.calls import Options, Settings
from tests.failing import fault_of
from tests.functions.conftest import Calling, Service


@pytest.mark.parametrize(("kind", "section"), [("expression", "Using Functions for Expression Evaluation")])
async def test_types_that_are_not_performed_are_told(kind: str, section: str) -> None:
    doing = Functions().call(Call(Function(name="f", type=kind, operation="rest:GET:/a")))
    fault = await fault_of(doing, "Unsupported", f"'{kind}'", retryable=False)
    assert section in fault.message


async def test_closing_what_was_never_opened() -> None:
    functions = Functions()
    await functions.aclose()
    await functions.aclose()


@pytest.mark.parametrize(("cause", "told"), [("itself", "first"), (None, "?")])
async def test_messages_can_be_read(cause: str | None, told: str) -> None:
    """JSON can hold half a character, and a message with one could not be written down. Causes may go in a circle."""

    def fail() -> None:
        first, second = ValueError("first" if cause else "\ud800"), KeyError("second")
        if cause:
            first.__cause__, second.__cause__ = second, first
        raise first

    fault = await fault_of(Functions({"f": fail}).call(Call(Function(name="f", type="custom", operation="f"))))
    assert (fault.code, fault.message) == ("ValueError", told)


async def test_credentials_of_the_configuration_are_hidden_if_they_are_strong() -> None:
    """They are in no error and no result; a word that is one may be data as well."""
    strong = "h7Rw-93Kd/pQ2x"
    settings = Settings(calls=Options(headers={"Authorization": f"Bearer {strong}", "X-Auth-Mode": "basic"}))

    def fail() -> None:
        raise ValueError(f"{strong} in mode basic")

    functions = Functions({"f": fail, "g": lambda: {"mode": "basic", "said": f"with {strong}"}}, settings)

    fault = await fault_of(functions.call(Call(Function(name="f", type="custom", operation="f"))))
    assert fault.message == "*** in mode basic"
    result = await functions.call(Call(Function(name="g", type="custom", operation="g")))
    assert result == {"mode": "basic", "said": "with ***"}


@pytest.mark.parametrize(
    ("kind", "written"),
    [("custom", "service:java:org.acme.Greeter::greet"), ("custom", "knative:greeter"), ("rest", "no.yaml#greet")],
)
async def test_the_configuration_has_the_operation(calling: Calling, service: Service, kind: str, written: str) -> None:
    function = Function(name="say-hello", type=kind, operation=written, metadata={"failOnStatusCode": False})
    service.answers_with("POST", "/greet", {"said": "Hello!"}, status=404)
    await fault_of(Functions().call(Call(function)))
    asking = calling(settings=served_by(f"rest:POST:{service.url}/greet"))
    result = await asking.call(Call(function, {"name": "Ada"}))
    told = await asking.look(function, None)
    asking.check(function)
    assert service.last.body == {"name": "Ada"}
    assert isinstance(result, dict)
    assert (result["status"], result["body"]) == (404, {"said": "Hello!"})
    assert told is not None
    assert told.address == {"method": "POST", "url": f"{service.url}/greet"}
    own = Functions({"greet": lambda name: f"Hello, {name}!"}, served_by("greet"))
    assert await own.call(Call(function, {"name": "Ada"})) == "Hello, Ada!"
    assert await own.prepare(function, "/no/folder") is None


async def test_an_operation_of_the_configuration_may_be_unknown() -> None:
    """It is told before the function is called, and by the name that the operator wrote."""
    with pytest.raises(CallFailed, match="no custom function 'gret' is known; did you mean 'greet'"):
        Functions({"greet": str}, served_by("gret")).check(Function(name="say-hello", type="custom"))


def served_by(operation: str) -> Settings:
    return Settings(functions={"say-hello": Options(operation=operation)})
