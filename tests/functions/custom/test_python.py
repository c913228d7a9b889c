"""How functions written in Python are called, and what their ends mean."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

import pytest

from swf_temporal import simulate
from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.sdk.function_modules import functions_of
from swf_temporal.settings.calls import Settings
from tests.failing import fault_of
from tests.functions.conftest import Calling


def custom(operation: str | None, arguments: JSON = None, *, name: str = "f", kind: str = "custom") -> Call:
    return Call(Function(name=name, type=kind, operation=operation), arguments)


def add(a: int, b: int = 10) -> int:
    return a + b


def whole(order: dict[str, Any] | list[str]) -> list[str]:
    return sorted(order)


async def later(text: str = "none") -> str:
    await asyncio.sleep(0)
    return text


@dataclass
class Receipt:
    at: datetime
    items: tuple[str, ...]


@pytest.mark.parametrize(("function", "arguments", "expected"), [
    (add, {"a": 1, "b": 2}, 3), (add, {"a": 1}, 11), (add, 5, 15),
    (whole, {"y": 1, "x": 2}, ["x", "y"]), (whole, {"order": {"z": 1}}, ["z"]), (whole, ["b", "a"], ["a", "b"]),
    (later, {"text": "hi"}, "hi"), (later, None, "none"), (lambda: later("inner"), None, "inner"),
    (dict, {"a": 1}, {"a": 1}), (len, [1, 2], 2), (lambda **named: named, {"x": 1}, {"x": 1}),
    (lambda: Receipt(datetime(2026, 1, 2, tzinfo=UTC), ("a",)), None, {"at": "2026-01-02T00:00:00Z", "items": ["a"]}),
])  # fmt: skip
async def test_data_become_pythons_and_json_again(
    function: Callable[..., Any], arguments: JSON, expected: JSON
) -> None:
    """A function is found by its own name, too."""
    functions = Functions({"f": function})
    assert await functions.call(custom("f", arguments, name="other")) == expected
    assert await functions.call(custom(None, arguments)) == expected


@pytest.mark.parametrize("result", [object(), float("nan"), b"\xff"])
async def test_what_json_cannot_write_is_refused(result: object) -> None:
    doing = Functions({"f": lambda: result}).call(custom("f"))
    await fault_of(doing, "NotJSON", type(result).__name__, retryable=False)


async def test_a_blocking_function_blocks_nobody() -> None:
    """A function that is not async has a thread to itself, and what it raises there is not lost."""
    names: list[str] = []

    def block() -> None:
        names.append(threading.current_thread().name)
        raise StopIteration

    await fault_of(Functions({"f": block}).call(custom("f")), "RuntimeError")
    assert names != [threading.current_thread().name]


async def test_a_generator_runs_where_its_function_would() -> None:
    """What it yields is an array. It may block, and what it raises has its own name, whatever the class."""
    names: list[str] = []

    def failing(name: str) -> Iterator[int]:
        yield 1
        raise {"LookupError": LookupError, "ValueError": ValueError}[name]

    def numbers(last: int) -> Iterator[int]:
        names.append(threading.current_thread().name)
        yield from range(last)

    async def later(last: int) -> AsyncIterator[int]:
        for number in range(last):
            await asyncio.sleep(0)
            yield number

    functions = Functions({"numbers": numbers, "later": later, "failing": failing})
    faults = [await fault_of(functions.call(custom("failing", name))) for name in ("LookupError", "ValueError")]

    assert [await functions.call(custom(name, 2)) for name in ("numbers", "later")] == [[0, 1], [0, 1]]
    assert [(fault.name, fault.retryable) for fault in faults] == [("LookupError", True), ("ValueError", True)]
    assert threading.current_thread().name not in names


@pytest.mark.parametrize("error", [LookupError("no such order"), SystemExit(3), KeyboardInterrupt("no")])
async def test_an_exception_is_a_fault_of_its_name(error: BaseException) -> None:
    def fail() -> NoReturn:
        raise error

    async def fail_later() -> NoReturn:
        raise error

    for function in (fail, fail_later):
        fault = await fault_of(Functions({"f": function}).call(custom("f")))
        assert (fault.name, fault.code) == (type(error).__name__, type(error).__name__)
        assert (fault.message, fault.function, fault.retryable) == (str(error), "f", True)


async def test_a_fault_of_ones_own_passes_through() -> None:
    async def fail() -> NoReturn:
        raise CallFailed("sold out", code=409, status=409, body={"left": 0}, retryable=False)

    fault = await fault_of(Functions({"f": fail}).call(custom("f")), "409", retryable=False)
    assert (fault.status, fault.body) == (409, {"left": 0})


@pytest.mark.parametrize("arguments", [{"b": 1}, {"a": 1, "c": 1}, None])
async def test_wrong_arguments_are_told_before_the_call(arguments: JSON) -> None:
    fault = await fault_of(Functions({"f": add}).call(custom("f", arguments)), "BadArguments", retryable=False)
    assert "a: int, b: int = 10" in fault.message.replace("'", "")


@pytest.mark.parametrize("operation", ["math:sqrt", "python:math:sqrt", "service:python:math::sqrt"])
async def test_functions_of_listed_modules_can_be_named(operation: str) -> None:
    assert await Functions(settings=Settings(modules=("math",))).call(custom(operation, 9)) == 3.0


@pytest.mark.parametrize("operation", [
    "os:system", "python:subprocess:getoutput", "service:python:builtins::exec", "tests:run", "os.path:exists",
])  # fmt: skip
async def test_nothing_is_reached_that_nobody_has_named(operation: str) -> None:
    """A definition may come with the input: it cannot call whatever happens to be installed."""
    module = operation.replace("::", ":").rpartition(":")[0].rpartition(":")[2]
    told = f"the worker was not given the module '{module}'"
    call = Functions({"greet": later}).call(custom(operation, "echo hacked"))
    fault = await fault_of(call, "UnknownFunction", told, retryable=False)
    assert f"--functions {module}, or list the module in SWF_FUNCTION_MODULES" in fault.message


CALLED = """
import os
import functools
from os import system
from subprocess import getoutput as ask

from swf_temporal.functions.registry import Registry

def shout(text):
    return text.upper()

def _own(text):
    return text
"""
REGISTERED = """
registry = Registry()
registry.custom("yell")(shout)
"""


@pytest.mark.parametrize(("code", "reached", "refused"), [
    (CALLED, ["shout"], ["system", "ask", "_own", "os", "Registry", "__builtins__", "os.system"]),
    (CALLED + REGISTERED, ["shout", "yell"], ["system", "ask", "_own", "registry"]),
])  # fmt: skip
async def test_a_module_that_is_given_offers_what_is_its_own(
    code: str, reached: list[str], refused: list[str], tmp_path: Path
) -> None:
    """`--functions` names a module's own functions, or its registered ones; not those that it imports for itself."""
    file = tmp_path / "loud.py"
    file.write_text(code)
    functions = Functions(functions_of([str(file)]))
    for name in reached:
        assert await functions.call(custom(f"loud:{name}", "hi", name="other")) == "HI"
    for name in refused:
        fault = await fault_of(functions.call(custom(f"loud:{name}", "echo hacked", name="other")))
        assert (fault.code, f"the module 'loud' has no function '{name}'" in fault.message) == (
            "UnknownFunction", True,
        )  # fmt: skip


async def test_a_listed_module_offers_what_is_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "listed_shop"
    package.mkdir()
    (package / "__init__.py").write_text("from listed_shop.inner import shout\nfrom os import system\n")
    (package / "inner.py").write_text(CALLED)
    (package / "more.py").write_text("from posixpath import basename\n__all__ = ['basename']\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    functions = Functions(settings=Settings(modules=("listed_shop",)))
    assert await functions.call(custom("listed_shop:shout", "hi")) == "HI"
    assert await functions.call(custom("listed_shop.more:basename", "a/b")) == "b"
    for operation in ("listed_shop:system", "listed_shop.inner:ask", "listed_shop.inner:_own"):
        fault = await fault_of(functions.call(custom(operation, "echo hacked")))
        assert (fault.code, "__all__" in fault.message) == ("UnknownFunction", True)


@pytest.mark.parametrize(("operation", "told"), [
    ("gret", "did you mean 'greet'"),
    ("math:sqrrt", "did you mean 'sqrt'"),
    ("math:pi", "no function 'pi'"),
    ("no_such_module_here:f", "cannot be imported"),
    (None, "no custom function 'f'"),
    ("service:java:com.acme.Shop::charge", "is a service of Kogito's runtimes, which is not supported: call an"),
    ("work-item:Approval", "is a work item of Kogito's runtimes, which is not supported"),
])  # fmt: skip
async def test_a_function_that_is_not_there_is_told(operation: str | None, told: str) -> None:
    functions = Functions({"greet": later}, Settings(modules=("math", "no_such_module_here")))
    await fault_of(functions.call(custom(operation)), "UnknownFunction", told, retryable=False)


@pytest.mark.parametrize(("module", "allowed"), [("math", False), ("json", True), ("json.decoder", True)])
async def test_operators_can_limit_the_modules(*, module: str, allowed: bool) -> None:
    functions = Functions(settings=Settings(modules=("json", "mat")))
    fault = await fault_of(functions.call(custom(f"{module}:nothing")))
    assert ("was not given the module" not in fault.message) is allowed


async def test_cancelling_reaches_the_function() -> None:
    started, cancelled = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    task = asyncio.create_task(Functions({"f": wait}).call(custom("f")))
    await started.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert cancelled.is_set()


def cancels() -> NoReturn:
    raise asyncio.CancelledError("no longer wanted")


async def awaits_what_is_cancelled() -> None:
    other = asyncio.ensure_future(asyncio.Event().wait())
    other.cancel("no longer wanted")
    await other


@pytest.mark.parametrize("function", [cancels, awaits_what_is_cancelled])
async def test_a_function_that_raises_a_cancellation_of_its_own(function: Callable[..., Any]) -> None:
    """It is an exception like any other, on a worker and in a simulation: nobody cancelled the call."""
    fault = await fault_of(Functions({"f": function}).call(custom("f")))
    assert (fault.name, fault.message) == ("CancelledError", "no longer wanted")
    start = {"id": "a", "version": "1", "specVersion": "0.8", "functions": [{"name": "f", "type": "custom"}]}
    states = [{"name": "A", "type": "operation", "actions": [{"functionRef": "f"}], "end": True}]
    run = await asyncio.to_thread(simulate, {**start, "states": states}, functions={"f": lambda _: function()})
    assert run.error is not None
    assert (run.error.name, run.error.message) == ("CancelledError", "no longer wanted")


def price_of(item: str) -> int:
    return {"pen": 2, "book": 15}[item]


async def test_a_fault_knows_the_frames_of_the_function() -> None:
    """Of the user's code, with the text of each line, and nothing of what the function was given."""
    fault = await fault_of(Functions({"f": price_of}).call(custom("f", {"item": "s3cr3t"})))
    assert fault.name == "KeyError"
    assert fault.frames.splitlines()[0].endswith("in price_of")
    assert fault.frames.splitlines()[1:] == ['    return {"pen": 2, "book": 15}[item]'] or "^" in fault.frames
    assert "s3cr3t" not in fault.frames


async def test_functions_wait_in_threads_of_their_own(calling: Calling) -> None:
    """As many as calls are made at once; and the program's own threads are free meanwhile."""
    together = threading.Barrier(61)
    functions = calling({"f": lambda: together.wait(30)}, max_threads=60)
    calls = [asyncio.ensure_future(functions.call(custom("f"))) for _ in range(60)]
    await asyncio.to_thread(together.wait, 30)
    await asyncio.gather(*calls)
