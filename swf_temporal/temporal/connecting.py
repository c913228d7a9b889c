"""Connecting to a server: its client, the address of its UI, its task queues, and what to report if that fails."""

import asyncio
import logging
import re
import socket
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, DescribeTaskQueueRequest
from temporalio.client import Client, Interceptor
from temporalio.common import HeaderCodecBehavior
from temporalio.envconfig import ClientConfig
from temporalio.service import RPCError, RPCStatusCode, TLSConfig

from swf_temporal.base.client_errors import ServerUnavailableError
from swf_temporal.base.errors import UsageError
from swf_temporal.base.importing import MAX_PORT
from swf_temporal.base.stopping import end_after_native_threads
from swf_temporal.temporal.client_errors import NOT_PERMITTED, refused_by_server, trouble_of
from swf_temporal.temporal.constants import DEFAULT_HOST, DEFAULT_NAMESPACE, DEFAULT_PORT, DEFAULT_UI_PORT
from swf_temporal.temporal.converter import converter_of
from swf_temporal.temporal.server_timeout import answered

if TYPE_CHECKING:
    from swf_temporal.settings.payloads import PayloadSettings

_ATTEMPTS: Final = 20
_PAUSE: Final = 0.05
"""A worker that has just been started needs a moment to ask for tasks."""


async def why_unserved(client: Client, task_queue: str) -> str | None:
    """Return a message if no worker serves *task_queue*; None if one does, did within minutes, or it is not known."""
    request = DescribeTaskQueueRequest(
        namespace=client.namespace,
        task_queue=TaskQueue(name=task_queue),
        task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
    )
    for _ in range(_ATTEMPTS):
        try:
            found = await client.workflow_service.describe_task_queue(request)
        except RPCError:  # the caller may not ask
            return None
        if found.pollers:
            return None
        await asyncio.sleep(_PAUSE)
    return f"no worker is serving the task queue {task_queue!r}: its instances wait for one"


_UI_AFTER = DEFAULT_UI_PORT - DEFAULT_PORT
_LOCAL = ("localhost", "127.0.0.1")


@dataclass(frozen=True, slots=True)
class Server:
    """A server that answers, with the address of its UI."""

    client: Client
    ui: str | None

    @property
    def address(self) -> str:
        """Its address, with the port."""
        return self.client.service_client.config.target_host

    def link(self, workflow_id: str, run_id: str | None = None) -> str | None:
        """Return the address of a run in the UI."""
        if self.ui is None:
            return None
        where = f"{self.ui}/namespaces/{self.client.namespace}/workflows/{quote(workflow_id, safe='')}"
        return f"{where}/{run_id}/history" if run_id else where


def server_of(client: Client) -> Server:
    """Return the server of *client*, with its UI if it is a development server with the UI at the usual port."""
    host, _, port = client.service_client.config.target_host.rpartition(":")
    ui_port = int(port) + _UI_AFTER if port.isdigit() else 0
    if host not in _LOCAL or not 0 < ui_port <= MAX_PORT or is_free(ui_port):
        return Server(client, None)
    return Server(client, f"http://{host}:{ui_port}")


def is_free(port: int) -> bool:
    """Return whether nothing listens on *port*. Raises UsageError if this user may not listen there."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except PermissionError:
            raise UsageError(f"this user may not listen on port {port}", "choose one above 1023") from None
        except OSError:
            return False
    return True


_log = logging.getLogger("swf")

_FILES = "TEMPORAL_TLS_SERVER_CA_CERT_PATH, TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH"
_FORM = re.compile(r"(?P<host>\[[0-9A-Fa-f:.%]+\]|[^\s:/?#@\[\]]+):(?P<port>[0-9]{1,5})")
_SCHEME = re.compile(r"[a-z]+://", re.IGNORECASE)
_PATIENCE = timedelta(seconds=10)
"""The time limit for the server's answer."""


async def connect(
    *,
    address: str | None = None,
    namespace: str | None = None,
    payloads: "PayloadSettings | None" = None,
    interceptors: Sequence[Interceptor] = (),
) -> Client:
    """Return a client of the cluster that the environment names (`TEMPORAL_ADDRESS`, `TEMPORAL_API_KEY` and so on).

    *payloads* says how payloads are encoded in transit; *interceptors* see the requests to the server.
    Raises ServerUnavailableError if no server answers there in time (`SWF_SERVER_TIMEOUT`), and UsageError if it has no
    such namespace.
    """
    config = configured()
    if address is not None:
        config["target_host"] = address
    if namespace is not None:
        config["namespace"] = namespace
    config.setdefault("target_host", f"{DEFAULT_HOST}:{DEFAULT_PORT}")
    _refuse_malformed(config["target_host"], "the address" if address is not None else "TEMPORAL_ADDRESS")
    converter = converter_of(payloads, config.get("namespace", DEFAULT_NAMESPACE))
    end_after_native_threads()  # those of the SDK tell the event loop of answers
    connecting = Client.connect(
        **config,
        data_converter=converter,
        interceptors=interceptors,
        header_codec_behavior=HeaderCodecBehavior.CODEC if converter.payload_codec else HeaderCodecBehavior.NO_CODEC,
    )
    return await answered(
        config["target_host"], _with_namespace(connecting, config["target_host"], tls=config.get("tls"))
    )


def _refuse_malformed(address: str, named_by: str) -> None:
    """Raise UsageError unless *address* is HOST:PORT. *named_by* says where it was given."""
    if _is_address(address):
        return
    bare = _SCHEME.sub("", address).rstrip("/")
    meant = next((one for one in (bare, f"{bare}:{DEFAULT_PORT}") if _is_address(one)), None)
    example = f"it is written HOST:PORT, as in {DEFAULT_HOST}:{DEFAULT_PORT}"
    hint = example if meant is None else f"it is written HOST:PORT; did you mean {meant!r}?"
    raise UsageError(f"{named_by} is {address!r}", hint)


def _is_address(text: str) -> bool:
    found = _FORM.fullmatch(text)
    return found is not None and 0 < int(found["port"]) <= MAX_PORT


async def _with_namespace(connecting: Awaitable[Client], host: str, *, tls: TLSConfig | bool | None) -> Client:
    """Return the client that *connecting* to *host* yields, if its namespace exists."""
    try:
        client = await connecting
    except (RuntimeError, ValueError, RPCError) as error:
        trouble = trouble_of(error, tls=tls)
        text = f"the server at {host} cannot be used" if trouble.is_refusal else f"no Temporal server answers at {host}"
        kind = UsageError if trouble.is_refusal else ServerUnavailableError
        raise kind(f"{text}: {trouble.what}", trouble.hint) from None
    await _refuse_unknown_namespace(client)
    return client


def configured() -> dict[str, Any]:
    """Return the server's settings from the environment and the user's Temporal configuration. Raises UsageError.

    Unknown keys in the configuration file are logged: they may be those of a newer SDK, or mistyped.
    """
    load = ClientConfig.load_client_connect_config
    try:
        found = load()
    except OSError as error:
        text = f"{error.filename}, which the configuration of Temporal names, cannot be read: {error.strerror}"
        raise UsageError(text, f"see {_FILES}") from None
    except Exception as error:  # noqa: BLE001 - the library has no public class for what it raises
        hint = "see TEMPORAL_PROFILE and TEMPORAL_CONFIG_FILE"
        raise UsageError(f"the configuration of Temporal cannot be used: {error}", hint) from None
    try:
        load(config_file_strict=True)
    except Exception as error:  # noqa: BLE001 - as above
        _warn_of_unknown(str(error))
    tls = found.get("tls")
    authority = tls.server_root_ca_cert if isinstance(tls, TLSConfig) else None
    if authority is not None and b"-----BEGIN" not in authority:
        text = "the file of the authority that signed the server's certificate has no certificate"
        raise UsageError(text, "TEMPORAL_TLS_SERVER_CA_CERT_PATH names a PEM file")
    return dict(found)


@cache
def _warn_of_unknown(what: str) -> None:
    _log.warning("the configuration of Temporal has unknown settings: %s", what.strip())


async def _refuse_unknown_namespace(client: Client) -> None:
    request = DescribeNamespaceRequest(namespace=client.namespace)
    try:
        await client.workflow_service.describe_namespace(request)
    except RPCError as error:
        # A caller without the right to describe it may still have the right to use it.
        if error.status == RPCStatusCode.NOT_FOUND:
            raise _no_namespace(client) from None


async def refuse_unless_readable(client: Client) -> None:
    """Raise UsageError if the server does not let *client* ask for instances, for example for lack of permission.

    A namespace that the caller may not describe may also be missing: connecting does not reveal that.
    """
    host, namespace = client.service_client.config.target_host, client.namespace
    try:
        await client.get_workflow_handle("swf").describe(rpc_timeout=_PATIENCE)
    except RPCError as error:
        if error.status in NOT_PERMITTED:
            text = f"the server at {host} does not let the caller ask for instances in the namespace {namespace!r}"
            raise UsageError(text, "see TEMPORAL_API_KEY, and who may use the namespace") from None
        if error.status != RPCStatusCode.NOT_FOUND:
            raise refused_by_server(error, f"the server at {host} does not answer for {namespace!r}") from None
        if error.message.lower().startswith("namespace"):
            raise _no_namespace(client) from None


def _no_namespace(client: Client) -> UsageError:
    host = client.service_client.config.target_host
    return UsageError(
        f"the server at {host} has no namespace {client.namespace!r}",
        "name another, or set TEMPORAL_NAMESPACE",
    )
