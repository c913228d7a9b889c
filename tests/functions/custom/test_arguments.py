"""What becomes of a call's arguments on their way to a Python function."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any
from uuid import UUID

import pytest
from pydantic import BaseModel, Field

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.functions.calling import Call, Functions
from tests.failing import fault_of


class Size(Enum):
    SMALL = "s"
    LARGE = "l"


class Line(BaseModel):
    item: str
    price: Decimal = Field(gt=0)


@dataclass
class Order:
    placed: datetime
    lines: list[Line]


def _call(arguments: JSON) -> Call:
    return Call(Function(name="f", type="custom"), arguments)


def total(order: Order) -> str:
    assert isinstance(order.lines[0], Line)
    return f"{sum(line.price for line in order.lines)} on {order.placed.date()}"


def choose(size: Size, day: date, ids: set[UUID], *, count: Annotated[int, Field(le=3)] = 1, **notes: int) -> list[Any]:
    assert isinstance(size, Size)
    return [size, day.year, len(ids), count, notes]


async def at(when: datetime | None = None) -> str:
    return "never" if when is None else when.astimezone(UTC).isoformat()


def unknowable(thing: Awaitable[None]) -> Any:
    return thing


ORDER = {"placed": "2026-03-01T10:00:00Z", "lines": [{"item": "pen", "price": "1.50"}, {"item": "ink", "price": 2}]}
UUIDS = ["6f1e3d52-0000-4000-8000-000000000000", "6f1e3d52-0000-4000-8000-000000000000"]


@pytest.mark.parametrize(("function", "arguments", "expected"), [
    (total, ORDER, "3.50 on 2026-03-01"),
    (total, {"order": ORDER}, "3.50 on 2026-03-01"),
    (choose, {"size": "l", "day": "2026-03-01", "ids": UUIDS, "a": "7"}, ["l", 2026, 1, 1, {"a": 7}]),
    (at, "2026-03-01T10:00:00+02:00", "2026-03-01T08:00:00+00:00"),
    (at, {"when": None}, "never"),
    (unknowable, {"thing": {"x": 1}}, {"x": 1}),
])  # fmt: skip
async def test_annotations_say_what_arguments_become(
    function: Callable[..., Any], arguments: JSON, expected: JSON
) -> None:
    assert await Functions({"f": function}).call(_call(arguments)) == expected


@pytest.mark.parametrize(("function", "arguments", "told"), [
    (total, {**ORDER, "lines": [{"item": "pen", "price": "much"}]}, "order.lines[0].price: Input should be a valid"),
    (total, {**ORDER, "lines": [{"item": "pen", "price": -1}]}, "order.lines[0].price: Input should be greater"),
    (total, {"lines": []}, "order.placed: Field required"),
    (choose, {"size": "xl", "day": "2026-03-01", "ids": []}, "size: Input should be 's' or 'l'"),
    (choose, {"size": "l", "day": "2026-03-01", "ids": [], "count": 4}, "count: Input should be less than"),
    (choose, {"size": "l", "day": "2026-03-01", "ids": [], "a": "many"}, "a: Input should be a valid integer"),
    (choose, {"size": "l", "day": "soon", "ids": ["1"]}, "; ids[0]: Input should be a valid UUID"),
    (at, "late-xyzzy", "when: Input should be a valid datetime"),
])  # fmt: skip
async def test_what_does_not_fit_is_told(function: Callable[..., Any], arguments: JSON, told: str) -> None:
    """Only a few mistakes are, and no secret that is one."""
    call = Call(Function(name="f", type="custom"), arguments, secrets={"k": "late-xyzzy"})
    fault = await fault_of(Functions({"f": function}).call(call), "BadArguments", told, retryable=False)
    assert "xyzzy" not in fault.message


async def test_only_a_few_mistakes_are_told() -> None:
    lines: JSON = [{"item": "pen", "price": -1}] * 1000
    fault = await fault_of(Functions({"f": total}).call(_call({"placed": "2026-03-01T10:00:00Z", "lines": lines})))
    assert (fault.message.count("greater than 0"), fault.message.endswith("; and 995 more")) == (5, True)
