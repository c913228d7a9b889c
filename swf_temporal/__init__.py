"""Run Serverless Workflow definitions durably on Temporal.

The names here, and in `swf_temporal.types`, are the public interface of the package; everything else may change with
any release. They are imported when they are first used: every worker and every start of a sandboxed workflow pays for
this module.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FunctionType
from typing import TYPE_CHECKING

__version__ = "0.1.0"

__all__ = [
    "JSON",
    "AlreadyStartedError",
    "Call",
    "CallFailed",
    "Checked",
    "Client",
    "CloudEvent",
    "CurrentCall",
    "Definition",
    "InboxFullError",
    "Instance",
    "InstanceEndedError",
    "InstanceError",
    "InstanceNotFoundError",
    "InstancePausedError",
    "InvalidDefinition",
    "InvalidEventError",
    "InvalidInputError",
    "NeverTakenError",
    "NoAnswerError",
    "Plugin",
    "Position",
    "Problem",
    "Registry",
    "ReservedIdError",
    "RunEnded",
    "SecretProvider",
    "ServerUnavailableError",
    "Severity",
    "Simulation",
    "StartOptions",
    "SwfError",
    "SyncClient",
    "SyncInstance",
    "TooLargeToSendError",
    "UsageError",
    "Worker",
    "WorkerSettings",
    "WorkflowFault",
    "as_child_workflow",
    "check",
    "check_file",
    "current_call",
    "current_resource",
    "event_starts",
    "load",
    "local_server",
    "simulate",
]


@contextmanager
def outside_of_sandbox() -> Iterator[bool]:
    """Have nothing imported once more for a workflow in the SDK's sandbox; yield whether there is one.

    A module that defines a workflow may name a registry, a client or a definition as well.
    """
    temporal = sys.modules.get("temporalio.workflow")
    if temporal is None or not temporal.unsafe.in_sandbox():
        yield False
        return
    with temporal.unsafe.imports_passed_through():
        yield True


def lazily_imported(
    names: dict[str, object], homes: Mapping[str, tuple[str, ...]]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a module with the global *names*: each is imported when it is first used.

    *homes* has the names by the module that they stand in.
    """
    modules = {name: module for module, those in homes.items() for name in those}

    def get(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {names['__name__']!r} has no attribute {name!r}")
        with outside_of_sandbox() as is_inside:
            # As an import statement does, which the SDK replaces in its sandbox; see `importing`.
            value = getattr(__import__(f"swf_temporal.{modules[name]}", fromlist=(name,)), name)
        if is_inside and isinstance(value, FunctionType):
            value = outside_of_sandbox()(value)
        names[name] = value
        return value

    return get, lambda: sorted({*names, *modules})


if TYPE_CHECKING:
    from swf_temporal.base.client_errors import (
        AlreadyStartedError,
        InboxFullError,
        InstanceEndedError,
        InstanceError,
        InstanceNotFoundError,
        InstancePausedError,
        InvalidEventError,
        InvalidInputError,
        NeverTakenError,
        NoAnswerError,
        ReservedIdError,
        RunEnded,
        ServerUnavailableError,
        TooLargeToSendError,
    )
    from swf_temporal.base.cloud_event import CloudEvent
    from swf_temporal.base.data import JSON
    from swf_temporal.base.errors import (
        CallFailed,
        InvalidDefinition,
        Position,
        Problem,
        Severity,
        SwfError,
        UsageError,
        WorkflowFault,
    )
    from swf_temporal.functions.call import Call
    from swf_temporal.functions.current_call import CurrentCall, current_call, current_resource
    from swf_temporal.functions.registry import Registry
    from swf_temporal.functions.secret_providers import SecretProvider
    from swf_temporal.languages.loading import check, check_file, load
    from swf_temporal.languages.port import Checked, Definition
    from swf_temporal.operations.client import Client, Instance
    from swf_temporal.operations.sync_client import SyncClient, SyncInstance
    from swf_temporal.sdk.worker import Plugin, Worker
    from swf_temporal.settings.worker import WorkerSettings
    from swf_temporal.simulation.result import Simulation
    from swf_temporal.simulation.simulate import event_starts, simulate
    from swf_temporal.temporal.as_child import as_child_workflow
    from swf_temporal.temporal.server import local_server
    from swf_temporal.temporal.start_options import StartOptions
else:
    __getattr__, __dir__ = lazily_imported(globals(), {
        "base.client_errors": (
            "AlreadyStartedError", "InboxFullError", "InstanceEndedError", "InstanceError", "InstanceNotFoundError",
            "InstancePausedError", "InvalidEventError", "InvalidInputError", "NeverTakenError", "NoAnswerError",
            "ReservedIdError", "RunEnded", "ServerUnavailableError", "TooLargeToSendError",
        ),
        "base.cloud_event": ("CloudEvent",),
        "base.data": ("JSON",),
        "base.errors": (
            "CallFailed", "InvalidDefinition", "Position", "Problem", "Severity", "SwfError", "UsageError",
            "WorkflowFault",
        ),
        "functions.call": ("Call",),
        "functions.current_call": ("CurrentCall", "current_call", "current_resource"),
        "functions.registry": ("Registry",),
        "functions.secret_providers": ("SecretProvider",),
        "languages.loading": ("check", "check_file", "load"),
        "languages.port": ("Checked", "Definition"),
        "operations.client": ("Client", "Instance"),
        "operations.sync_client": ("SyncClient", "SyncInstance"),
        "sdk.worker": ("Plugin", "Worker"),
        "settings.worker": ("WorkerSettings",),
        "simulation.result": ("Simulation",),
        "simulation.simulate": ("event_starts", "simulate"),
        "temporal.as_child": ("as_child_workflow",),
        "temporal.server": ("local_server",),
        "temporal.start_options": ("StartOptions",),
    })  # fmt: skip
