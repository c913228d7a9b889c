"""Variables on Temporal: a workflow for each scope, which holds the values of its variables.

Theory of operation. The first write of a variable starts such a workflow; it takes further writes by updates, and reads
by queries. It continues as new when its history grows long. The scopes of a workflow and of the namespace stay for
good; that of an instance checks from time to time whether the instance has ended, and then ends, too. Runs access it by
activities, since the values that they read have to be in their histories; calls of functions that are given files read
and write within their activity, so that the contents are in no history but the scope's. An update has an id that is
the same for every attempt of the activity that sends it, so that a retried write has effect only once. The server knows
the ids of one execution; the record of a scope for continue-as-new has the latest ones, too.
"""

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import Any, ClassVar, Final, Protocol

from temporalio import workflow
from temporalio.api.common.v1 import Payload
from temporalio.client import (
    Client,
    WithStartWorkflowOperation,
    WorkflowQueryRejectedError,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.common import RawValue, WorkflowIDConflictPolicy
from temporalio.exceptions import ActivityError, ApplicationError, CancelledError
from temporalio.service import RPCError, RPCStatusCode

from swf_temporal.base.errors import NewerRecord, PayloadTooLarge, StoreUnavailable
from swf_temporal.base.records import Record
from swf_temporal.runtime.host import CallFolder
from swf_temporal.runtime.variables import Variable, VariableRef, VariableStore
from swf_temporal.temporal import summaries
from swf_temporal.temporal.call_records import fault_of_activity
from swf_temporal.temporal.outgoing import Outgoing
from swf_temporal.temporal.records import RecordInput
from swf_temporal.temporal.statuses import answer_of, running_execution

READ_VARIABLE: Final = "read variable"
WRITE_VARIABLE: Final = "write variable"
MAX_BYTES: Final = 1024 * 1024
"""The size limit of all variables of one scope: they travel in one payload when the workflow continues as new."""
INSTANCE_ENDED: Final = "instance has ended"
CHECK_INTERVAL: Final = timedelta(days=1)
"""The interval at which an instance's scope checks whether the instance has ended, first this long after a write."""

_MAX_WAIT: Final = 30.0
"""Seconds in which a scope has to answer; after that the request is retried."""
MAX_IDS: Final = 1000
"""The number of write ids that a scope carries over when it continues as new."""

TYPE: Final = "swf variables"
_PREFIX: Final = "variables:"
_TOO_LARGE: Final = "VariablesTooLarge"
_FULL: Final = f"the variables of this scope would hold more than {MAX_BYTES:,} bytes"


@dataclass(frozen=True, slots=True)
class ScopeRecord(Record):
    """The record of a scope for continue-as-new."""

    WHAT: ClassVar[str] = "the record of a scope"

    held: dict[str, Variable] = field(default_factory=dict)
    """The variables, by their keys."""
    seen: list[str] = field(default_factory=list)
    """The ids of the latest writes."""


@dataclass(frozen=True, slots=True)
class WriteRecord(Record):
    WHAT: ClassVar[str] = "what is written to variables"

    values: dict[str, Variable | None]
    """The values, by the keys of the variables; None deletes one."""


class VariableStorage(VariableStore, Protocol):
    """The port to variables: on Temporal, or in the memory of a test."""

    async def has_ended(self, owner: str) -> bool:
        """Return whether the instance *owner* has ended: it is written as `INSTANCE_ID/FIRST_RUN_ID`."""


@workflow.defn(name=TYPE, sandboxed=False)
class VariablesOfScope:
    @workflow.init
    def __init__(self, given: Any = None) -> None:
        self._input = RecordInput({} if given is None else given, ScopeRecord)
        self._held = self._input.record.held
        self._seen = dict.fromkeys(self._input.record.seen)
        self._writes = 0

    @workflow.run
    async def run(self, given: Any = None) -> None:  # noqa: ARG002 - read in __init__
        """Hold variables for good, or until the instance that owns them has ended."""
        self._input.check()
        scope, _, owner = workflow.info().workflow_id.removeprefix(_PREFIX).partition(":")
        while not workflow.info().is_continue_as_new_suggested():
            writes = self._writes
            try:
                await workflow.wait_condition(
                    lambda before=writes: self._writes > before,  # type: ignore[misc]  # its type is known
                    timeout=CHECK_INTERVAL if scope in ("instance", "thread") else None,
                )
            except TimeoutError:
                if await workflow.execute_activity(
                    INSTANCE_ENDED,
                    owner,
                    start_to_close_timeout=timedelta(minutes=1),
                    summary=summaries.LOOKING_FOR_OWNER,
                ):
                    return
        await workflow.wait_condition(workflow.all_handlers_finished)
        workflow.continue_as_new(ScopeRecord(self._held, list(self._seen)[-MAX_IDS:]).to_json())

    @workflow.query
    def read(self, key: str) -> dict[str, Any] | None:
        found = self._held.get(key)
        return None if found is None else found.to_json()

    @workflow.update
    async def write(self, written: Any) -> None:
        """Write the values of *written*, a `WriteRecord`, all together."""
        values = WriteRecord.from_json(written).values
        update = workflow.current_update_info()
        if update is None or update.id in self._seen:
            return
        merged = {**self._held, **values}
        held = {key: value for key, value in merged.items() if value is not None}
        if sum(len(value.content) for value in held.values()) > MAX_BYTES:
            raise ApplicationError(_FULL, type=_TOO_LARGE, non_retryable=True)
        self._held = held
        self._seen[update.id] = None
        self._writes += 1

    @write.validator
    def _validate(self, written: Any) -> None:
        with suppress(NewerRecord):  # it waits for a worker of that release
            WriteRecord.from_json(written)


class TemporalVariables:
    def __init__(self, client: Client, task_queue: str) -> None:
        self._client = client
        self._task_queue = task_queue

    async def read_variable(self, of: VariableRef) -> Variable | None:
        """Query the workflow of the scope, if there is one."""
        handle = self._client.get_workflow_handle_for(VariablesOfScope.run, _id_of(of))
        try:
            async with asyncio.timeout(_MAX_WAIT):  # noqa: TID251 - a client's
                found: Any = await answer_of(partial(handle.query, VariablesOfScope.read, of.key))
        except (RPCError, WorkflowQueryRejectedError, TimeoutError) as error:
            if isinstance(error, RPCError) and error.status == RPCStatusCode.NOT_FOUND:
                return None
            raise _unavailable(of, error) from error
        return None if found is None else Variable.from_json(found)

    async def write_variables(self, values: Mapping[VariableRef, Variable | None], write_id: str) -> None:
        """Send an update to the workflow of each scope, starting it if need be."""
        scopes: dict[str, dict[VariableRef, Variable | None]] = defaultdict(dict)
        for of, value in values.items():
            scopes[_id_of(of)][of] = value
        for workflow_id, changed in scopes.items():
            await self._write(workflow_id, changed, write_id)

    async def _write(self, workflow_id: str, values: Mapping[VariableRef, Variable | None], write_id: str) -> None:
        begun: WithStartWorkflowOperation[VariablesOfScope, None] = WithStartWorkflowOperation(
            VariablesOfScope.run,
            None,
            id=workflow_id,
            task_queue=self._task_queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        )
        if sum(len(value.content) for value in values.values() if value is not None) > MAX_BYTES:
            raise PayloadTooLarge(_FULL)  # more than the server would accept
        written = WriteRecord({of.key: value for of, value in values.items()}).to_json()
        try:
            async with asyncio.timeout(_MAX_WAIT):  # noqa: TID251 - a client's
                await self._client.execute_update_with_start_workflow(
                    VariablesOfScope.write, written, start_workflow_operation=begun, id=write_id
                )
        except (WorkflowUpdateFailedError, WorkflowUpdateRPCTimeoutOrCancelledError, RPCError, TimeoutError) as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise asyncio.CancelledError from None
            cause = error.__cause__
            if isinstance(cause, ApplicationError) and cause.type == _TOO_LARGE:
                raise PayloadTooLarge(cause.message) from None
            raise _unavailable(next(iter(values)), error) from error

    async def has_ended(self, owner: str) -> bool:
        """Ask the server. An instance that it no longer knows has ended; one that has continued as new has not."""
        workflow_id, _, first_run_id = owner.rpartition("/")
        handle = self._client.get_workflow_handle(workflow_id, first_execution_run_id=first_run_id)
        return await running_execution(handle) is None


def _unavailable(of: VariableRef, error: Exception) -> StoreUnavailable:
    return StoreUnavailable(
        f"the {of.scope} variable {of.key!r} cannot be reached at the moment: {str(error) or 'no answer'}"
    )


def _id_of(of: VariableRef) -> str:
    """Return the id of the workflow that holds the variables of a scope."""
    return f"{_PREFIX}{of.scope}:{of.owner}"


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
        """Return the *folder* of a call with the owners that its variables have in the store."""
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
        """Return *owner*, made unique if it is this instance, since a later one may reuse its id."""
        return f"{owner}/{self._origin}" if owner == workflow.info().workflow_id else owner

    def _held(self, of: VariableRef) -> VariableRef:
        return replace(of, owner=self.lasting(of.owner)) if of.scope in _OF_INSTANCES else of
