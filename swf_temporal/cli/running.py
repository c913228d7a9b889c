"""`swf run` on a server: its progress display and its result.

`swf run` imports it only for a run on a server, so that its help is shown at once.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import typer

from swf_temporal.base.client_errors import RunEnded, ServerUnavailableError
from swf_temporal.cli.output import OutputFormat, print_data
from swf_temporal.cli.progress import ProgressDisplay
from swf_temporal.sdk.logs import be_quiet, show_what_functions_say
from swf_temporal.sdk.running import Order, StartedRun, started

_HOW = {
    "UnknownFunction": "--functions names the module of your own functions and types",
    "UnknownDefinition": "sub-workflows are searched for in the folder of the definition and in those of --definitions",
}
"""Hints for supplying what is missing, by the code of a fault."""


async def run_on_some_server(order: Order, form: OutputFormat, address: str | None, namespace: str | None) -> int:
    """Run *order*, print its output, and return the exit code: 0 if it completed, else 1."""
    be_quiet()
    show_what_functions_say()
    async with started(order, address, namespace) as run:
        link = run.instance.link
        how_long = " (while this runs)" if run.is_own_server else ""
        typer.echo(f"{run.instance.id}{f'  {link}{how_long}' if link else ''}", err=True)
        watch = ProgressDisplay(run.client, run.instance, _how_to_connect(run, address))
        try:
            async with _cancelled_with_us(run), _followed(watch):
                output = await run.output()
        except RunEnded as ended:
            typer.echo(f"error: {ended}{_how(ended)}", err=True)
            return 1
    print_data(output, form)
    return 0


@asynccontextmanager
async def _followed(watch: ProgressDisplay) -> AsyncIterator[None]:
    following, has_ended = asyncio.create_task(watch.follow()), True
    try:
        yield
    except (ServerUnavailableError, asyncio.CancelledError):
        has_ended = False
        raise
    finally:
        following.cancel()
        await asyncio.wait([following])
        # On a busy machine the first query may time out; the second one is answered.
        _ = not has_ended or await watch.look() or await watch.look()


@asynccontextmanager
async def _cancelled_with_us(run: StartedRun) -> AsyncIterator[None]:
    """Cancel the instance if the context is left because this command is stopped."""
    try:
        yield
    except asyncio.CancelledError:
        typer.echo("cancelling the workflow", err=True)
        await run.cancel()
        raise


def _how(ended: RunEnded) -> str:
    """Return a hint for supplying what the run was missing, on its own line; empty if there is none."""
    how = _HOW.get(ended.code)
    return "" if how is None else f"\n  {how}"


def _how_to_connect(run: StartedRun, address: str | None) -> str:
    """Return the option that another command needs to find the same server."""
    if run.is_own_server:
        address = run.client.address
    return f" --address {address}" if address else ""
