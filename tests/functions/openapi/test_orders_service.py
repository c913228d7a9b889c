"""The service of the orders example, called as its workflow calls it."""

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.settings.calls import Options, Settings
from tests.failing import fault_of
from tests.processes import ending_with_us

FOLDER = Path(__file__).parents[3] / "examples" / "orders"


@pytest.fixture
def url() -> Iterator[str]:
    command = [*ending_with_us(), sys.executable, str(FOLDER / "service.py"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()


@pytest.fixture
async def orders(url: str) -> AsyncIterator[Functions]:
    functions = Functions(settings=Settings(services={"openapi.json": Options(base_url=url)}))
    yield functions
    await functions.aclose()


def ask(operation: str, arguments: JSON = None, key: str | None = None) -> Call:
    function = Function(name=operation, operation=f"openapi.json#{operation}")
    return Call(function, arguments, base=str(FOLDER), idempotency_key=key)


async def test_an_order_goes_through(orders: Functions) -> None:
    """Each operation works; charging fails the first time for an order, and only then."""
    stock = await orders.call(ask("checkStock", {"item": "mouse"}))
    reservation = await orders.call(ask("reserveItem", {"item": "mouse", "quantity": 2}))
    refused = await fault_of(orders.call(ask("chargeCard", {"orderId": "o1", "amount": 20}, "o1")))
    payment = await orders.call(ask("chargeCard", {"orderId": "o1", "amount": 20}, "o1"))
    shipment = await orders.call(ask("createShipment", {"orderId": "o1"}))
    told = await orders.call(ask("notifyCustomer", {"customer": "ada", "message": "shipped"}))
    left = await orders.call(ask("checkStock", {"item": "mouse"}))
    counts = await orders.call(ask("getStatistics"))
    assert stock == {"item": "mouse", "inStock": True, "quantity": 40}
    assert reservation == {"reservationId": "R-1", "item": "mouse", "quantity": 2}
    assert (refused.code, refused.body) == ("502", {"error": "the bank did not answer"})
    assert payment == {"paymentId": "P-1", "orderId": "o1", "amount": 20}
    assert shipment == {"shipmentId": "S-1", "orderId": "o1"}
    assert told == {"customer": "ada", "message": "shipped"}
    assert left == {"item": "mouse", "inStock": True, "quantity": 38}
    assert counts == {
        "checkStock": 2, "reserveItem": 1, "chargeCard": 2, "createShipment": 1, "notifyCustomer": 1,
        "getStatistics": 1,
    }  # fmt: skip


async def test_a_repeated_request_does_nothing_twice(orders: Functions) -> None:
    call = ask("reserveItem", {"item": "monitor", "quantity": 1}, "run/reserve#1")
    assert await orders.call(call) == await orders.call(call)
    left = await orders.call(ask("checkStock", {"item": "monitor"}))
    assert left == {"item": "monitor", "inStock": True, "quantity": 2}


@pytest.mark.parametrize(("operation", "arguments", "code"), [
    ("checkStock", {"item": "unicorn"}, "404"),
    ("reserveItem", {"item": "webcam", "quantity": 1}, "409"),
    ("reserveItem", {"item": "mouse", "quantity": 0}, "400"),
    ("chargeCard", {"orderId": "o1"}, "400"),
    ("createShipment", ["o1"], "400"),
])  # fmt: skip
async def test_what_the_service_refuses(orders: Functions, operation: str, arguments: JSON, code: str) -> None:
    assert (await fault_of(orders.call(ask(operation, arguments)))).code == code
