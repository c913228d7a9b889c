"""The program: everything that is computed once for a definition, before it runs.

States, functions and events by name; compiled expressions; timeouts with inherited ones. A program is shared by all
runs of its definition and never changes.

A transition leads to a state of the same scope, and the end of a scope ends its walk. States are identified by their
path, in which the names of the parts that contain them come before their own: `Ship/left/Pack`.
"""

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property, partial

from swf_temporal.base.calls import Auth, Function
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import UnknownDefinition, WrongData
from swf_temporal.expressions.evaluation import Expressions
from swf_temporal.expressions.json_schema import BadSchema, DataSchemaValidator
from swf_temporal.languages.serverless_workflow.execution.correlation import rules_of
from swf_temporal.languages.serverless_workflow.execution.data_flow import data_flow_of
from swf_temporal.languages.serverless_workflow.execution.events import as_read
from swf_temporal.languages.serverless_workflow.execution.parameters import (
    auth_of,
    functions_of,
    has_open_parameters,
    with_shared_auth,
)
from swf_temporal.languages.serverless_workflow.execution.retries import rule_of
from swf_temporal.languages.serverless_workflow.model.actions import Action
from swf_temporal.languages.serverless_workflow.model.states import (
    EventState,
    ParallelState,
    State,
    StateTimeouts,
    all_states,
    scopes_of,
)
from swf_temporal.languages.serverless_workflow.model.workflow import DataSchema, Event, Retry, Workflow
from swf_temporal.runtime.correlation import is_like
from swf_temporal.runtime.retrying import ErrorName, RetryRule, names_of
from swf_temporal.runtime.waiting import EventSelector


@dataclass(frozen=True, slots=True)
class Scope:
    """States by their names, and the one that a walk begins with."""

    workflow_id: str
    states: Mapping[str, State]
    start: str
    path: str = ""
    """The path of the part that contains the states; empty for the workflow itself."""
    window: str | None = None
    """The interval in which a walk may begin; None means always."""

    def state(self, name: str) -> State:
        """Return the state *name*. Raises UnknownDefinition."""
        try:
            return self.states[name]
        except KeyError:
            where = f" in {self.path!r}" if self.path else ""
            raise UnknownDefinition(f"{name!r} is not a state of workflow {self.workflow_id!r}{where}") from None

    def path_of(self, name: str) -> str:
        return f"{self.path}/{name}" if self.path else name


@dataclass(frozen=True, slots=True)
class StatePlan:
    """The plan of a state: its timeouts, whether it is retried, and which events it waits for."""

    timeouts: StateTimeouts
    """Its own timeouts, and those that it inherits from the workflow."""
    is_limited: bool
    """Whether the state itself has a timeout."""
    retries_errors: bool
    """Whether entries of its onErrors retry it."""
    events: tuple[str, ...]
    """The names of the events of all entries of an event state."""


class Program:
    """A definition prepared for running under a semantics number, with the compiler of its *expressions*."""

    def __init__(self, workflow: Workflow, semantics: int, expressions: Expressions) -> None:
        self.workflow = workflow
        self.semantics = semantics
        self.scopes: dict[str, Scope] = dict(
            _scopes(workflow.id, workflow.states, workflow.start_state, workflow.start.window)
        )
        """The scopes of the workflow and its parts, by path."""
        self.scope = self.scopes[""]
        """The scope of the workflow itself."""
        self.data_flow = data_flow_of(workflow)
        self.functions: dict[str, Function] = with_shared_auth(functions_of(workflow))
        self.events: dict[str, Event] = {event.name: as_read(event) for event in workflow.events}
        self.errors: dict[str, ErrorName] = {error.name: (error.name, error.code) for error in workflow.errors}
        self.retries: dict[str, Retry] = {retry.name: retry for retry in workflow.retries}
        self.expressions = expressions
        self._plans: dict[int, StatePlan] = {}
        self._rules: dict[int, RetryRule | None] = {}
        self._event_selectors: dict[tuple[str, ...], EventSelector] = {}

    @property
    def id(self) -> str:
        return self.workflow.id

    @property
    def state_word(self) -> str:
        """The word for a state in messages about a run."""
        return self.workflow.language_version.state_word

    @cached_property
    def constants(self) -> dict[str, JSON]:
        """The value of `$CONST`."""
        return dict(self.workflow.constants)

    @cached_property
    def about(self) -> dict[str, JSON]:
        """The facts about the definition in `$WORKFLOW`."""
        workflow = self.workflow
        return {"id": workflow.id, "name": workflow.name, "version": workflow.version}

    @cached_property
    def input_schema(self) -> DataSchemaValidator | None:
        """The validator of a run's input. If a run starts by waiting for an event, its input is not checked."""
        if isinstance(self.scope.states.get(self.scope.start), EventState):
            return None
        return _validator("dataInputSchema", self.workflow.data_input_schema)

    @cached_property
    def output_schema(self) -> DataSchemaValidator | None:
        """The validator of a run's output."""
        return _validator("dataOutputSchema", self.workflow.data_output_schema)

    @cached_property
    def leaves_running(self) -> bool:
        """Whether it has branches that their states do not wait for."""
        parallel = (state for state in all_states(self.workflow.states) if isinstance(state, ParallelState))
        return any(not branch.is_awaited for state in parallel for branch in state.branches)

    @cached_property
    def has_open_parameters(self) -> bool:
        """Whether parameters of the workflow are expressions, which each run evaluates itself."""
        return has_open_parameters(self.workflow)

    def with_workflow(self, workflow: Workflow) -> "Program":
        """Return this program for a variant of its workflow that has the same states, functions and events."""
        variant = copy(self)
        own = vars(variant)
        own.update(workflow=workflow, retries={retry.name: retry for retry in workflow.retries})
        own.update(_plans={}, _rules={})
        for what_depends_on_it in ("about", "has_open_parameters"):
            own.pop(what_depends_on_it, None)
        return variant

    def locate(self, path: str) -> tuple[Scope, str]:
        """Return the scope of the state at *path*, and the name that the state has there."""
        if path in self.scope.states:
            return self.scope, path
        holder, _, name = path.rpartition("/")
        return self.scopes.get(holder, self.scope), name

    def function(self, name: str) -> Function:
        if name in self.functions:
            return self.functions[name]
        if "functions" in self.workflow.externals:
            # Defined in a document that could not be read: the host may know the function by name.
            return Function(name=name, type="custom")
        raise UnknownDefinition(f"{name!r} is not a function of workflow {self.workflow.id!r}")

    def event(self, name: str) -> Event:
        if name in self.events:
            return self.events[name]
        if "events" in self.workflow.externals:
            return Event(name=name, type=name)
        raise UnknownDefinition(f"{name!r} is not an event of workflow {self.workflow.id!r}")

    def event_selector(self, refs: tuple[str, ...]) -> EventSelector:
        """Return the selector of the events that *refs* define."""
        known = self._event_selectors.get(refs)
        if known is None:
            definitions = [self.event(ref) for ref in refs]
            kinds, rules = [partial(is_like, one) for one in definitions], [rules_of(one) for one in definitions]
            known = self._event_selectors[refs] = EventSelector(refs, kinds, refs, rules)
        return known

    def auth_of(self, function: Function) -> tuple[Auth, ...]:
        ref = function.auth_ref
        if ref is None:
            return ()
        return tuple(auth_of(auth) for auth in self.workflow.auth if auth.name in (ref.resource, ref.invocation))

    def timeouts(self, state: State) -> StateTimeouts:
        """Return the timeouts of *state*, its own or inherited from the workflow."""
        return self.plan(state).timeouts

    def plan(self, state: State) -> StatePlan:
        known = self._plans.get(id(state))
        if known is None:
            known = self._plans[id(state)] = self._make_plan(state)
        return known

    def retry_rule(self, action: Action) -> RetryRule | None:
        """Return the retry rule of *action*, or None if it is not retried."""
        key = id(action)
        if key not in self._rules:
            self._rules[key] = self._make_rule(action)
        return self._rules[key]

    def state_retry_rule(self, name: str) -> RetryRule:
        """Return the rule for retrying a state by the retry *name*."""
        try:
            rule = rule_of(self._retry(name), auto_retries=False, retryable=(), non_retryable=())
        except ValueError as error:
            raise WrongData(f"retry {name!r}: {error}") from None
        assert rule is not None  # noqa: S101 - only an action without a retry has none
        return rule

    def _make_plan(self, state: State) -> StatePlan:
        ours, own = self.workflow.timeouts, state.timeouts
        whole = ours if own.state_exec_timeout is None else own
        timeouts = StateTimeouts(
            state_exec_timeout=whole.state_exec_timeout,
            single_state_exec_timeout=whole.single_state_exec_timeout,
            action_exec_timeout=own.action_exec_timeout or ours.action_exec_timeout,
            branch_exec_timeout=own.branch_exec_timeout or ours.branch_exec_timeout,
            event_timeout=own.event_timeout or ours.event_timeout,
        )
        return StatePlan(
            timeouts=timeouts,
            is_limited=whole.state_exec_timeout is not None or whole.single_state_exec_timeout is not None,
            retries_errors=any(entry.retry_ref is not None for entry in state.on_errors),
            events=_events_of(state),
        )

    def _retry(self, name: str) -> Retry:
        retry = self.retries.get(name)
        if retry is None:
            raise UnknownDefinition(f"{name!r} is not a retry of workflow {self.workflow.id!r}")
        return retry

    def _make_rule(self, action: Action) -> RetryRule | None:
        try:
            return rule_of(
                None if action.retry_ref is None else self._retry(action.retry_ref),
                auto_retries=self.workflow.auto_retries,
                retryable=names_of(action.retryable_errors, self.errors),
                non_retryable=names_of(action.non_retryable_errors, self.errors),
            )
        except ValueError as error:
            raise WrongData(f"retry {action.retry_ref!r}: {error}") from None


def _scopes(
    workflow_id: str, states: Iterable[State], start: str, window: str | None, path: str = ""
) -> Iterator[tuple[str, Scope]]:
    """Yield the scope of *states* and those inside it, each with its path."""
    scope = Scope(workflow_id, {state.name: state for state in states}, start, path, window)
    yield path, scope
    for state in scope.states.values():
        for branch, inner in scopes_of(state):
            below = scope.path_of(state.name)
            inside = f"{below}/{branch}" if branch else below
            yield from _scopes(workflow_id, inner.states, inner.start, inner.window, inside)


def _events_of(state: State) -> tuple[str, ...]:
    if not isinstance(state, EventState):
        return ()
    return tuple(dict.fromkeys(ref for entry in state.on_events for ref in entry.event_refs))


def _validator(key: str, declared: DataSchema | None) -> DataSchemaValidator | None:
    """Return the validator for a schema; None if there is no schema, or it was not found."""
    if declared is None or isinstance(declared.schema_, str):
        return None
    try:
        return DataSchemaValidator(declared.schema_)
    except BadSchema as bad:
        # Only if the release that checked the definition supports more of JSON Schema than this one.
        raise WrongData(f"{key} is not a usable JSON Schema: {bad.message}") from None
