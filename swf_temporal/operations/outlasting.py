"""Waiting for an instance while the server may go away: who gives that up is told that the instance goes on."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

from swf_temporal.base.client_errors import ServerUnavailableError
from swf_temporal.operations.client import Client, refusals_as_usage_errors
from swf_temporal.temporal.server_timeout import FOR_ENDS, ServerWatch

_T = TypeVar("_T")


class Outlasting:
    """Makes requests about an instance again while the server does not answer."""

    def __init__(
        self, client: Client, workflow_id: str, connecting: str, *, usual: timedelta = FOR_ENDS, fate: str = ""
    ) -> None:
        """Ask about an instance for as long as SWF_SERVER_TIMEOUT says, or the *usual* time.

        *connecting* is what a command needs to find the server, *fate* what becomes of the instance if it is given up.
        """
        self._watch = ServerWatch(client.temporal, usual)
        shown = f"once the server answers, `swf status {workflow_id}{connecting}` shows it"
        self._fate = fate or f"the instance {workflow_id!r} goes on: {shown}"

    async def __call__(self, request: Callable[[], Awaitable[_T]]) -> _T:
        """Return what *request* returns. Raises ServerUnavailableError, which tells what becomes of the instance."""

        async def asked() -> _T:
            with refusals_as_usage_errors():
                return await request()

        try:
            async with self._watch.watching():
                return await self._watch.outlasted(asked)
        except ServerUnavailableError as error:
            hint = self._fate if error.hint is None else f"{error.hint}\n  {self._fate}"
            raise ServerUnavailableError(error.message, hint, is_refusal=error.is_refusal) from None
