"""Reading and writing variables from a run, by activities."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from temporalio import workflow
from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue
from temporalio.exceptions import ActivityError, CancelledError

from swf_temporal.runtime.host import CallFolder
from swf_temporal.runtime.variables import Variable, VariableRef
from swf_temporal.temporal import summaries
from swf_temporal.temporal.failures import fault_of_activity
from swf_temporal.temporal.outgoing import Outgoing
from swf_temporal.temporal.variables import READ_VARIABLE, WRITE_VARIABLE

VARIABLE_ATTEMPT: Final = timedelta(minutes=1)
"""The time limit of one attempt to read or write a variable."""

_OF_INSTANCES: Final = ("instance", "thread")
"""The scopes whose variables end with the instance that made them."""


class VariableCalls:
    """The variables that one execution reads and writes."""

    def __init__(self, outgoing: Outgoing, origin: str) -> None:
        self._outgoing = outgoing
        self._origin = origin

    async def read(self, of: VariableRef) -> Variable | None:
        found = await self._call(READ_VARIABLE, of, [])
        return None if found is None else Variable.from_json(found)

    async def write(self, of: VariableRef, value: Variable | None) -> None:
        record = None if value is None else value.to_json()
        await self._call(WRITE_VARIABLE, of, [self._outgoing.written(record)])

    def folder(self, folder: CallFolder) -> CallFolder:
        """Return the *folder* of a call with its variables as they are known where they are held."""
        files = (replace(file, of=self._held(file.of)) for file in folder.files)
        owners = {scope: self._held(VariableRef(scope, owner, "")).owner for scope, owner in folder.owners.items()}
        return CallFolder(tuple(files), owners)

    async def _call(self, name: str, of: VariableRef, more: list[Payload]) -> Any:
        payloads = [self._outgoing.written(self._held(of).to_json()), *more]
        await self._outgoing.in_turn(*payloads)
        try:
            return await workflow.execute_activity(
                name,
                args=[RawValue(payload) for payload in payloads],
                start_to_close_timeout=VARIABLE_ATTEMPT,
                summary=summaries.of_variable(of),
            )
        except ActivityError as error:
            if isinstance(error.cause, CancelledError):
                raise asyncio.CancelledError from None
            raise fault_of_activity(error, name) from None

    def lasting(self, owner: str) -> str:
        """Return *owner*, if it is this instance, with what tells it from a later one that is given its id."""
        return f"{owner}/{self._origin}" if owner == workflow.info().workflow_id else owner

    def _held(self, of: VariableRef) -> VariableRef:
        return replace(of, owner=self.lasting(of.owner)) if of.scope in _OF_INSTANCES else of
