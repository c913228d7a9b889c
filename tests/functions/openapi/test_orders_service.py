"""The service of the orders example, called as its workflow calls it."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.settings.calls import Options, Settings
from tests.failing import fault_of
from tests.functions.conftest import Calling
from tests.processes import ending_with_us

FOLDER = Path(__file__).parents[3] / "examples" / "orders"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    command = [*ending_with_us(), sys.executable, str(FOLDER / "service.py"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()


@pytest.fixture
def orders(calling: Calling, url: str) -> Functions:
    return calling(settings=Settings(services={"openapi.json": Options(base_url=url)}))


def ask(operation: str, arguments: JSON = None, key: str | None = None) -> Call:
    function = Function(name=operation, operation=f"openapi.json#{operation}")
    return Call(function, arguments, base=str(FOLDER), idempotency_key=key)


async def test_an_order_goes_through(orders: Functions) -> None:
    """Each operation works. Charging fails once for an order, and only once; what is repeated is not done twice."""
    charge = ask("chargeCard", {"orderId": "o1", "amount": 20}, "o1")
    reserve = ask("reserveItem", {"item": "mouse", "quantity": 2}, "run/reserve#1")
    refused = await fault_of(orders.call(charge), "502")
    assert refused.body == {"error": "the bank did not answer"}
    for call, expected in [
        (ask("checkStock", {"item": "mouse"}), {"item": "mouse", "inStock": True, "quantity": 40}),
        *[(reserve, {"reservationId": "R-1", "item": "mouse", "quantity": 2})] * 2,
        (charge, {"paymentId": "P-1", "orderId": "o1", "amount": 20}),
        (ask("createShipment", {"orderId": "o1"}), {"shipmentId": "S-1", "orderId": "o1"}),
        (ask("notifyCustomer", {"customer": "ada", "message": "shipped"}), {"customer": "ada", "message": "shipped"}),
        (ask("checkStock", {"item": "mouse"}), {"item": "mouse", "inStock": True, "quantity": 38}),
        (ask("getStatistics"), {
            "checkStock": 2, "reserveItem": 2, "chargeCard": 2, "createShipment": 1, "notifyCustomer": 1,
            "getStatistics": 1,
        }),
    ]:  # fmt: skip
        assert await orders.call(call) == expected


@pytest.mark.parametrize(("operation", "arguments", "code"), [
    ("checkStock", {"item": "unicorn"}, "404"),
    ("reserveItem", {"item": "webcam", "quantity": 1}, "409"),
    ("reserveItem", {"item": "mouse", "quantity": 0}, "400"),
    ("chargeCard", {"orderId": "o1"}, "400"),
    ("createShipment", ["o1"], "400"),
])  # fmt: skip
async def test_what_the_service_refuses(orders: Functions, operation: str, arguments: JSON, code: str) -> None:
    await fault_of(orders.call(ask(operation, arguments)), code)
