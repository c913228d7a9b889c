"""Run Serverless Workflow definitions durably on Temporal.

The names here are the public interface of the package; everything else may change with any release. They are imported
when they are first used: every worker and every start of a sandboxed workflow pays for this module.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType as PythonFunction
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = [
    "JSON",
    "Address",
    "AlreadyStartedError",
    "Auth",
    "AuthRef",
    "Call",
    "CallFailed",
    "CallSettings",
    "Callee",
    "Checked",
    "ChildWorkflow",
    "Client",
    "CloudEvent",
    "Concurrency",
    "ConsumerSettings",
    "ContainerRunner",
    "CorrelationRule",
    "Credentials",
    "CurrentCall",
    "Definition",
    "Definitions",
    "EncryptionSettings",
    "EventSettings",
    "EventSink",
    "EventSource",
    "EventUse",
    "Function",
    "FunctionType",
    "FunctionUse",
    "HostOptions",
    "HostPattern",
    "InboxFullError",
    "Instance",
    "InstanceEndedError",
    "InstanceError",
    "InstanceNotFoundError",
    "InstancePausedError",
    "InvalidDefinition",
    "InvalidEventError",
    "InvalidInputError",
    "KubernetesRunner",
    "LogFormat",
    "LogLevel",
    "Network",
    "NeverTakenError",
    "NoAnswerError",
    "Options",
    "PayloadSettings",
    "Plugin",
    "Position",
    "Problem",
    "Rate",
    "Registry",
    "ReservedIdError",
    "Resources",
    "RunEnded",
    "Runners",
    "ScriptLanguage",
    "SecretProvider",
    "Server",
    "ServerUnavailableError",
    "Severity",
    "SharedFolder",
    "SimulatedInstance",
    "Simulation",
    "SimulationError",
    "SinkSettings",
    "Source",
    "StartOptions",
    "StorageSettings",
    "SwfError",
    "SyncClient",
    "SyncInstance",
    "Tls",
    "TooLargeToSendError",
    "TraceEntry",
    "TraceKind",
    "UsageError",
    "Versioning",
    "Worker",
    "WorkerSettings",
    "WorkflowFault",
    "WorkflowRef",
    "WrittenIn",
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


if TYPE_CHECKING:
    from swf_temporal.base.calls import Auth, AuthRef, Function
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
    from swf_temporal.base.function_types import Callee
    from swf_temporal.drawing.outline import WorkflowRef
    from swf_temporal.events.channels import EventSink, EventSource
    from swf_temporal.functions.call import Call, CurrentCall, current_call, current_resource
    from swf_temporal.functions.port import FunctionType
    from swf_temporal.functions.registry import Registry
    from swf_temporal.functions.secrets import SecretProvider
    from swf_temporal.languages.loading import check, check_file, load
    from swf_temporal.languages.port import Checked, Concurrency, Definition, EventUse, FunctionUse, WrittenIn
    from swf_temporal.languages.triggers import CorrelationRule
    from swf_temporal.operations.client import Client, Instance
    from swf_temporal.operations.sync_client import SyncClient, SyncInstance
    from swf_temporal.runtime.host import TraceEntry, TraceKind
    from swf_temporal.sdk.definitions import Definitions
    from swf_temporal.sdk.worker import Plugin, Worker
    from swf_temporal.settings.calls import (
        CallSettings,
        ContainerRunner,
        HostOptions,
        KubernetesRunner,
        Options,
        Runners,
        ScriptLanguage,
    )
    from swf_temporal.settings.events import ConsumerSettings, Credentials, EventSettings, SinkSettings
    from swf_temporal.settings.forms import Rate, SharedFolder
    from swf_temporal.settings.network import HostPattern, Network, Tls
    from swf_temporal.settings.payloads import EncryptionSettings, PayloadSettings, StorageSettings
    from swf_temporal.settings.values import Address, LogFormat, LogLevel
    from swf_temporal.settings.worker import Versioning, WorkerSettings
    from swf_temporal.simulation.result import SimulatedInstance, Simulation, SimulationError
    from swf_temporal.simulation.simulate import event_starts, simulate
    from swf_temporal.temporal.children import ChildWorkflow, as_child_workflow
    from swf_temporal.temporal.connecting import Server
    from swf_temporal.temporal.server import local_server
    from swf_temporal.temporal.start_options import StartOptions
    from swf_temporal.text.fetching.resources import Resources
    from swf_temporal.text.origin import Source
else:
    _HOMES = {
        "base.calls": ("Auth", "AuthRef", "Function"),
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
        "base.function_types": ("Callee",),
        "drawing.outline": ("WorkflowRef",),
        "events.channels": ("EventSink", "EventSource"),
        "functions.call": ("Call", "CurrentCall", "current_call", "current_resource"),
        "functions.port": ("FunctionType",),
        "functions.registry": ("Registry",),
        "functions.secrets": ("SecretProvider",),
        "languages.loading": ("check", "check_file", "load"),
        "languages.port": ("Checked", "Concurrency", "Definition", "EventUse", "FunctionUse", "WrittenIn"),
        "languages.triggers": ("CorrelationRule",),
        "operations.client": ("Client", "Instance"),
        "operations.sync_client": ("SyncClient", "SyncInstance"),
        "runtime.host": ("TraceEntry", "TraceKind"),
        "sdk.definitions": ("Definitions",),
        "sdk.worker": ("Plugin", "Worker"),
        "settings.calls": (
            "CallSettings", "ContainerRunner", "HostOptions", "KubernetesRunner", "Options", "Runners",
            "ScriptLanguage",
        ),
        "settings.events": ("ConsumerSettings", "Credentials", "EventSettings", "SinkSettings"),
        "settings.forms": ("Rate", "SharedFolder"),
        "settings.network": ("HostPattern", "Network", "Tls"),
        "settings.payloads": ("EncryptionSettings", "PayloadSettings", "StorageSettings"),
        "settings.values": ("Address", "LogFormat", "LogLevel"),
        "settings.worker": ("Versioning", "WorkerSettings"),
        "simulation.result": ("SimulatedInstance", "Simulation", "SimulationError"),
        "simulation.simulate": ("event_starts", "simulate"),
        "temporal.children": ("ChildWorkflow", "as_child_workflow"),
        "temporal.connecting": ("Server",),
        "temporal.server": ("local_server",),
        "temporal.start_options": ("StartOptions",),
        "text.fetching.resources": ("Resources",),
        "text.origin": ("Source",),
    }  # fmt: skip
    """The public names by the module that they stand in."""
    _MODULES = {name: module for module, names in _HOMES.items() for name in names}

    def __getattr__(name: str) -> Any:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        with outside_of_sandbox() as is_inside:
            # As an import statement does, which the SDK replaces in its sandbox; see `importing`.
            value = getattr(__import__(f"swf_temporal.{_MODULES[name]}", fromlist=(name,)), name)
        if is_inside and isinstance(value, PythonFunction):
            value = outside_of_sandbox()(value)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *_MODULES})
