"""A shop: a web service with a definition, a workflow and an activity written by hand, and a pool, in one process.

    python examples/shop/app.py            on its own development server
    TEMPORAL_ADDRESS=… python examples/shop/app.py

`POST /orders` starts an instance of the definition, `POST /orders/ID/payment` sends it an event, `GET /orders/ID` says
where it is.
"""

import asyncio
import logging
import os
import sqlite3
from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path

import structlog
import uvicorn
from opentelemetry import trace
from pydantic import BaseModel, Field, ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from temporalio.client import Client as TemporalClient
from temporalio.contrib.opentelemetry import TracingInterceptor
from temporalio.worker import Worker
from workflows import Shipment, pack

from swf_temporal import (
    Client,
    InstanceNotFoundError,
    NeverTakenError,
    Plugin,
    Registry,
    RunEnded,
    current_call,
    current_resource,
    load,
    local_server,
)

QUEUE = "shop"
ORDER = load(Path(__file__).with_name("shop.sw.yaml"))
PRICES = {"pen": 3, "lamp": 40}

log = structlog.get_logger("shop")
registry = Registry()


# What the definition calls


@registry.resource
@contextmanager
def prices() -> Generator[sqlite3.Connection]:
    """Open the database of prices with the worker, and close it with it."""
    with sqlite3.connect(":memory:", check_same_thread=False) as connection:
        connection.execute("CREATE TABLE prices (item TEXT PRIMARY KEY, price INTEGER)")
        connection.executemany("INSERT INTO prices VALUES (?, ?)", PRICES.items())
        yield connection


class NoSuchItem(Exception):  # noqa: N818 - an error that the definition may name
    """The ordered item is not sold here."""


@registry.custom("price")
def price(item: str) -> int:
    """Return what an item costs."""
    row = current_resource(prices).execute("SELECT price FROM prices WHERE item = ?", (item,)).fetchone()
    if row is None:
        raise NoSuchItem(item)
    log.info("priced", item=item, instance=current_call().instance)
    return int(row[0])


# The web service


class Order(BaseModel):
    """An order."""

    item: str = Field(min_length=1)
    to: str = Field(min_length=1)


async def place(request: Request) -> JSONResponse:
    """Start an instance."""
    try:
        order = Order.model_validate_json(await request.body())
    except ValidationError as error:
        return JSONResponse({"errors": error.errors(include_url=False, include_context=False)}, 422)
    instance = await _client(request).start(ORDER, order, task_queue=QUEUE)
    return JSONResponse({"id": instance.id}, 201, {"location": f"/orders/{instance.id}"})


async def pay(request: Request) -> JSONResponse:
    """Send the event that an instance waits for."""
    instance = _client(request).instance(request.path_params["id"])
    event = {"type": "shop.paid", "source": "bank", "data": await request.json()}
    try:
        return JSONResponse({"event": await instance.send_event(event)}, 202)
    except InstanceNotFoundError as error:
        return JSONResponse({"error": str(error)}, 404)
    except NeverTakenError as error:
        return JSONResponse({"error": str(error)}, 422)


async def look(request: Request) -> JSONResponse:
    """Say where an instance is; with `?wait`, how it ended."""
    instance = _client(request).instance(request.path_params["id"])
    try:
        if "wait" in request.query_params:
            return JSONResponse({"output": await instance.result()})
        return JSONResponse(await instance.status())
    except InstanceNotFoundError as error:
        return JSONResponse({"error": str(error)}, 404)
    except RunEnded as ended:
        return JSONResponse({"error": ended.name, "state": ended.state}, 409)


def _client(request: Request) -> Client:
    client: Client = request.app.state.client
    return client


def app_on(address: str) -> Starlette:
    """Return the service, which works for the server at *address* as long as it serves."""

    @asynccontextmanager
    async def serving(app: Starlette) -> AsyncGenerator[None]:
        plugin = Plugin(definitions=[ORDER], functions=registry)
        tracing = TracingInterceptor(trace.get_tracer("shop"))
        client = await TemporalClient.connect(address, plugins=[plugin], interceptors=[tracing])
        app.state.client = Client(client)
        async with Worker(client, task_queue=QUEUE, workflows=[Shipment], activities=[pack]):
            log.info("serving", address=address)
            yield

    routes = [
        Route("/orders", place, methods=["POST"]),
        Route("/orders/{id}", look),
        Route("/orders/{id}/payment", pay, methods=["POST"]),
    ]
    return Starlette(routes=routes, lifespan=serving)


async def main(port: int = 8000) -> None:
    """Serve until stopped."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.INFO))
    async with AsyncExitStack() as stack:
        address = os.environ.get("TEMPORAL_ADDRESS") or await _own_server(stack)
        await uvicorn.Server(uvicorn.Config(app_on(address), port=port, log_level="warning")).serve()


async def _own_server(stack: AsyncExitStack) -> str:
    server = await stack.enter_async_context(local_server())
    log.info("started a development server", ui=server.ui)
    return server.address


if __name__ == "__main__":
    asyncio.run(main())
