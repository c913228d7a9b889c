"""A client for programs without an event loop: it waits where the client awaits."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import update_wrapper
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from swf_temporal.base.errors import UsageError
from swf_temporal.operations.client import Client, Instance

if TYPE_CHECKING:
    from swf_temporal.settings.payloads import PayloadSettings

P = ParamSpec("P")
T = TypeVar("T")


class _Loop:
    """An event loop in a thread of its own, which ends with the process."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="swf-client", daemon=True)
        self._thread.start()

    def wait_for(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Return what *coroutine* returns. If the caller is interrupted meanwhile, it is cancelled."""
        if self._loop.is_closed():
            coroutine.close()
            raise UsageError("this client is closed", "make another one")
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def each(self, items: AsyncIterator[T]) -> Iterator[T]:
        """Yield each of *items*."""

        async def following() -> T | None:
            return await anext(items, None)

        while (found := self.wait_for(following())) is not None:
            yield found

    def close(self) -> None:
        """End the loop and its thread."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()


def _of_instance(
    method: Callable[Concatenate[Instance, P], Coroutine[Any, Any, T]],
) -> "Callable[Concatenate[SyncInstance, P], T]":
    """Return a method that waits for *method* of an instance."""

    def waiting(self: "SyncInstance", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._loop.wait_for(method(self._instance, *args, **kwargs))

    update_wrapper(waiting, method)
    return waiting


class SyncInstance:
    """An instance of a definition, as a `SyncClient` has it. Its members are those of `Instance`, and wait."""

    def __init__(self, instance: Instance, loop: _Loop) -> None:
        self._instance = instance
        self._loop = loop

    def __repr__(self) -> str:
        return f"SyncInstance({self.id!r})"

    @property
    def id(self) -> str:
        """Its id."""
        return self._instance.id

    @property
    def run_id(self) -> str | None:
        """The id of its first run, if this client has started it."""
        return self._instance.run_id

    @property
    def link(self) -> str | None:
        """Its address in the UI, where the server is a development server with one."""
        return self._instance.link

    def follow(self) -> Iterator[dict[str, Any]]:
        """Iterate over the entries of its trace: those so far, and then each as it comes, until the instance ends."""
        return self._loop.each(self._instance.follow())

    result = _of_instance(Instance.result)
    send_event = _of_instance(Instance.send_event)
    status = _of_instance(Instance.status)
    data = _of_instance(Instance.data)
    trace = _of_instance(Instance.trace)
    cancel = _of_instance(Instance.cancel)
    terminate = _of_instance(Instance.terminate)


def _starting(
    method: Callable[Concatenate[Client, P], Coroutine[Any, Any, Instance]],
) -> "Callable[Concatenate[SyncClient, P], SyncInstance]":
    """Return a method that waits for *method* of a client, which starts an instance."""

    def waiting(self: "SyncClient", /, *args: P.args, **kwargs: P.kwargs) -> SyncInstance:
        return SyncInstance(self._loop.wait_for(method(self._client, *args, **kwargs)), self._loop)

    update_wrapper(waiting, method)
    return waiting


def _listing(
    method: Callable[Concatenate[Client, P], AsyncIterator[T]],
) -> "Callable[Concatenate[SyncClient, P], Iterator[T]]":
    """Return a method that iterates as *method* of a client does."""

    def waiting(self: "SyncClient", /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        return self._loop.each(method(self._client, *args, **kwargs))

    update_wrapper(waiting, method)
    return waiting


class SyncClient:
    """A client for programs without an event loop, from any of their threads.

        with SyncClient.connect("localhost:7233") as client:
            instance = client.start(load("orders.yaml"), {"item": "mouse"})
            print(instance.result())

    Its members are those of `Client`, with the same arguments, and wait. In an event loop, they would
    block it.
    """

    def __init__(self, client: Client, loop: _Loop) -> None:
        self._client = client
        self._loop = loop

    @classmethod
    def connect(
        cls, address: str | None = None, *, namespace: str | None = None, payloads: "PayloadSettings | None" = None
    ) -> Self:
        """Return a client of the server at *address*; without one, at the one in the environment (`TEMPORAL_ADDRESS`).

        *payloads* says how payloads are encoded and stored, instead of the environment. Raises
        ServerUnavailableError if no server answers there, and UsageError if it refuses the caller, or has no such
        namespace.
        """
        loop = _Loop()
        try:
            return cls(loop.wait_for(Client.connect(address, namespace=namespace, payloads=payloads)), loop)
        except BaseException:
            loop.close()
            raise

    def __enter__(self) -> Self:
        """Return this client, which is closed at the end of the context."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """End the thread in which it works. Without this, the thread ends with the process."""
        self._loop.close()

    @property
    def address(self) -> str:
        """The address of its server."""
        return self._client.address

    @property
    def namespace(self) -> str:
        """The namespace on that server."""
        return self._client.namespace

    @property
    def task_queue(self) -> str:
        """The task queue of the workers in this environment. Raises UsageError if their settings cannot be read."""
        return self._client.task_queue

    def acting_as(self, identity: str) -> "SyncClient":
        """Return this client, whose requests are made by *identity*: histories keep it with every change."""
        return SyncClient(self._client.acting_as(identity), self._loop)

    def instance(self, workflow_id: str) -> SyncInstance:
        """Return the instance with the id *workflow_id*, without checking that it exists."""
        return SyncInstance(self._client.instance(workflow_id), self._loop)

    start = _starting(Client.start)
    list_instances = _listing(Client.list_instances)
