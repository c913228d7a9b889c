"""A whole workflow definition."""

from pydantic import Field

from swf_temporal.languages.serverless_workflow.model.definitions import Auth, Error, Event, Function, Retry, Start
from swf_temporal.languages.serverless_workflow.model.node import Node, Template, Text
from swf_temporal.languages.serverless_workflow.model.states import State
from swf_temporal.languages.serverless_workflow.model.version import LanguageVersion
from swf_temporal.text.origin import UNWRITTEN, Source


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
