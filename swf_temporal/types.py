"""The types in signatures of the public interface, beside those that the package itself has.

They are for annotations and, settings among them, to be constructed. They are imported when they are first used, as the
names of the package are.
"""

from typing import TYPE_CHECKING

from swf_temporal import lazily_imported

__all__ = [
    "Address",
    "Auth",
    "AuthRef",
    "CallSettings",
    "Callee",
    "ChildWorkflow",
    "Concurrency",
    "ConsumerSettings",
    "ContainerRunner",
    "CorrelationRule",
    "Credentials",
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
    "KubernetesRunner",
    "LogFormat",
    "LogLevel",
    "Network",
    "Options",
    "PayloadSettings",
    "Rate",
    "Resources",
    "Runners",
    "ScriptLanguage",
    "Server",
    "SharedFolder",
    "SimulatedInstance",
    "SimulationError",
    "SinkSettings",
    "Source",
    "StorageSettings",
    "Tls",
    "TraceEntry",
    "TraceKind",
    "Versioning",
    "WorkflowRef",
    "WrittenIn",
]

if TYPE_CHECKING:
    from swf_temporal.base.calls import Auth, AuthRef, Function
    from swf_temporal.base.function_types import Callee
    from swf_temporal.drawing.outline import WorkflowRef
    from swf_temporal.events.custom import EventSink, EventSource
    from swf_temporal.functions.port import FunctionType
    from swf_temporal.languages.port import Concurrency, EventUse, FunctionUse, WrittenIn
    from swf_temporal.languages.triggers import CorrelationRule
    from swf_temporal.runtime.host import TraceEntry, TraceKind
    from swf_temporal.sdk.served import Definitions
    from swf_temporal.settings.calls import CallSettings, HostOptions, Options
    from swf_temporal.settings.events import ConsumerSettings, Credentials, EventSettings, SinkSettings
    from swf_temporal.settings.forms import Rate, SharedFolder
    from swf_temporal.settings.network import HostPattern, Network, Tls
    from swf_temporal.settings.payloads import EncryptionSettings, PayloadSettings, StorageSettings
    from swf_temporal.settings.runners import ContainerRunner, KubernetesRunner, Runners, ScriptLanguage
    from swf_temporal.settings.values import Address, LogFormat, LogLevel
    from swf_temporal.settings.worker import Versioning
    from swf_temporal.simulation.result import SimulatedInstance, SimulationError
    from swf_temporal.temporal.as_child import ChildWorkflow
    from swf_temporal.temporal.connected_server import Server
    from swf_temporal.text.fetching.resources import Resources
    from swf_temporal.text.origin import Source
else:
    __getattr__, __dir__ = lazily_imported(
        globals(),
        {
            "base.calls": ("Auth", "AuthRef", "Function"),
            "base.function_types": ("Callee",),
            "drawing.outline": ("WorkflowRef",),
            "events.custom": ("EventSink", "EventSource"),
            "functions.port": ("FunctionType",),
            "languages.port": ("Concurrency", "EventUse", "FunctionUse", "WrittenIn"),
            "languages.triggers": ("CorrelationRule",),
            "runtime.host": ("TraceEntry", "TraceKind"),
            "sdk.served": ("Definitions",),
            "settings.calls": ("CallSettings", "HostOptions", "Options"),
            "settings.events": ("ConsumerSettings", "Credentials", "EventSettings", "SinkSettings"),
            "settings.forms": ("Rate", "SharedFolder"),
            "settings.network": ("HostPattern", "Network", "Tls"),
            "settings.payloads": ("EncryptionSettings", "PayloadSettings", "StorageSettings"),
            "settings.runners": ("ContainerRunner", "KubernetesRunner", "Runners", "ScriptLanguage"),
            "settings.values": ("Address", "LogFormat", "LogLevel"),
            "settings.worker": ("Versioning",),
            "simulation.result": ("SimulatedInstance", "SimulationError"),
            "temporal.as_child": ("ChildWorkflow",),
            "temporal.connected_server": ("Server",),
            "text.fetching.resources": ("Resources",),
            "text.origin": ("Source",),
        },
    )
