"""The model of a definition and its tasks."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias, TypeVar

from pydantic import BeforeValidator, Discriminator, Field, Tag

from swf_temporal.languages.dsl.model.arguments import (
    A2AArguments,
    AsyncApiMessage,
    AsyncApiServer,
    Container,
    GrpcArguments,
    HttpArguments,
    McpArguments,
    McpTransport,
    OpenApiArguments,
    Script,
    Shell,
)
from swf_temporal.languages.dsl.model.node import (
    ONLY,
    Duration,
    Expression,
    FreeForm,
    NamedValue,
    Node,
    Number,
    Template,
    Text,
    TextOr,
    Truth,
)
from swf_temporal.languages.dsl.model.parts import (
    SCHEMES,
    Authentication,
    Backoff,
    Catalog,
    DataSchema,
    ErrorDefinition,
    ErrorFilter,
    EventStrategy,
    Export,
    ExternalResource,
    Input,
    Output,
    RetryPolicy,
    Timeout,
)
from swf_temporal.languages.dsl.names import NAME_FORM, VERSION_FORM
from swf_temporal.text.model_errors import wrong_form
from swf_temporal.text.origin import Object, Where


def _named(items: object) -> object:
    """Return a list of objects with one key each as a list of names and values."""
    if not isinstance(items, list):
        return items
    found = []
    for item in items:
        if not isinstance(item, dict) or len(item) != 1:
            raise wrong_form("a list of objects with one key each, its name")
        ((name, value),) = item.items()
        where = Where(item.where.key(name), {}) if isinstance(item, Object) else None
        found.append({"name": name, ONLY: value, **({} if where is None else {"@": where})})
    return found


T = TypeVar("T")

Named: TypeAlias = Annotated[tuple[T, ...], BeforeValidator(_named)]
"""A list of objects with one key each: names, and what they name."""


class TaskBase(Node):
    """The properties that every task may have."""

    kind: ClassVar[str]
    """The key that makes it a task of its type."""
    if_: Expression | None = Field(default=None, alias="if")
    input: Input | None = None
    output: Output | None = None
    export: Export | None = None
    timeout: TextOr[Timeout] | None = None
    then: Text | None = None
    metadata: FreeForm = Field(default_factory=dict)


class SubscriptionLifetime(Node):
    """How long messages are consumed."""

    for_: Duration | None = Field(default=None, alias="for")
    amount: Number | None = None
    while_: Expression | None = Field(default=None, alias="while")
    until: Expression | None = None


class SubscriptionIterator(Node):
    """The tasks for each consumed event or message."""

    item: Text = "item"
    at: Text = "index"
    do: "TaskList" = ()
    output: Output | None = None
    export: Export | None = None


class AsyncApiSubscription(Node):
    """A subscription to messages."""

    filter: Expression | None = None
    consume: SubscriptionLifetime
    foreach: SubscriptionIterator | None = None


class AsyncApiArguments(Node):
    """The arguments of `call: asyncapi`."""

    document: ExternalResource
    channel: Text | None = None
    operation: Text | None = None
    server: AsyncApiServer | None = None
    protocol: Text | None = None
    message: AsyncApiMessage | None = None
    subscription: AsyncApiSubscription | None = None
    authentication: Authentication | None = None


class CallHttp(TaskBase):
    """Calls a service by HTTP."""

    kind = "call"
    call: Literal["http"]
    with_: HttpArguments = Field(alias="with")


class CallOpenApi(TaskBase):
    """Calls an operation of an OpenAPI document."""

    kind = "call"
    call: Literal["openapi"]
    with_: OpenApiArguments = Field(alias="with")


class CallGrpc(TaskBase):
    """Calls a method of a gRPC service."""

    kind = "call"
    call: Literal["grpc"]
    with_: GrpcArguments = Field(alias="with")


class CallAsyncApi(TaskBase):
    """Publishes or consumes messages of an AsyncAPI document."""

    kind = "call"
    call: Literal["asyncapi"]
    with_: AsyncApiArguments = Field(alias="with")


class CallMcp(TaskBase):
    """Calls a method of an MCP server."""

    kind = "call"
    call: Literal["mcp"]
    with_: McpArguments = Field(alias="with")


class CallA2A(TaskBase):
    """Calls a method of an A2A agent."""

    kind = "call"
    call: Literal["a2a"]
    with_: A2AArguments = Field(alias="with")


class CallFunction(TaskBase):
    """Runs a function of the definition, of a catalog, or at a URL."""

    kind = "call"
    call: Text = Field(json_schema_extra={"not": {"enum": ["http", "openapi", "grpc", "asyncapi", "mcp", "a2a"]}})
    with_: Template = Field(default=None, alias="with")


class DoTask(TaskBase):
    """Runs tasks one after the other."""

    kind = "do"
    do: "TaskList"


class EmittedEvent(Node):
    """An event to emit."""

    with_: Template = Field(alias="with")


class Emit(Node):
    """The event that an emit task emits."""

    event: EmittedEvent


class EmitTask(TaskBase):
    """Emits an event."""

    kind = "emit"
    emit: Emit


class Loop(Node):
    """The collection of a for task, and the names of its variables."""

    each: Text = "item"
    in_: Template = Field(alias="in")
    at: Text = "index"


class ForTask(TaskBase):
    """Runs tasks for each item of a collection, one item after the other."""

    kind = "for"
    for_: Loop = Field(alias="for")
    while_: Expression | None = Field(default=None, alias="while")
    do: "TaskList"


class Fork(Node):
    """The branches of a fork task."""

    branches: "TaskList" = ()
    compete: Truth = False


class ForkTask(TaskBase):
    """Runs tasks concurrently."""

    kind = "fork"
    fork: Fork


class Listen(Node):
    """The events of a listen task, and what of them is its output."""

    to: EventStrategy
    read: Literal["data", "envelope", "raw"] = "data"


class ListenTask(TaskBase):
    """Consumes events."""

    kind = "listen"
    listen: Listen
    foreach: SubscriptionIterator | None = None


class Raise(Node):
    """The error of a raise task."""

    error: TextOr[ErrorDefinition]


class RaiseTask(TaskBase):
    """Raises an error."""

    kind = "raise"
    raise_: Raise = Field(alias="raise")


class WorkflowProcess(Node):
    """Another workflow to run."""

    namespace: Text
    name: Text
    version: Text
    input: Template = None


class Run(Node):
    """The process that a run task runs: one of these."""

    container: Container | None = None
    script: Script | None = None
    shell: Shell | None = None
    workflow: WorkflowProcess | None = None
    await_: Truth = Field(default=True, alias="await")
    return_: Literal["stdout", "stderr", "code", "all", "none"] = Field(default="stdout", alias="return")


class RunTask(TaskBase):
    """Runs a process or another workflow."""

    kind = "run"
    run: Run


class SetTask(TaskBase):
    """Sets the data."""

    kind = "set"
    set: Template


class Case(Node):
    """A case of a switch task."""

    when: Expression | None = None
    then: Text


class NamedCase(NamedValue):
    """A case and its name."""

    case: Case = Field(alias=ONLY)


class SwitchTask(TaskBase):
    """Chooses the next task."""

    kind = "switch"
    switch: Named[NamedCase]


class CatchErrors(Node):
    """The errors that are caught."""

    with_: ErrorFilter | None = Field(default=None, alias="with")


class Catch(Node):
    """The errors that a try task catches, and the tasks that handle them."""

    errors: CatchErrors | None = None
    as_: Text = Field(default="error", alias="as")
    when: Expression | None = None
    except_when: Expression | None = Field(default=None, alias="exceptWhen")
    retry: TextOr[RetryPolicy] | None = None
    do: "TaskList" = ()
    then: Text | None = None


class TryTask(TaskBase):
    """Runs tasks, and handles their errors."""

    kind = "try"
    try_: "TaskList" = Field(alias="try")
    catch: Catch


class WaitTask(TaskBase):
    """Waits for a duration."""

    kind = "wait"
    wait: Duration


TASK_TYPES: Final = ("call", "do", "emit", "for", "fork", "listen", "raise", "run", "set", "switch", "try", "wait")
"""The types of tasks: the keys that make a task one of a type."""
BUILT_IN: Final = ("http", "openapi", "grpc", "asyncapi", "mcp", "a2a")
"""The functions that every definition may call."""
TASKS: Final[tuple[type[TaskBase], ...]] = (
    CallHttp, CallOpenApi, CallGrpc, CallAsyncApi, CallMcp, CallA2A, CallFunction, DoTask, EmitTask, ForTask, ForkTask,
    ListenTask, RaiseTask, RunTask, SetTask, SwitchTask, TryTask, WaitTask,
)  # fmt: skip
"""The models of tasks."""


def type_of(task: Any) -> str | None:
    """Return the type of a *task* as it is written, or None if it has none."""
    if isinstance(task, TaskBase):
        return task.kind
    if not isinstance(task, dict):
        return None
    # `do` is also a key of `for`, so it is looked for last.
    return next((kind for kind in (*(one for one in TASK_TYPES if one != "do"), "do") if kind in task), None)


def _tag(task: Any) -> str | None:
    found = type_of(task)
    if found != "call":
        return None if found is None else f"*{found}*"
    called = task.get("call") if isinstance(task, dict) else task.call
    return f"*call {called}*" if called in BUILT_IN else "*call*"


Task: TypeAlias = Annotated[
    Annotated[CallHttp, Tag("*call http*")]
    | Annotated[CallOpenApi, Tag("*call openapi*")]
    | Annotated[CallGrpc, Tag("*call grpc*")]
    | Annotated[CallAsyncApi, Tag("*call asyncapi*")]
    | Annotated[CallMcp, Tag("*call mcp*")]
    | Annotated[CallA2A, Tag("*call a2a*")]
    | Annotated[CallFunction, Tag("*call*")]
    | Annotated[DoTask, Tag("*do*")]
    | Annotated[EmitTask, Tag("*emit*")]
    | Annotated[ForTask, Tag("*for*")]
    | Annotated[ForkTask, Tag("*fork*")]
    | Annotated[ListenTask, Tag("*listen*")]
    | Annotated[RaiseTask, Tag("*raise*")]
    | Annotated[RunTask, Tag("*run*")]
    | Annotated[SetTask, Tag("*set*")]
    | Annotated[SwitchTask, Tag("*switch*")]
    | Annotated[TryTask, Tag("*try*")]
    | Annotated[WaitTask, Tag("*wait*")],
    Discriminator(_tag),
]


class NamedTask(NamedValue):
    """A task and its name."""

    task: Task = Field(alias=ONLY)


TaskList: TypeAlias = Named[NamedTask]


class Extension(Node):
    """Tasks that run before and after those of a type."""

    extend: Literal[
        "call", "composite", "emit", "extension", "for", "fork", "listen", "raise", "run", "set", "switch", "try",
        "wait", "all",
    ]  # fmt: skip
    when: Expression | None = None
    before: TaskList = ()
    after: TaskList = ()


class NamedExtension(NamedValue):
    """An extension and its name."""

    extension: Extension = Field(alias=ONLY)


class Use(Node):
    """The components that a definition can refer to by name."""

    authentications: Mapping[str, Authentication] = Field(default_factory=dict)
    catalogs: Mapping[str, Catalog] = Field(default_factory=dict)
    errors: Mapping[str, ErrorDefinition] = Field(default_factory=dict)
    extensions: Named[NamedExtension] = ()
    functions: Mapping[str, Task] = Field(default_factory=dict)
    retries: Mapping[str, RetryPolicy] = Field(default_factory=dict)
    secrets: tuple[Text, ...] = ()
    timeouts: Mapping[str, Timeout] = Field(default_factory=dict)


class Document(Node):
    """The identity and description of a definition."""

    dsl: Text = Field(json_schema_extra={"pattern": f"^{VERSION_FORM}$"})
    namespace: Text = Field(json_schema_extra={"pattern": f"^{NAME_FORM}$"})
    name: Text = Field(json_schema_extra={"pattern": f"^{NAME_FORM}$"})
    version: Text = Field(json_schema_extra={"pattern": f"^{VERSION_FORM}$"})
    title: Text | None = None
    summary: Text | None = None
    tags: FreeForm = Field(default_factory=dict)
    metadata: FreeForm = Field(default_factory=dict)


class Schedule(Node):
    """When instances start by themselves."""

    every: Duration | None = None
    cron: Text | None = None
    after: Duration | None = None
    on: EventStrategy | None = None
    read: Literal["data", "envelope", "raw"] | None = None


class Evaluate(Node):
    """The language of runtime expressions, and how they are marked."""

    language: Text = "jq"
    mode: Literal["strict", "loose"] = "strict"


class Workflow(Node):
    """A definition."""

    document: Document
    input: Input | None = None
    use: Use = Use()
    do: TaskList
    timeout: TextOr[Timeout] | None = None
    output: Output | None = None
    schedule: Schedule | None = None
    evaluate: Evaluate = Evaluate()


ONE_OF: Final[Mapping[type[Node], tuple[str, tuple[str, ...]]]] = {
    AsyncApiArguments: ("the call", ("channel", "operation")),
    Authentication: ("the policy", ("use", *SCHEMES)),
    Backoff: ("backoff", ("constant", "linear", "exponential")),
    DataSchema: ("the schema", ("document", "resource")),
    EventStrategy: ("the event consumption strategy", ("one", "any", "all")),
    McpTransport: ("transport", ("http", "stdio")),
    Run: ("run", ("container", "script", "shell", "workflow")),
    Schedule: ("schedule", ("every", "cron", "after", "on")),
    Script: ("script", ("code", "source")),
    SubscriptionLifetime: ("consume", ("amount", "while", "until")),
}
"""The nodes with alternatives: what each is called in messages, and the keys of which exactly one must be written."""
