"""What a workflow and a person are told when Python fails: functions, scripts, and activities of other workers.

Each is run on a real Temporal server: once with onErrors that names the code, and once without.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from math import inf, nan
from typing import Any

import pytest
from temporalio import activity
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from swf_temporal.base.errors import CallFailed
from swf_temporal.settings.calls import Options, Settings
from tests.faults.conftest import Attempt, Stage


@dataclass
class Order:
    item: str
    count: int


def out_of_stock(order: Order) -> None:
    raise LookupError(f"no {order.item} left")


def declined() -> None:
    raise CallFailed("the card was declined", code="Declined", status=402, body={"reason": "limit"})


def not_json() -> object:
    return object()


_MADE: list[str] = []
"""The reasons that calls of `unrecordable` were made for."""
_ODD: dict[str, dict[str, Any]] = {
    "a time": {"body": {"at": datetime(2026, 1, 31, tzinfo=UTC)}},
    "no number": {"body": [nan]},
    "an object": {"body": object()},
    "for ever": {"retry_after": inf},
    "a duration": {"retry_after": timedelta(seconds=1)},
    "half a character": {"status": "\ud800"},
}


def unrecordable(reason: str) -> None:
    _MADE.append(reason)
    raise CallFailed("the card was declined", code="Declined", **_ODD[reason])


def function(name: str, arguments: Any = None) -> Attempt:
    return Attempt({"type": "custom", "operation": f"{__name__}:{name}"}, arguments, Settings(modules=(__name__,)))


async def test_an_exception(stage: Stage) -> None:
    order = {"order": {"item": "mouse", "count": 1}}
    told = await stage.fails(function("out_of_stock", order), "LookupError", "no mouse left")
    assert told.caught["name"] == "LookupError"


async def test_an_error_with_all_facts(stage: Stage) -> None:
    declined = function("declined")
    await stage.fails(declined, "Declined", "the card was declined", status=402, body={"reason": "limit"})


@pytest.mark.parametrize(("reason", "body"), [
    ("a time", {"at": "2026-01-31T00:00:00Z"}),
    ("no number", "not JSON: NaN is not a JSON number (at .[0])"),
    ("an object", "not JSON: Unable to serialize unknown type: <class 'object'>"),
    ("for ever", None),
    ("a duration", None),
    ("half a character", None),
])  # fmt: skip
async def test_an_error_that_is_not_json(stage: Stage, reason: str, body: Any) -> None:
    """It is the call's outcome all the same, and the call is not made again."""
    _MADE.clear()
    attempt = replace(function("unrecordable", {"reason": reason}), timeout="PT5S")
    await stage.fails(attempt, "Declined", "the card was declined", body=body)
    assert len(_MADE) == 4  # local and not, caught and not


@pytest.mark.parametrize(("name", "arguments", "code", "text"), [
    ("out_of_stock", {"order": {"item": "mouse", "count": "many"}}, "BadArguments", "count"),
    ("out_of_stock", {"item": "mouse"}, "BadArguments", "order"),
    ("not_json", None, "NotJSON", "object"),
    ("nowhere", None, "UnknownFunction", "nowhere"),
])  # fmt: skip
async def test_what_does_not_fit(stage: Stage, name: str, arguments: Any, code: str, text: str) -> None:
    await stage.fails(function(name, arguments), code, text)


def script(code: str, *, scripts: bool = True, **options: Any) -> Attempt:
    operation = {"type": "custom", "operation": f"script:python:{code}"}
    return Attempt(operation, {}, Settings(scripts=scripts, calls=Options(**options)))


@pytest.mark.parametrize(("attempt", "code", "text"), [
    (script("1 / 0"), "ZeroDivisionError", "division by zero"),
    (script("def ("), "SyntaxError", "line 1"),
    (script("while True: pass", timeout=timedelta(milliseconds=500)), "Timeout", "did not end within"),
    (script("'x' * 5000", max_response_bytes=1000), "AnswerTooLarge", "1000"),
    (script("1", scripts=False), "ScriptsOff", "SWF_SCRIPTS"),
])  # fmt: skip
async def test_scripts(stage: Stage, attempt: Attempt, code: str, text: str) -> None:
    await stage.fails(attempt, code, text)


@activity.defn(name="charge")
async def charge(order: dict[str, Any]) -> None:
    raise ApplicationError("the card was declined", {"reason": "limit", "order": order}, type="CardDeclined")


@asynccontextmanager
async def payments(stage: Stage, queue: str) -> AsyncIterator[None]:
    async with Worker(stage.client, task_queue=queue, activities=[charge]):
        yield


def engine(operation: str, arguments: Any = None, **facts: Any) -> Attempt:
    function = {"type": "custom", "operation": f"temporal:{operation}", **facts.pop("function", {})}
    return Attempt(function, arguments or {}, **facts)


async def test_activities_of_others(stage: Stage) -> None:
    """The type of the error is the code; its details are the body."""
    body = {"reason": "limit", "order": {"id": 7}}
    async with payments(stage, "payments-of-faults"):
        attempt = engine("charge@payments-of-faults", {"id": 7})
        await stage.fails(attempt, "CardDeclined", "the card was declined", body=body)


async def test_an_activity_that_nobody_has(stage: Stage) -> None:
    async with payments(stage, "refunds-of-faults"):
        await stage.fails(engine("refund@refunds-of-faults", timeout="PT5S"), "NotFoundError", "refund")


async def test_a_queue_that_nobody_serves(stage: Stage) -> None:
    waiting = {"metadata": {"scheduleToStartTimeout": "PT0.5S"}}
    await stage.fails(engine("charge@nobody-of-faults", function=waiting), "NoWorker", "nobody-of-faults")
