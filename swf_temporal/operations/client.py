"""A client: starts instances of definitions on a Temporal server, sends them events, reads their state and results."""

import asyncio
import copy
import logging
import os
import shlex
import time
from asyncio import Lock
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeGuard, TypeVar, Unpack
from uuid import uuid4
from weakref import WeakValueDictionary

from temporalio import client as temporal
from temporalio.client import WorkflowExecutionStatus
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import ApplicationError, FailureError
from temporalio.service import RPCError

from swf_temporal.base.arguments import check_each, check_kind, check_list, check_text, kind_of
from swf_temporal.base.client_errors import InvalidEventError, ReservedIdError, ServerUnavailableError
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import NotServed, UsageError
from swf_temporal.base.files import ENDINGS
from swf_temporal.operations.identity import identity_of, reason_by, with_identity
from swf_temporal.operations.instances import data_of, facts_of, follow, trace_of
from swf_temporal.operations.listing import STATUSES, Conditions, filter_of, instances
from swf_temporal.runtime.ids import DIGITS, why_reserved
from swf_temporal.settings.values import TASK_QUEUE
from swf_temporal.temporal import client as engine
from swf_temporal.temporal import start_options
from swf_temporal.temporal.client import Handle, result
from swf_temporal.temporal.client_errors import not_there, refusals_as_usage_errors
from swf_temporal.temporal.connecting import Server, connect, server_of, why_unserved
from swf_temporal.temporal.constants import QUEUES
from swf_temporal.temporal.converter import with_order
from swf_temporal.temporal.server_timeout import FOR_ENDS, ServerWatch
from swf_temporal.temporal.start_options import StartOptions
from swf_temporal.temporal.statuses import error_of_task, is_closed, is_paused, why_task_failed
from swf_temporal.temporal.tracing import traced, tracing_interceptors

if TYPE_CHECKING:
    from swf_temporal.languages.port import Definition
    from swf_temporal.settings.payloads import PayloadSettings


_TAKEN_UP = 4
"""The number of events in a history after the first workflow task."""
_STARTED_WITHIN = 2.0
"""Seconds within which a worker should have taken up what was started."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.01, 0.1
"""Seconds between two looks at what was started."""

_CHECKED_EVERY = 60.0
"""Seconds between two checks whether a task queue is served."""

_log = logging.getLogger("swf")
_queue_log = logging.getLogger(QUEUES)


async def was_taken_up(client: "Client", workflow_id: str, *, keeps_unknown: bool = True) -> bool:
    """Return whether a worker takes the instance up within a short time.

    Raises RunEnded if it fails at once, and UsageError if the workers that get it cannot run it. Unless
    *keeps_unknown*, an instance whose definition they do not know is terminated then.
    """
    handle = client.temporal.get_workflow_handle(workflow_id)
    begun = await _begun(client, handle)
    if begun.status is WorkflowExecutionStatus.FAILED:
        await result(handle)
    if begun.error is None:
        return begun.is_taken_up
    if _is_unknown(begun.error) and not keeps_unknown:
        raise await _terminated(handle, begun.error, "--keep")
    hint = f"it continues once a worker can run it; to stop it: swf terminate {shlex.quote(workflow_id)}"
    raise UsageError(_text_of(begun.error), hint)


class _Begun(NamedTuple):
    """The facts about an instance soon after its start."""

    status: WorkflowExecutionStatus | None
    is_taken_up: bool = False
    error: BaseException | None = None
    """Why its first task fails, and is tried again."""


async def _begun(client: "Client", handle: Handle) -> _Begun:
    """Wait a short time for a worker that takes an instance up."""
    error, pause, waited = None, _FIRST_PAUSE, 0.0
    while True:
        found = await handle.describe()
        if found.status is WorkflowExecutionStatus.FAILED:
            return _Begun(found.status, is_taken_up=True)
        error = await error_of_task(client.temporal, found)
        if error is None and (found.history_length or 0) >= _TAKEN_UP:
            return _Begun(found.status, is_taken_up=True)
        # Another worker may know a definition that this one does not.
        if (error is not None and not _is_unknown(error)) or waited >= _STARTED_WITHIN:
            return _Begun(found.status, error=error)
        await asyncio.sleep(pause)
        waited, pause = waited + pause, min(2 * pause, _LONGEST_PAUSE)


async def _terminated(handle: Handle, error: BaseException, option: str) -> UsageError:
    """Terminate an instance whose definition no worker knows; return the error that says so."""
    await handle.terminate(reason="no worker knows its definition")
    hint = f"the instance has been terminated; with {option} it waits for a worker that knows the definition"
    return UsageError(_text_of(error), hint)


def _text_of(error: BaseException) -> str:
    return error.message if isinstance(error, FailureError) else str(error)


def _is_unknown(error: BaseException) -> bool:
    return isinstance(error, ApplicationError) and error.type == NotServed.__name__


@asynccontextmanager
async def warned_if_not_taken_up(client: temporal.Client, handle: Handle) -> AsyncIterator[None]:
    """Log a warning, within the context, if an instance has to be resumed first, has no worker, or cannot be run."""

    async def look() -> None:
        await asyncio.sleep(_STARTED_WITHIN)
        with suppress(RPCError):
            found = await handle.describe()
            if is_paused(found):
                _log.warning("%r is paused: `swf resume %s` lets it continue", handle.id, shlex.quote(handle.id))
            elif not is_closed(found) and (found.history_length or 0) < _TAKEN_UP:
                _log.warning(
                    "no worker has taken up %r yet: is one serving the task queue %r?", handle.id, found.task_queue
                )
            elif (why := await why_task_failed(client, found)) is not None:
                _log.warning("%r does not continue: %s", handle.id, why)

    looking = asyncio.create_task(look())
    try:
        yield
    finally:
        looking.cancel()
        await asyncio.wait([looking])


_LOAD = "write client.start(load(…), …)"
_ONCE = WorkflowIDReusePolicy.REJECT_DUPLICATE


class Instance:
    """An instance of a definition, which a client has started or knows by its id."""

    def __init__(self, client: "Client", handle: engine.Handle) -> None:
        self._client = client
        self._handle = handle

    def __repr__(self) -> str:
        return f"Instance({self.id!r})"

    @property
    def id(self) -> str:
        """Its id."""
        return self._handle.id

    @property
    def run_id(self) -> str | None:
        """The id of its first run, if this client has started it."""
        return self._handle.result_run_id

    @property
    def link(self) -> str | None:
        """Its address in the UI, where the server is a development server with one."""
        return self._client.server.link(self.id, self.run_id)

    @property
    def handle(self) -> engine.Handle:
        """The SDK's handle of it, for what this class does not offer."""
        return self._handle

    async def result(self) -> JSON:
        """Return its output, once it has ended. Log a warning if no worker takes it up soon.

        Raises RunEnded if it ends without output, and InstanceNotFoundError if there is no such instance.
        """
        async with warned_if_not_taken_up(self._client.temporal, self._handle):
            return await engine.result(self._handle)

    async def send_event(self, event: CloudEvent | Mapping[str, Any], *, wait: bool = True) -> str:
        """Send an event, and return `taken`, `kept` or `duplicate`, or `sent` if the outcome is not known.

        *event* is a CloudEvent, or holds the `name` that the definition gives to an event, and its `data`, which is
        JSON or what pydantic can turn into JSON. Without *wait* it is left with the instance, even if no worker runs.
        Raises InvalidEventError if it is not an event, NeverTakenError if the instance never takes such an event,
        InboxFullError if it has no room for it now, NoAnswerError if no worker answers within 10 seconds, and
        InstanceNotFoundError or InstanceEndedError if there is no such running instance.
        """
        given = json_event(event)
        if wait:
            return await engine.deliver(self._client.temporal, self.id, given)
        await engine.send(self._client.temporal, self.id, given)
        return engine.SENT

    async def status(self) -> dict[str, Any]:
        """Return what the server knows of the instance, and from a worker its state and the events that it awaits.

        It has `status` (`running`, `completed`, `failed`, …), `started`, `ended`, `calls` in progress, and `reason`
        where it failed; and `state`, `awaiting` and so on where a worker answers, else a `note` that none does. Raises
        InstanceNotFoundError if there is no such instance.
        """
        return await facts_of(self._client, self.id)

    async def data(self) -> JSON:
        """Return the data that it currently works on; once it has ended its output, or else its latest data.

        Raises NoAnswerError if no worker answers within 10 seconds, InstancePausedError if it is paused, and UsageError
        if it ended before it began.
        """
        data: JSON = await data_of(self._client, self.id)
        return data

    async def trace(self) -> list[dict[str, Any]]:
        """Return what happened in it, the latest entries; once it has ended, or while it is paused, from its history.

        Raises NoAnswerError if no worker answers in time.
        """
        return await trace_of(self._client, self.id)

    def follow(self) -> AsyncIterator[dict[str, Any]]:
        """Iterate over the entries of its trace: those so far, and then each as it comes, until the instance ends.

            async for entry in instance.follow():
                print(entry["at"], entry["kind"], entry["name"])

        If it continues as new, the entries of its next run follow; the first are those of its latest run. While it is
        paused, or no worker runs, none come. Raises InstanceNotFoundError if there is no such instance.
        """
        return follow(self._client, self.id)

    async def cancel(self, reason: str | None = None) -> None:
        """Cancel the instance. Its definition may ask for compensation, which is still carried out.

        Raises InstanceNotFoundError if there is no such instance.
        """
        check_kind("reason", reason, str)
        await self._ask(self._handle.cancel(reason=reason_by(self._client.identity, reason) or ""))

    async def terminate(self, reason: str | None = None) -> None:
        """Terminate the instance at once: nothing more of its definition is carried out, and nothing compensated.

        Raises InstanceNotFoundError if there is no such instance.
        """
        check_kind("reason", reason, str)
        await self._ask(self._handle.terminate(reason=reason_by(self._client.identity, reason)))

    async def _ask(self, request: Any) -> None:
        try:
            await request
        except RPCError as error:
            raise not_there(error, self.id) from None


class Client:
    """A client for instances of definitions on a Temporal server.

        client = await Client.connect("localhost:7233")
        instance = await client.start(load("orders.yaml"), {"item": "mouse"})
        print(await instance.result())

    `Client(temporal_client)` takes a client of the SDK that is connected already, and keeps the order of keys of
    what it sends, which the SDK alone sorts.
    """

    def __init__(self, temporal_client: temporal.Client) -> None:
        """Use *temporal_client*, a client of the SDK. Raises UsageError for anything else."""
        if not isinstance(temporal_client, temporal.Client):
            what = f"a Client is made of a client of Temporal's SDK, and this is {kind_of(temporal_client)}"
            raise UsageError(what, "write await Client.connect(…), or Client(temporalio_client)")
        self.temporal = with_order(temporal_client)
        self.mailbox_locks = WeakValueDictionary[str, Lock]()
        self.payloads: PayloadSettings | None = None
        """How payloads are encoded and stored, if this class made the connection."""
        self.identity: str | None = None
        """Who its requests are made by, if that was said: see `acting_as`."""
        self._servers: list[Server] = []
        """The server, once it was looked at; shared by all who act by this client, like the rest here."""
        self._looked_at: dict[str | tuple[str, str], float] = {}
        """When it was last checked that a task queue, or a definition on one, is served."""

    @classmethod
    def of(cls, server: Server) -> Self:
        """Return a client of *server*, whose UI is known."""
        client = cls(traced(server.client))
        client._servers.append(server)
        return client

    def acting_as(self, identity: str) -> Self:
        """Return this client, whose requests are made by *identity*: histories keep it with every change.

            await client.acting_as("ann").instance("order-42").cancel("ordered twice")

        At most 200 characters are kept. Without this, the SDK's identity counts: the process and its machine.
        """
        check_text("identity", identity, is_required=True)
        found = copy.copy(self)
        found.identity = identity_of(identity)
        found.temporal = with_identity(self.temporal, found.identity)
        return found

    @property
    def server(self) -> Server:
        """The server, and where its UI is."""
        if not self._servers:
            self._servers.append(server_of(self.temporal))
        return self._servers[0]

    @property
    def address(self) -> str:
        """The address of its server."""
        return self.temporal.service_client.config.target_host

    @property
    def namespace(self) -> str:
        """The namespace on that server."""
        return self.temporal.namespace

    @classmethod
    async def connect(
        cls, address: str | None = None, *, namespace: str | None = None, payloads: "PayloadSettings | None" = None
    ) -> Self:
        """Return a client of the server at *address*; without one, at the one in the environment (`TEMPORAL_ADDRESS`).

        *payloads* says how payloads are encoded and stored, instead of the environment. Raises
        ServerUnavailableError if no server answers there, and UsageError if it refuses the caller, or has no such
        namespace.
        """
        check_text("address", address)
        check_text("namespace", namespace)
        if payloads is not None:
            from swf_temporal.settings.payloads import PayloadSettings  # noqa: PLC0415 - only where there may be any

            check_kind("payloads", payloads, PayloadSettings)
        payloads = payloads or payloads_of_environment()
        interceptors = tracing_interceptors()
        found = cls(await connect(address=address, namespace=namespace, payloads=payloads, interceptors=interceptors))
        found.payloads = payloads
        return found

    async def start(  # noqa: PLR0913 - what may be said of a start, most of it optional
        self,
        definition: "Definition | str",
        data: object = None,
        *,
        workflow_id: str | None = None,
        task_queue: str | None = None,
        events: Iterable[CloudEvent | Mapping[str, Any]] = (),
        sub_workflows: "Iterable[Definition]" = (),
        version: str | None = None,
        idempotency_key: str | None = None,
        keep: bool = False,
        **options: Unpack[StartOptions],
    ) -> Instance:
        """Start an instance of *definition*: a definition, or the id of one that the workers serve.

        By an id, the latest version is meant that they serve, or the given *version*.
        An instance of a definition keeps it, and *sub_workflows* with it, whatever the workers serve later. *data* is
        its input: JSON, or what pydantic can turn into JSON, such as a model or a date. *events* are there from the
        start. The default *task_queue* is the workers' in this environment: SWF_TASK_QUEUE, or `worker ›
        taskQueue` of the configuration. All starts of a definition with the same *idempotency_key* have the same id,
        unless one is given. If the workers do not know the id of the definition, the instance is terminated, unless it
        is to *keep* waiting for one that does. *options* are those of the SDK's `start_workflow`, see `StartOptions`.
        Raises AlreadyStartedError if an instance of that id is running or, with such a key, was started before and is
        still retained; ReservedIdError if the id is of a form that is reserved; InvalidInputError or InvalidEventError
        if the data or an event is not JSON; TooLargeToSendError if they are too large; ServerUnavailableError if the
        server does not answer; and UsageError for an argument of another type, such as a path, or an unknown id.
        """
        if unknown := options.keys() - start_options.NAMES:
            raise TypeError(f"start() got an unexpected keyword argument {min(unknown)!r}")
        start_options.check_options(options)
        check_text("task_queue", task_queue)
        check_text("workflow_id", workflow_id)
        check_text("idempotency_key", idempotency_key)
        check_text("version", version)
        check_kind("keep", keep, bool)
        check_list("events", events)
        check_list("sub_workflows", sub_workflows)
        sub_workflows = list(sub_workflows)
        check_each("sub_workflows", sub_workflows, "a Definition", _is_definition)
        definition_id = _id_of(definition)
        if version is not None and not isinstance(definition, str):
            raise UsageError(
                "a version is given with the id of a definition", f"this one has the version {definition.version}"
            )
        start: dict[str, Any] = {
            "workflow_id": _id_of_start(definition_id, workflow_id, idempotency_key),
            "task_queue": self.task_queue if task_queue is None else task_queue,
            "events": [json_event(one) for one in events],
            "options": {**({"id_reuse_policy": _ONCE} if idempotency_key is not None else {}), **options},
        }
        if isinstance(definition, str):
            handle = await engine.start_known(self.temporal, definition, data, version=version, **start)
        else:
            handle = await engine.start(self.temporal, [definition, *sub_workflows], data, **start)
        if await self.warn_if_unserved(start["task_queue"]) or not isinstance(definition, str) or keep:
            return Instance(self, handle)
        if not options.keys() & {"start_delay", "id_conflict_policy"}:  # then it begins later, or has begun before
            await self._refuse_unknown(handle, (start["task_queue"], f"{definition} {version or ''}"))
        return Instance(self, handle)

    async def warn_if_unserved(self, task_queue: str) -> bool:
        """Log a warning if no worker serves *task_queue*. It is checked once a minute at most."""
        if not self._is_to_be_checked(task_queue) or (why := await why_unserved(self.temporal, task_queue)) is None:
            return False
        _queue_log.warning("%s", why)
        return True

    async def _refuse_unknown(self, handle: Handle, what: tuple[str, str]) -> None:
        """Terminate an instance and raise UsageError if the workers do not know its definition.

        *what* is the task queue and the id. If they have known it, they are asked again after a minute.
        """
        if not self._is_to_be_checked(what):
            return
        with suppress(RPCError):  # it is started, whatever can be known of it
            begun = await _begun(self, handle)
            if begun.error is not None and _is_unknown(begun.error):
                del self._looked_at[what]
                raise await _terminated(handle, begun.error, "keep=True")

    def _is_to_be_checked(self, what: str | tuple[str, str]) -> bool:
        """Return whether *what*, a task queue or a definition on one, was not checked within the last minute."""
        now = time.monotonic()
        if now - self._looked_at.get(what, -_CHECKED_EVERY) < _CHECKED_EVERY:
            return False
        self._looked_at[what] = now
        return True

    @cached_property
    def task_queue(self) -> str:
        """The task queue of the workers in this environment. Raises UsageError if their settings cannot be read."""
        if not any(name in os.environ for name in ("SWF_TASK_QUEUE", "SWF_CONFIG")):
            return TASK_QUEUE
        from swf_temporal.settings.worker import WorkerSettings  # noqa: PLC0415 - only where there may be any

        return WorkerSettings.read().task_queue

    def list_instances(  # noqa: PLR0913 - filters, all of them optional
        self,
        query: str | None = None,
        *,
        status: str | None = None,
        definition: str | None = None,
        version: str | None = None,
        state: str | None = None,
        business_key: str | None = None,
        error_code: str | None = None,
        error: str | None = None,
        waits_for: str | None = None,
        longer_than: timedelta | None = None,
        started_since: datetime | None = None,
        ended_since: datetime | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[dict[str, Any]]:
        """Iterate over the instances that match all arguments: running ones first, then the latest to end.

        *status* is `running`, `paused`, `completed`, `failed`, `cancelled`, `terminated`, `timed-out` or `continued`;
        *query* is a list filter of Temporal's. Each has `id`, `runId`, `definition`, `status`, `started` and `ended`.
        The *version*, *state*, *business_key*, *error_code*, *error* (its name or code), the event that an instance
        *waits_for*, and whether it does so, or is in its state, *longer_than* that, are found where workers set search
        attributes. Raises UsageError if the server refuses the filter.
        """
        check_text("query", query)
        check_kind("limit", limit, int)
        attributes = {"version": version, "state": state, "businessKey": business_key, "errorCode": error_code}
        for name, given in {"definition": definition, "error": error, "waits_for": waits_for, **attributes}.items():
            check_text(name, given)
        if status is not None and status not in STATUSES:
            raise UsageError(f"there is no status {status!r}", f"there are {', '.join(STATUSES)}")
        conditions = Conditions(
            attributes=attributes,
            error=error,
            waits_for=waits_for,
            longer_than=longer_than,
            started_since=started_since,
            ended_since=ended_since,
        )
        return instances(self, filter_of(status, definition, query, conditions=conditions, only_instances=True), limit)

    def instance(self, workflow_id: str) -> Instance:
        """Return the instance with the id *workflow_id*, without checking that it exists."""
        check_text("workflow_id", workflow_id, is_required=True)
        return Instance(self, self.temporal.get_workflow_handle(workflow_id))


def json_event(event: CloudEvent | Mapping[str, Any]) -> Mapping[str, Any]:
    """Return *event* as a mapping. Raises InvalidEventError if it is not an event."""
    if isinstance(event, CloudEvent):
        return event.to_json()
    if not isinstance(event, Mapping):
        hint = "an event is a CloudEvent, or a mapping: {'name': …, 'data': …}"
        raise InvalidEventError(f"{event!r} is not an event", hint)
    return event


def _is_definition(given: object) -> "TypeGuard[Definition]":
    from swf_temporal.languages.port import Definition  # noqa: PLC0415 - only needed where there are any

    return isinstance(given, Definition)


def _is_file_or_text(definition: str) -> bool:
    """Return whether *definition* is one for `load`, and no id; ids that are paths begin with a slash."""
    if definition.endswith(ENDINGS):
        return not definition.startswith("/") or Path(definition).is_file()
    return "\n" in definition or definition.lstrip().startswith("{")


def _id_of(definition: object) -> str:
    """Return the id of the *definition* to start. Raises UsageError for anything but a Definition or an id."""
    if isinstance(definition, str):
        check_text("the id of a definition", definition)
        if _is_file_or_text(definition):
            raise UsageError(f"a definition in a file or a text is loaded before it is started: {definition!r}", _LOAD)
        return definition
    if not _is_definition(definition):
        raise UsageError(f"what is started is a Definition or the id of one, and this is {kind_of(definition)}", _LOAD)
    return definition.id


def _id_of_start(definition_id: str, chosen: str | None, idempotency_key: str | None) -> str:
    if chosen and (why := why_reserved(chosen)):
        text, hint = f"the id {chosen!r} cannot be chosen: it {why}", "leave it out, or choose another"
        raise ReservedIdError(text, hint, instance=chosen)
    if chosen or idempotency_key is None:
        return chosen or f"{definition_id}-{uuid4().hex[:8]}"
    digest = sha256(f"{definition_id}\n{idempotency_key}".encode()).hexdigest()
    return f"{definition_id}:{digest[:DIGITS]}"


PAYLOAD_VARIABLES = ("SWF_CONFIG", "SWF_STORAGE", "SWF_ENCRYPTION", "SWF_COMPRESSION")
"""Prefixes of the environment variables that may configure payloads."""


def payloads_of_environment() -> "PayloadSettings | None":
    """Return the payload settings of the environment, if it has any."""
    if not any(name.startswith(PAYLOAD_VARIABLES) for name in os.environ):
        return None
    from swf_temporal.settings.payloads import PayloadSettings  # noqa: PLC0415 - only where there may be any

    return PayloadSettings.read()


_T = TypeVar("_T")


class RetriedRequests:
    """Repeats requests about an instance while the server does not answer."""

    def __init__(
        self, client: Client, workflow_id: str, connecting: str, *, usual: timedelta = FOR_ENDS, fate: str = ""
    ) -> None:
        """Ask about an instance for as long as SWF_SERVER_TIMEOUT says, or the *usual* time.

        *connecting* are the options with which a command finds the server, *fate* says what happens to the instance if
        this gives up.
        """
        self._watch = ServerWatch(client.temporal, usual)
        shown = f"once the server answers, `swf status {workflow_id}{connecting}` shows it"
        self._fate = fate or f"the instance {workflow_id!r} continues: {shown}"

    async def __call__(self, request: Callable[[], Awaitable[_T]]) -> _T:
        """Return what *request* returns. Raises ServerUnavailableError, which says what happens to the instance."""

        async def asked() -> _T:
            with refusals_as_usage_errors():
                return await request()

        try:
            async with self._watch.watching():
                return await self._watch.retried(asked)
        except ServerUnavailableError as error:
            hint = self._fate if error.hint is None else f"{error.hint}\n  {self._fate}"
            raise ServerUnavailableError(error.message, hint, is_refusal=error.is_refusal) from None
