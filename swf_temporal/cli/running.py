"""How is a definition run to its end, with a worker of its own?"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import uuid4

import typer

from swf_temporal.cli.logs import be_quiet, show_what_functions_say
from swf_temporal.cli.output import Form, print_data
from swf_temporal.cli.progress import Watch
from swf_temporal.cli.serving import some_server, working
from swf_temporal.data import JSON
from swf_temporal.functions.operator.settings import Settings
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.port import Definition
from swf_temporal.temporal.client import Handle, RunEnded, result, start
from swf_temporal.temporal.reaching import Server

_HOW = {
    "UnknownFunction": "functions and types of your own come from what --functions names",
    "UnknownDefinition": "sub-workflows come from the folder of the definition, and those that --definitions names",
}
"""By the code of a fault, how this command is told what is missing."""

_GRACE = 10
"""Seconds in which a cancelled workflow may end by itself."""


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be run, and with what."""

    workflows: list[Definition]
    data: JSON
    workflow_id: str
    events: list[dict[str, Any]] = field(default_factory=list)
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    settings: Settings = field(default_factory=Settings)
    timeout: timedelta | None = None
    form: Form = Form.JSON


def new_id(definition_id: str) -> str:
    """Return the id of an instance for which none was chosen."""
    return f"{definition_id}-{uuid4().hex[:8]}"


async def run_on_some_server(order: Order, address: str | None, namespace: str | None) -> int:
    """Run *order*, print its output, and return the exit code: 0 if it completed, else 1."""
    be_quiet()
    show_what_functions_say()
    async with some_server(address, namespace) as (server, ours):
        queue = f"swf-run-{uuid4().hex[:12]}"
        catalogue = Catalogue(order.workflows)
        # Whoever finds its queue, it runs nobody else's definition: more may be called here than on a worker.
        async with working(
            server.client, catalogue, order.functions, order.settings, task_queue=queue, only_known=True
        ):
            handle = await start(
                server.client,
                order.workflows,
                order.data,
                workflow_id=order.workflow_id,
                task_queue=queue,
                events=order.events,
            )
            _announce(handle, server)
            watch = Watch(server.client, handle, _how_to_connect(server, address if not ours else None, ours=ours))
            try:
                async with _cancelled_with_us(handle), _followed(watch):
                    output = await _awaited(handle, order.timeout)
            except RunEnded as ended:
                typer.echo(f"error: {ended.message}{_how(ended)}", err=True)
                return 1
    print_data(output, order.form)
    return 0


async def _awaited(handle: Handle, timeout: timedelta | None) -> JSON:
    try:
        async with asyncio.timeout(None if timeout is None else timeout.total_seconds()):
            return await result(handle)
    except TimeoutError:
        await _cancel(handle)
        raise RunEnded(f"it did not end within {timeout}, and was cancelled", "cancelled") from None


@asynccontextmanager
async def _followed(watch: Watch) -> AsyncIterator[None]:
    following = asyncio.create_task(watch.follow())
    try:
        yield
    finally:
        following.cancel()
        await asyncio.wait([following])
        await watch.look()


@asynccontextmanager
async def _cancelled_with_us(handle: Handle) -> AsyncIterator[None]:
    """Cancel the workflow if the context is left because this command is told to stop."""
    try:
        yield
    except asyncio.CancelledError:
        typer.echo("cancelling the workflow", err=True)
        await _cancel(handle)
        raise


async def _cancel(handle: Handle) -> None:
    """Ask the workflow to end; terminate it if it does not within a short time, since its worker ends with us."""
    with suppress(RunEnded):
        try:
            async with asyncio.timeout(_GRACE):
                await handle.cancel()
                await result(handle)
        except TimeoutError:
            await handle.terminate("its worker was stopped")


def _announce(handle: Handle, server: Server) -> None:
    link = server.link(handle.id, handle.result_run_id)
    typer.echo(f"{handle.id}{f'  {link}' if link else ''}", err=True)


def _how(ended: RunEnded) -> str:
    """Return, in a line of its own, how this command is told what the run missed; nothing if it missed nothing."""
    how = None if ended.fault is None else _HOW.get(ended.fault.code)
    return "" if how is None else f"\n  {how}"


def _how_to_connect(server: Server, address: str | None, *, ours: bool) -> str:
    """Return the option that another command needs to find the same server."""
    if ours:
        address = server.client.service_client.config.target_host
    return f" --address {address}" if address else ""
