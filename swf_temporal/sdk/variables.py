"""The store of a worker's variables, chosen by its settings."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Final

from temporalio import client as temporal
from temporalio.service import RPCError

from swf_temporal.base.errors import StoreUnavailable, UsageError
from swf_temporal.settings.credentials import without_password
from swf_temporal.settings.values import TEMPORAL
from swf_temporal.settings.worker import WorkerSettings
from swf_temporal.temporal.variable_claims import ClaimedVariables, namespace_id

if TYPE_CHECKING:
    from swf_temporal.sdk.stores import SqlVariables

SWEEPING: Final = 600.0
"""Seconds between two checks for ended instances."""

_log = logging.getLogger("swf")


@asynccontextmanager
async def variables_of(client: temporal.Client, settings: WorkerSettings) -> AsyncIterator[ClaimedVariables]:
    """Yield the variable store of a worker, while it works.

    Raises UsageError if the store cannot be used, or other workers of the task queue use another one.
    """
    if settings.variables == TEMPORAL:
        claimed = ClaimedVariables(client, settings.task_queue)
        with suppress(RPCError):  # checked again before variables are used, which most workers never do
            await claimed.claim()
        yield claimed
        return
    store = await _database(client, settings.variables)
    try:
        where = without_password(settings.variables)
        claimed = ClaimedVariables(client, settings.task_queue, store, store.identity, where)
        try:
            await claimed.claim()
        except RPCError as error:
            message = f"it is not known whether the workers of the task queue {settings.task_queue!r} agree on it"
            raise UsageError(f"variables in {where}: {message}: {error}") from None
        sweeping = asyncio.create_task(_sweep(store, claimed))
        try:
            yield claimed
        finally:
            sweeping.cancel()
            await asyncio.wait([sweeping])
    finally:
        await store.aclose()


async def _database(client: temporal.Client, address: str) -> "SqlVariables":
    try:
        server = await namespace_id(client)
    except RPCError as error:
        message = f"the namespace {client.namespace!r} may not be described, and variables in a database need its id"
        raise UsageError(f"{message}: {error}") from None
    try:
        from swf_temporal.sdk.stores import SqlVariables  # noqa: PLC0415 - heavy, and of an extra

        return await SqlVariables.opened(address, client.namespace, server)
    except ImportError as error:
        what = f"variables in a database need {error.name}"
        raise UsageError(what, "pip install 'swf-temporal[sql]'") from None


async def _sweep(store: "SqlVariables", claimed: ClaimedVariables) -> None:
    """Remove the variables of ended instances, at regular intervals."""
    while True:
        try:
            if count := await store.sweep(claimed.has_ended):
                _log.info("removed the variables of %d ended instances", count)
        except (StoreUnavailable, RPCError) as error:
            _log.warning("variables of ended instances cannot be removed at the moment: %s", error)
        except Exception:  # noqa: BLE001 - the next attempt may succeed
            _log.exception("variables of ended instances cannot be removed at the moment")
        await asyncio.sleep(SWEEPING)
