"""The service with workers of its own does what its page says."""

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from types import ModuleType

import httpx
import pytest

from swf_temporal import simulate
from swf_temporal.temporal.server import local_server

pytest.importorskip("structlog")
FOLDER = Path(__file__).parents[2] / "examples" / "shop"


@pytest.fixture(scope="module")
def shop() -> Iterator[ModuleType]:
    """The module of the application, which finds its other one beside it."""
    sys.path.insert(0, str(FOLDER))
    spec = importlib.util.spec_from_file_location("shop_app", FOLDER / "app.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["shop_app"] = module
    spec.loader.exec_module(module)
    yield module
    sys.path.remove(str(FOLDER))
    del sys.modules["shop_app"], sys.modules["workflows"]


def test_the_definition_in_simulation(shop: ModuleType) -> None:
    """It waits for the money, and ships what was ordered."""
    functions = {"price": 3, "ship": "a parcel with a pen for Ada"}
    paid = {"type": "shop.paid", "source": "bank", "data": {"amount": 3}}
    run = simulate(shop.ORDER, {"item": "pen", "to": "Ada"}, functions=functions, events=[paid], strict=True)
    assert run.raise_for_status().output == {
        "item": "pen", "to": "Ada", "price": 3, "paid": {"amount": 3}, "parcel": "a parcel with a pen for Ada",
    }  # fmt: skip


@pytest.mark.temporal
async def test_the_service_on_a_server(shop: ModuleType) -> None:
    """Orders go through all that is written by hand; what is wrong has a status of HTTP."""
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(local_server())
        app = shop.app_on(server.client.service_client.config.target_host)
        await stack.enter_async_context(app.router.lifespan_context(app))
        transport = httpx.ASGITransport(app)
        http = await stack.enter_async_context(
            httpx.AsyncClient(transport=transport, base_url="http://shop", timeout=60)
        )
        placed = await http.post("/orders", json={"item": "pen", "to": "Ada"})
        place = placed.headers["location"]
        assert (placed.status_code, place) == (201, f"/orders/{placed.json()['id']}")
        assert (await http.get(place)).json()["status"] == "running"
        assert (await http.post(f"{place}/payment", json={"amount": 3})).status_code == 202
        ended = (await http.get(place, params={"wait": ""})).json()
        assert ended["output"]["parcel"] == "a parcel with a pen for Ada"
        lost = (await http.post("/orders", json={"item": "boat", "to": "Ada"})).headers["location"]
        failed = await http.get(lost, params={"wait": ""})
        assert (failed.status_code, failed.json()) == (409, {"error": "NoSuchItem", "state": "Price"})
        assert (await http.post("/orders", json={"item": ""})).status_code == 422
        assert (await http.get("/orders/none")).status_code == 404
        assert (await http.post("/orders/none/payment", json={})).status_code == 404
