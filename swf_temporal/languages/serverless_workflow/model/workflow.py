"""A whole workflow definition, with the functions, events, retries, errors and authentications that it defines."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final, Literal

from pydantic import Field

from swf_temporal.base.data import JSON
from swf_temporal.languages.serverless_workflow.model.node import Node, Template, Text
from swf_temporal.languages.serverless_workflow.model.states import State
from swf_temporal.text.origin import UNWRITTEN, Source

LANGUAGE_NAME: Final = "serverless-workflow"
"""The name of the language in records and descriptions."""

REQUEST_FACTS: Final[Mapping[str, JSON]] = {
    "headers": {}, "identity": "anonymous",
    "prevActionResult": None, "statusCode": None, "statusMessage": None, "responseHeaders": {}, "python": {},
    "variables": {},
}  # fmt: skip
"""The further fields of `$WORKFLOW` if a version `tells_of_requests`, with their initial values."""


class DataFlowKind(Enum):
    """The kinds of data flow between a state, its actions and events, implemented in `execution/data_flow.py`."""

    MERGING = auto()
    """Filters select, and results are merged."""
    REPLACING = auto()
    """Like merging, but an array replaces another one, and so do the results of iterations; values of different kinds
    are both kept."""
    KEYED_MERGING = auto()
    """The value that a path selects is merged under the last name on the path."""
    LAST_KEYS = auto()
    """The value that a path selects is put into the data under the last key of the path."""
    PIPELINE = auto()
    """The output of each part is the input of the next."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LanguageVersion:
    """The semantics and words by which a version of the language differs from others."""

    name: str
    """Its name in descriptions and options, such as "0.8"."""
    state_word: str = "state"
    """The word for a state. Definitions hold their states under the plural of it."""
    handler: str = "onErrors entry"
    """The words for the part of a state that handles an error."""
    slow_call: str = (
        "give it a timeout (actionExecTimeout), or mark it as long-running (longRunning: 'true' in the metadata of the "
        "function, or onParentComplete: continue of the sub-workflow)"
    )
    """Advice for authors about a call that delays its instance."""
    data_flow: DataFlowKind = DataFlowKind.MERGING
    expression_lang: str | None = None
    """The expression language of this version only, in addition to the common ones."""
    path_synonyms: Mapping[str, str] = field(default_factory=dict)
    """Names in paths of its examples that differ from its text."""
    closest_handler: bool = False
    """Whether the most specific handler of an error is taken, and not the first that covers it."""
    tells_of_requests: bool = False
    """Whether `$WORKFLOW` has the request that started the instance and the responses of calls, and whether a state
    that ends can fail the instance with a message in its metadata."""
    narrow_truths: bool = False
    """Whether conditions hold only for true, the text "true" and numbers except 0, not for all but false and null."""
    filters_objects: bool = False
    """Whether a filter in a JSONPath applies to an object itself, and not to its members."""
    defines_errors: bool = True
    """Whether errors must be defined, and not just named where they are handled."""
    has_semantic_versions: bool = False
    """Whether the versions of workflows follow semantic versioning."""

    @property
    def states_key(self) -> str:
        """The key under which definitions hold their states."""
        return f"{self.state_word}s"


class AuthRef(Node):
    """The authentication of a function: for fetching its document and for calling it."""

    resource: str | None = None
    invocation: str | None = None


class Function(Node):
    """A function that a workflow can call (section "Function Definition")."""

    name: Text
    type: str = "rest"
    """rest, asyncapi, rpc, graphql, odata, expression or custom; any other word is a custom type."""
    operation: Template = None
    """The operation that is called, in the form that the type requires; a text except for plain HTTP."""
    auth_ref: AuthRef | None = None
    metadata: dict[str, Template] = Field(default_factory=dict)


class Correlation(Node):
    """A context attribute by which an event is recognised as belonging to this instance."""

    context_attribute_name: Text
    context_attribute_value: Template = None
    path: str | None = Field(default=None, alias="@path")
    """The path of the value in the event, in the draft of November 2019; the attribute is only the value's name."""


class Event(Node):
    """An event that a workflow consumes or produces (section "Event Definition")."""

    name: Text
    source: str | None = None
    type: Text | None = None
    kind: Literal["consumed", "produced"] = "consumed"
    correlation: tuple[Correlation, ...] = ()
    data_only: bool = True
    metadata: dict[str, Template] = Field(default_factory=dict)


class Error(Node):
    """An error that a workflow knows by name (section "Error Definition")."""

    name: Text
    code: Text | None = None
    description: str | None = None


class Retry(Node):
    """A retry definition: how often and when an action is retried (section "Retry Definition")."""

    name: Text
    delay: str | None = None
    max_attempts: int | str | None = None
    """Includes the first attempt. 0 and 1 both mean no retries; none means no limit."""
    counts_retries: bool = Field(default=False, alias="@countsRetries")
    """Whether `maxAttempts` excludes the first attempt, as before 0.7."""
    max_delay: str | None = None
    increment: str | None = None
    multiplier: float | str | None = None
    jitter: float | str | None = None
    """A fraction of the delay, or a duration."""


class Auth(Node):
    """Credentials that functions refer to (section "Auth Definition")."""

    name: Text
    scheme: str = "basic"
    properties: Template = None
    """The name of a secret, or an object whose fields depend on the scheme."""


class Cron(Node):
    """A calendar rule and its expiry (section "Cron Definition")."""

    expression: str
    valid_until: str | None = None


class Schedule(Node):
    """A schedule by which instances are created (section "Schedule Definition")."""

    interval: str | None = None
    cron: Cron | None = None
    timezone: str | None = None


class Start(Node):
    """The state to start in, and the schedule (section "Start Definition")."""

    state_name: str | None = None
    schedule: Schedule | None = None
    window: str | None = Field(default=None, alias="@window")
    """The interval in which runs may start, in the draft of May 2020."""


class DataSchema(Node):
    """The JSON Schema that a workflow's input or output must fit."""

    schema_: Template = Field(alias="schema")
    """A URI, or the schema itself."""
    fail_on_validation_errors: bool = True


class WorkflowExecTimeout(Node):
    """The timeout of a workflow (section "WorkflowExecTimeout Definition")."""

    duration: str
    interrupt: bool = True
    run_before: Text | None = None


class WorkflowTimeouts(Node):
    """The timeouts of a workflow, and those that its states inherit (section "Workflow Timeouts")."""

    workflow_exec_timeout: WorkflowExecTimeout | None = None
    state_exec_timeout: str | None = None
    single_state_exec_timeout: str | None = Field(default=None, alias="stateExecTimeout.single")
    """The `single` of a `stateExecTimeout` that also has a `total`."""
    action_exec_timeout: str | None = None
    branch_exec_timeout: str | None = None
    event_timeout: str | None = None


class External(Node):
    """Definitions in another document, given by its URI."""

    uri: str


class Workflow(Node):
    """A workflow definition (section "Workflow Definition Structure")."""

    id: Text
    key: Text | None = None
    name: Text | None = None
    version: Text | None = None
    description: str | None = None
    spec_version: Text | None = None
    annotations: tuple[Text, ...] = ()
    data_input_schema: DataSchema | None = None
    data_output_schema: DataSchema | None = None
    constants: dict[str, Template] = Field(default_factory=dict)
    secrets: tuple[Text, ...] = ()
    start: Start = Start()
    expression_lang: str = "jq"
    timeouts: WorkflowTimeouts = WorkflowTimeouts()
    errors: tuple[Error, ...] = ()
    keep_active: bool = False
    auth: tuple[Auth, ...] = ()
    events: tuple[Event, ...] = ()
    functions: tuple[Function, ...] = ()
    auto_retries: bool = False
    retries: tuple[Retry, ...] = ()
    states: tuple[State, ...]
    extensions: tuple[Template, ...] = ()
    metadata: dict[str, Template] = Field(default_factory=dict)

    language_version: LanguageVersion = Field(alias="@version", exclude=True, repr=False)
    """Its language version: one of `reading/versions`."""
    externals: dict[str, External] = Field(default_factory=dict)
    """The URIs that were written in place of `functions`, `events` and the like."""
    source: Source = Field(default=UNWRITTEN, exclude=True, repr=False)

    @property
    def digest(self) -> str:
        """The SHA-256 of the text that the definition was read from."""
        return self.source.digest

    @property
    def start_state(self) -> str:
        """The name of the state where instances start: that of `start`, else the first; empty without states."""
        first = self.states[0].name if self.states else ""
        return first if self.start.state_name is None else self.start.state_name
