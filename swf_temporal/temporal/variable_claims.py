"""Claims: which store holds the variables of a task queue. Workers that disagree get an error, and write nothing.

Theory of operation. The first worker of a task queue that holds variables elsewhere than in Temporal starts a workflow
`variables:store:QUEUE`, which does nothing: its memo says where they are. Every worker compares that with its own
configuration when it starts, and again while it works, since other workers may start later. If they differ, a worker
does not start; one that is running fails each attempt to read or write, and Temporal repeats it until the workers
agree. To change the store for good, the operator terminates that workflow.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic
from typing import ClassVar, Final

from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.service import RPCError

from swf_temporal.base.errors import StoreUnavailable, UsageError
from swf_temporal.base.grammar import counted
from swf_temporal.base.records import Record
from swf_temporal.runtime.variables import Variable, VariableRef, VariableStore
from swf_temporal.temporal import summaries
from swf_temporal.temporal.statuses import OPEN, running_execution
from swf_temporal.temporal.variables import TYPE, TemporalVariables, VariablesOfScope

CHECKING: Final = 10.0
"""Seconds for which workers are assumed to agree after a check."""
_TEMPORAL: Final = "temporal"

_log = logging.getLogger("swf")


@dataclass(frozen=True, slots=True)
class _Claim(Record):
    """Where the variables of a task queue are held."""

    WHAT: ClassVar[str] = "what says where variables are held"

    store: str = ""
    """The identity of the store."""
    where: str = ""
    """The store's name in messages."""


class ClaimedVariables:
    """Variables in a store, as long as the workers of the task queue agree on it."""

    def __init__(
        self, client: Client, task_queue: str, store: VariableStore | None = None, identity: str = "", where: str = ""
    ) -> None:
        """Hold variables in *store*, or in Temporal.

        *identity* identifies the store, and *where* is its name in messages.
        """
        self._client = client
        self._task_queue = task_queue
        self._temporal = TemporalVariables(client, task_queue)
        self._store = store or self._temporal
        self._identity = identity if store else _TEMPORAL
        self._where = where if store else "Temporal"
        self._agreed = 0.0
        self._reported: str | None = None

    @property
    def marker_id(self) -> str:
        """The id of the workflow that says where the variables are."""
        return f"variables:store:{self._task_queue}"

    async def claim(self) -> None:
        """Record where the task queue's variables are, if no worker has. Raises UsageError if others disagree."""
        marker = await self._read_marker()
        if marker is None and self._identity != _TEMPORAL:
            await self._refuse_what_temporal_holds()
            await self._client.start_workflow(
                VariablesOfScope.run,
                None,
                id=self.marker_id,
                task_queue=self._task_queue,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                memo=_Claim(self._identity, self._where).to_json(),
                static_summary=summaries.of_variable_store(self._where),
            )
            marker = await self._read_marker()
        if (trouble := self._trouble(marker)) is not None:
            hint = f"configure `variables` alike on all workers; to change it for good: swf terminate {self.marker_id}"
            raise UsageError(trouble, hint)
        self._agreed = monotonic()

    async def read_variable(self, of: VariableRef) -> Variable | None:
        """Return the value of the variable, or None if there is none. Raises StoreUnavailable."""
        await self._check()
        return await self._store.read_variable(of)

    async def write_variables(self, values: Mapping[VariableRef, Variable | None], write_id: str) -> None:
        """Write each variable. Raises StoreUnavailable and PayloadTooLarge."""
        await self._check()
        await self._store.write_variables(values, write_id)

    async def has_ended(self, owner: str) -> bool:
        return await self._temporal.has_ended(owner)

    async def _check(self) -> None:
        if monotonic() - self._agreed < CHECKING:
            return
        try:
            trouble = self._trouble(await self._read_marker())
        except RPCError as error:
            raise StoreUnavailable(f"it is not known at the moment where the variables are held: {error}") from error
        if trouble is None:
            self._agreed, self._reported = monotonic(), None
            return
        if trouble != self._reported:
            self._reported = trouble
            _log.error("%s; nothing is read or written here until the workers agree", trouble)
        raise StoreUnavailable(trouble)

    def _trouble(self, marker: _Claim | None) -> str | None:
        """Return an error text if *marker*, the store of the other workers, is not that of this worker."""
        claim = _Claim(_TEMPORAL, "Temporal") if marker is None else marker
        if claim.store == self._identity:
            return None
        others = claim.where
        here = f"{self._where}, which is another database" if others == self._where else self._where
        whose = f"the variables of the task queue {self._task_queue!r}"
        return f"{whose} are held in {others}, and this worker would hold them in {here}"

    async def _read_marker(self) -> _Claim | None:
        """Return the claim in the workflow that records it; None if there is none. Raises NewerRecord."""
        found = await running_execution(self._client.get_workflow_handle(self.marker_id))
        return None if found is None else _Claim.from_json(dict(await found.memo()))

    async def _refuse_what_temporal_holds(self) -> None:
        """Raise UsageError if workflows of the task queue hold variables: instances would not find them."""
        # A marker that was terminated a moment ago may still be listed as running.
        query = (
            f"WorkflowType = '{TYPE}' AND TaskQueue = '{self._task_queue}' AND {OPEN} "
            f"AND WorkflowId != '{self.marker_id}'"
        )
        count = (await self._client.count_workflows(query)).count
        if count:
            message = (
                f"the variables of the task queue {self._task_queue!r} are held in Temporal, in "
                f"{counted(count, 'workflow')}, and instances would not find them in {self._where}"
            )
            hint = f'leave `variables` out; or, if none is needed: temporal workflow terminate --query "{query}"'
            raise UsageError(message, hint)


async def namespace_id(client: Client) -> str:
    """Return the id of the namespace of *client*: its name may also exist on other servers."""
    request = DescribeNamespaceRequest(namespace=client.namespace)
    found = await client.workflow_service.describe_namespace(request)
    return found.namespace_info.id
