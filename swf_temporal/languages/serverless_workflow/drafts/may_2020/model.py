"""The model of the May 2020 draft: tasks, their parts, and the scopes that contain them.

The draft's predecessor calls tasks states. It is the same language with other names, so this model is used for both.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from swf_temporal.languages.serverless_workflow.model.node import Node, Template, Text
from swf_temporal.text.origin import UNWRITTEN, Source

ActionMode = Literal["sequential", "parallel"]
Operator = Literal[
    "exists", "notexists", "null", "notnull", "equals", "notequals", "lessthan", "lessthanorequals", "greaterthan",
    "greaterthanorequals", "matches", "notmatches", "custom",
]  # fmt: skip


class Function(Node):
    """A function that actions call (section "Function Definition")."""

    name: Text
    resource: Text | None = None
    """The operation that is called: an OpenAPI document with `#operation`, or what the type requires."""
    type: Text | None = None
    """Any word. If it is not a supported type, the worker must register the function by its name."""
    metadata: dict[str, Template] = Field(default_factory=dict)


class Event(Node):
    """An event that a workflow consumes or produces (section "Event Definition")."""

    name: Text
    source: Text | None = None
    type: Text
    correlation_token: Text | None = None
    """The context attribute that events of one instance share."""
    metadata: dict[str, Template] = Field(default_factory=dict)


class Expression(Node):
    """A condition and its language (section "Expression Definition")."""

    language: str | None = None
    body: Text


class ProduceEvent(Node):
    """An event to produce, and its data (section "ProduceEvent Definition")."""

    event_ref: Text
    data: Template = None
    """A path into the data output of the task, or an object."""


class Transition(Node):
    """A transition from a task to the next (section "Transition Definition")."""

    next_task: Text
    expression: Expression | None = None
    produce_event: ProduceEvent | None = None


class Schedule(Node):
    """The interval in which a start task is active (section "Schedule Definition")."""

    interval: str


class Start(Node):
    """The start of a workflow, branch or iteration, in its first task (section "Start Definition")."""

    kind: Literal["default", "scheduled"]
    schedule: Schedule | None = None


class End(Node):
    """An end of a workflow, branch or iteration, in its last tasks (section "End Definition")."""

    kind: Literal["default", "terminate", "event"]
    produce_event: ProduceEvent | None = None


class TaskDataFilter(Node):
    """A filter of a task's input and output (section "Task Data Filter")."""

    data_input_path: str | None = None
    data_output_path: str | None = None


class ActionDataFilter(Node):
    """A filter of the data that an action gets, and of the result that it merges (section "Action Data Filter")."""

    data_input_path: str | None = None
    data_results_path: str | None = None


class EventDataFilter(Node):
    """A filter of the event that is merged into the task's data (section "Event Data Filter")."""

    data_output_path: str | None = None


class ErrorDataFilter(Node):
    """A filter of the error that is merged into the task's data (section "Error Data Filter")."""

    data_output_path: str | None = None


class Error(Node):
    """A handler of the errors that match an expression, with its transition (section "Error Definition")."""

    expression: Expression
    error_data_filter: ErrorDataFilter | None = None
    transition: Transition | None = None


class Retry(Node):
    """A retry of a task: its errors, number and delay (section "Retry Definition")."""

    expression: Expression
    interval: str | None = None
    multiplier: str | None = None
    """A duration that is added to the interval before each further attempt."""
    max_attempts: int | None = None
    """The maximum number of retries."""


class FunctionRef(Node):
    """A function and the parameters to call it with (section "FunctionRef Definition")."""

    ref_name: Text
    parameters: Template = None


class Action(Node):
    """One call of a function (section "Action Definition")."""

    name: Text | None = None
    function_ref: FunctionRef
    timeout: str | None = None
    action_data_filter: ActionDataFilter | None = None


class TaskBase(Node):
    """The base of all tasks."""

    name: Text
    id: Text | None = None
    start: Start | None = None
    end: End | None = None
    transition: Transition | None = None
    task_data_filter: TaskDataFilter | None = None
    data_input_schema: Template = None
    data_output_schema: Template = None
    on_error: tuple[Error, ...] = ()
    metadata: dict[str, Template] = Field(default_factory=dict)


class RetriedTask(TaskBase):
    """The base of the tasks that can be retried."""

    retry: tuple[Retry, ...] = ()


class EventActions(Node):
    """Events, and the actions that they trigger (section "Event Actions")."""

    event_refs: tuple[Text, ...]
    action_mode: ActionMode = "sequential"
    actions: tuple[Action, ...] = ()
    event_data_filter: EventDataFilter | None = None


class EventTask(RetriedTask):
    """Waits for events and runs actions (section "Event Tasks")."""

    type: Literal["event"]
    exclusive: bool = True
    events_actions: tuple[EventActions, ...]
    timeout: str | None = None


class OperationTask(RetriedTask):
    """Runs actions (section "Operation Task")."""

    type: Literal["operation"]
    action_mode: ActionMode = "sequential"
    actions: tuple[Action, ...]


class DataCondition(Node):
    """A condition of a switch task: an operator that compares the value at a path (section "Data Conditions")."""

    path: str
    value: Template = None
    operator: Operator
    transition: Transition
    metadata: dict[str, Template] = Field(default_factory=dict)


class EventCondition(Node):
    """A condition of a switch task: an event that it waits for (section "Event Conditions")."""

    event_ref: Text
    transition: Transition
    event_data_filter: EventDataFilter | None = None
    metadata: dict[str, Template] = Field(default_factory=dict)


class SwitchTask(TaskBase):
    """Chooses the transition by data, or by the first event to arrive (section "Switch Task")."""

    type: Literal["switch"]
    data_conditions: tuple[DataCondition, ...] = ()
    event_conditions: tuple[EventCondition, ...] = ()
    event_timeout: str | None = None
    default: Transition | None = None


class DelayTask(TaskBase):
    """Waits for a duration (section "Delay Task")."""

    type: Literal["delay"]
    time_delay: str


class Branch(Node):
    """Tasks that run concurrently with those of other branches (section "Branch")."""

    name: Text
    tasks: tuple["Task", ...]


class ParallelTask(RetriedTask):
    """Runs branches concurrently (section "Parallel Task")."""

    type: Literal["parallel"]
    branches: tuple[Branch, ...]
    completion_type: Literal["and", "xor", "n_of_m"] = "and"
    n: int = 0


class SubflowTask(TaskBase):
    """Runs another workflow (section "SubFlow Task")."""

    type: Literal["subflow"]
    workflow_id: Text
    wait_for_completion: bool = False


class InjectTask(TaskBase):
    """Puts literal data into the task's data (section "Inject Task")."""

    type: Literal["inject"]
    data: Template = None


class ForeachTask(RetriedTask):
    """Runs tasks for each element of an array (section "ForEach Task")."""

    type: Literal["foreach"]
    input_collection: str
    input_parameter: str
    """The path of the field that holds the element."""
    output_collection: str | None = None
    max: int = 0
    """The number of concurrent iterations; 0 for all of them."""
    time_delay: str | None = None
    tasks: tuple["Task", ...]


class CallbackTask(RetriedTask):
    """Runs an action, then waits for the event that answers it (section "Callback Task")."""

    type: Literal["callback"]
    action: Action
    event_ref: Text
    timeout: str | None = None
    event_data_filter: EventDataFilter | None = None


Task: TypeAlias = Annotated[
    EventTask
    | OperationTask
    | SwitchTask
    | DelayTask
    | ParallelTask
    | SubflowTask
    | InjectTask
    | ForeachTask
    | CallbackTask,
    Field(discriminator="type"),
]

Branch.model_rebuild()
ForeachTask.model_rebuild()


class DraftWorkflow(Node):
    """A workflow definition (section "Workflow Definition")."""

    id: Text
    name: Text | None = None
    description: str | None = None
    version: Text | None = None
    schema_version: Text | None = None
    starts_at: Text | None = None
    """The name of the first task: an example of the text still has it, from before tasks had a start."""
    expression_language: str | None = None
    data_input_schema: Template = None
    data_output_schema: Template = None
    events: tuple[Event, ...] = ()
    functions: tuple[Function, ...] = ()
    tasks: tuple[Task, ...]
    extensions: tuple[Template, ...] = ()
    metadata: dict[str, Template] = Field(default_factory=dict)
    has_states: bool = Field(default=False, alias="@hasStates")
    """Whether it uses the words of the draft's predecessor, which calls tasks states."""
    source: Source = Field(default=UNWRITTEN, exclude=True, repr=False)


@dataclass(frozen=True, slots=True)
class TaskScope:
    """Tasks that lead only to each other: those of a workflow, a branch or a foreach task. One is the start."""

    owner: str
    """The words for the node that contains them."""
    node: DraftWorkflow | Branch | ForeachTask
    tasks: Sequence[Task]


def start_of(tasks: Sequence[Task], named: str | None = None) -> Task:
    """Return the start task: the one *named*, the one with a start, or else the first."""
    for task in tasks:
        if named is not None and named in (task.name, task.id):
            return task
    return next((task for task in tasks if task.start is not None), tasks[0])


def ways_of(task: Task) -> Iterable[Transition]:
    """Yield the transitions of *task*: its own, those of its conditions, and those of its error handlers."""
    found: list[Transition | None] = [task.transition, *(error.transition for error in task.on_error)]
    if isinstance(task, SwitchTask):
        found += [condition.transition for condition in task.data_conditions]
        found += [condition.transition for condition in task.event_conditions]
        found.append(task.default)
    return (one for one in found if one is not None)


def scopes(root: DraftWorkflow, word: str) -> Iterator[TaskScope]:
    """Yield every scope of *root*, outer ones first; *word* is the author's word for a task."""
    yield from _scopes(TaskScope("the workflow", root, root.tasks), word)


def _scopes(scope: TaskScope, word: str) -> Iterator[TaskScope]:
    yield scope
    above = "" if isinstance(scope.node, DraftWorkflow) else f" of {scope.owner}"
    for task in scope.tasks:
        owner = f"{word} {task.name!r}{above}"
        if isinstance(task, ParallelTask):
            for branch in task.branches:
                yield from _scopes(TaskScope(f"branch {branch.name!r} of {owner}", branch, branch.tasks), word)
        elif isinstance(task, ForeachTask):
            yield from _scopes(TaskScope(owner, task, task.tasks), word)
