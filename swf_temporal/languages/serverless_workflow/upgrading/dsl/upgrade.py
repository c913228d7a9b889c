"""Rewriting a definition of 0.8 as a definition of DSL 1.0, as a new text."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from swf_temporal.base.errors import InvalidDefinition, Severity
from swf_temporal.base.strict_json import show_json
from swf_temporal.languages.port import Checked
from swf_temporal.languages.serverless_workflow.definition import ServerlessWorkflowDefinition
from swf_temporal.languages.serverless_workflow.model.definitions import Schedule
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.model.states import EventState, State, WithTransition
from swf_temporal.languages.serverless_workflow.model.workflow import DataSchema, Workflow
from swf_temporal.languages.serverless_workflow.upgrading.dsl.context import ERRORS, Context, Step, duration
from swf_temporal.languages.serverless_workflow.upgrading.dsl.errors import policy_of
from swf_temporal.languages.serverless_workflow.upgrading.dsl.events import are_alike, listen_to, merge_of_event
from swf_temporal.languages.serverless_workflow.upgrading.dsl.expressions import Inexpressible
from swf_temporal.languages.serverless_workflow.upgrading.dsl.functions import authentication, component
from swf_temporal.languages.serverless_workflow.upgrading.dsl.names import document_name, semantic_version
from swf_temporal.languages.serverless_workflow.upgrading.dsl.states import END, ORDER, Block, States, Written
from swf_temporal.languages.serverless_workflow.upgrading.dsl.writing import comments_of, marked, yaml_of
from swf_temporal.languages.serverless_workflow.upgrading.report import UpgradeReport
from swf_temporal.text.located import Object, plain
from swf_temporal.text.origin import Source
from swf_temporal.text.parsing import read_object
from swf_temporal.text.round_trip import round_trip

STARTED: Final = (
    "the input of an instance is the events that have started it: one that is started otherwise, such as a"
    " sub-workflow, does not wait for events"
)
DSL: Final = "1.0.3"
"""The version of the language that is written."""
DEFAULT_NAMESPACE: Final = "default"


def rewritten(
    source: Source,
    read: Callable[[Object, Source], Checked],
    report: UpgradeReport,
    namespace: str = DEFAULT_NAMESPACE,
) -> str:
    """Return the definition of 0.8 in *source* as one of DSL 1.0 in *namespace*, and report what differs.

    What cannot be expressed is a task that raises an error, and reported. Raises InvalidDefinition.
    """
    root, _ = read_object(source)
    checked = read(root, source)
    definition = checked.definition
    if not isinstance(definition, ServerlessWorkflowDefinition):
        raise InvalidDefinition([one for one in checked.problems if one.severity is Severity.ERROR])
    made = _Definition(definition, report, namespace)
    document = made.document()
    if source.text.lstrip().startswith("{"):
        return show_json(document, indent=2) + "\n"
    return yaml_of(document, comments_of(round_trip(source).root), made.lines())


class _Definition:
    def __init__(self, definition: ServerlessWorkflowDefinition, report: UpgradeReport, namespace: str) -> None:
        self.workflow: Workflow = definition.workflow
        self.context = Context(definition, report, namespace)
        self.report = report
        self.states = States(self.context)
        self._schedule: dict[str, Any] = {}
        self._from: str | None = None

    def document(self) -> dict[str, Any]:
        """Return the definition in 1.0."""
        workflow = self.workflow
        self._check()
        tasks = self._tasks()
        self._check_timeouts()
        made: dict[str, Any] = {"document": self._head()}
        self._part("the schedule", workflow.start, self._write_schedule)
        made["input"] = self._input()
        made["use"] = self._use()
        made["timeout"] = self._part("workflowExecTimeout", workflow, self._timeout)
        made["output"] = self._part(
            "dataOutputSchema", workflow, lambda: self._schema(workflow.data_output_schema, "output")
        )
        made["schedule"] = self._schedule
        self.context.note(self.context.translate.notes)
        made = {key: value for key, value in made.items() if value}
        document: dict[str, Any] = marked({**made, "do": tasks})
        return document

    def lines(self) -> dict[int, tuple[str, str]]:
        """Return for each line in which a part begins the list or object that it is in now, and its name there."""
        found: dict[int, tuple[str, str]] = {}
        for kind, parts in (
            ("functions", self.workflow.functions),
            ("retries", self.workflow.retries),
            ("authentications", self.workflow.auth),
        ):
            found |= {one.where.position.line: (kind, one.name) for one in parts}
        return found | {one.where.position.line: ("do", self.states.name_of(one.name)) for one in self.workflow.states}

    def _check(self) -> None:
        """Report what concerns the whole definition and cannot be expressed."""
        workflow = self.workflow
        refused = {
            f"expressionLang {workflow.expression_lang}": workflow.expression_lang != "jq",
            "keepActive": workflow.keep_active,
            f"{', '.join(workflow.externals)} in another document: put them into the definition": workflow.externals,
            "extensions": workflow.extensions,
            "a version that is an expression": "${" in f"{workflow.version}{workflow.name}",
        }
        for message, is_so in refused.items():
            if is_so:
                self._refuse(message, workflow)

    def _check_timeouts(self) -> None:
        """Report what 0.8 evaluates when a run begins, and 1.0 where it is used."""
        if "${" in str(self.workflow.timeouts) or "${" in str(self.workflow.retries):
            self.report.differs("timeouts and retries that are expressions are evaluated where they are used")

    def _refuse(self, message: str, node: Node) -> None:
        self.report.place(node, node.where.position.line)
        self.report.inexpressible(message, node)

    def _part(self, what: str, node: Node, write: Any) -> Any:
        try:
            return write()
        except Inexpressible as error:
            self._refuse(f"{what}: {error}", node)
            return None

    # The document

    def _head(self) -> dict[str, Any]:
        workflow = self.workflow
        name, version = document_name(workflow.id), semantic_version(workflow.version)
        if name != workflow.id:
            self.report.reshaped(f"the id {workflow.id!r} is the name {name!r}")
        if workflow.version is not None and version != workflow.version:
            self.report.reshaped(f"the version {workflow.version!r} is {version}")
        made: dict[str, Any] = {
            "dsl": DSL,
            "namespace": self.context.namespace,
            "name": name,
            "version": version,
            "title": workflow.name,
            "summary": workflow.description,
            "metadata": plain(workflow.metadata) or None,
        }
        return {key: value for key, value in made.items() if value is not None}

    def _input(self) -> dict[str, Any]:
        schema = self._part(
            "dataInputSchema", self.workflow, lambda: self._schema(self.workflow.data_input_schema, "input")
        )
        return {**(schema or {}), **({} if self._from is None else {"from": self._from})}

    def _schema(self, given: DataSchema | None, what: str) -> dict[str, Any] | None:
        if given is None:
            return None
        if not given.fail_on_validation_errors:
            raise Inexpressible("failOnValidationErrors: false")
        if not isinstance(given.schema_, Mapping):
            raise Inexpressible(f"the schema of the {what} in another document")
        return {"schema": {"document": plain(given.schema_)}}

    def _use(self) -> dict[str, Any]:
        workflow, context = self.workflow, self.context
        functions = {
            one.name: self._part("functions", one, lambda one=one: component(one, context))
            for one in workflow.functions
            if one.name in context.used_functions
        }
        authentications = {
            one.name: self._part("auth", one, lambda one=one: authentication(one, context))
            for one in workflow.auth
            if one.name in context.used_auths
        }
        retries = {one.name: policy_of(one, context) for one in workflow.retries if one.name in context.used_retries}
        made: dict[str, Any] = {
            "secrets": list(workflow.secrets),
            "authentications": authentications,
            "retries": retries,
            "functions": functions,
        }
        return {key: value for key, value in made.items() if value}

    def _timeout(self) -> dict[str, Any] | None:
        given = self.workflow.timeouts.workflow_exec_timeout
        if given is None:
            return None
        if not given.interrupt or given.run_before is not None:
            raise Inexpressible("interrupt: false and runBefore")
        return {"after": duration(given.duration, self.context.translate)}

    def _write_schedule(self) -> None:
        given: Schedule | None = self.workflow.start.schedule
        if given is None:
            return
        if self._schedule:
            raise Inexpressible("a schedule beside events that start the workflow")
        if given.timezone is not None:
            raise Inexpressible("a schedule with a timezone")
        if given.cron is not None:
            if given.cron.valid_until is not None:
                raise Inexpressible("validUntil")
            self._schedule = {"cron": given.cron.expression}
        elif given.interval is not None:
            found = re.fullmatch(r"(?:R/)?(P[^/]+)", given.interval)
            if found is None:
                raise Inexpressible(f"the interval {given.interval!r}")
            self._schedule = {"every": duration(found[1], self.context.translate)}

    # Tasks

    def _tasks(self) -> list[dict[str, Any]]:
        start = self.workflow.start_state
        # Instances begin with the first task, wherever the state of the start is written.
        ordered = sorted(self.workflow.states, key=lambda one: one.name != start)
        blocks = [block for state in ordered for block in self._blocks(state, is_start=state.name == start)]
        steps: list[Step] = []
        for index, block in enumerate(blocks):
            following = blocks[index + 1].steps[0][0] if index + 1 < len(blocks) else END
            if block.way is not None and block.way != following:
                name, task = block.steps[-1]
                block.steps[-1] = name, {**task, "then": block.way}
            steps += block.steps
        return [{name: task} for name, task in steps]

    def _blocks(self, state: State, *, is_start: bool) -> list[Block]:
        try:
            begins = is_start and isinstance(state, EventState) and self._starts(state)
            written: Written = self.states.written(state, is_begun=begins)
        except Inexpressible as error:
            message = f"the {state.type} state {state.name!r}: {error}"
            self._refuse(message, state)
            raised = {"type": f"{ERRORS}configuration", "status": 501, "title": f"Not in 1.0: {message}"}
            return [Block([(self.states.name_of(state.name), {"raise": {"error": raised}})])]
        return written.blocks

    def _starts(self, state: EventState) -> bool:
        """Let the events of *state*, with which the workflow starts, start instances; return False if others do."""
        if any(_leads_to(one, state) for one in self.workflow.states):
            raise Inexpressible("a state whose events start instances, and to which a transition leads back")
        refs = list(dict.fromkeys(ref for entry in state.on_events for ref in entry.event_refs))
        entries = state.on_events
        acting = [entry for entry in entries if entry.actions]
        alike = are_alike([entry.event_data_filter for entry in entries])
        if not alike or (len(entries) > 1 and state.exclusive and acting):
            raise Inexpressible("several entries of onEvents with their own filters or actions")
        listen = listen_to(refs, self.context, needs_all=not state.exclusive)["listen"]
        is_all = len(refs) > 1 and not state.exclusive
        if any(self.context.events[ref].correlation for ref in refs):
            self.context.differs("events with the values of a running instance start another one", state)
        if state.on_errors:
            raise Inexpressible("onErrors of a state whose events start instances")
        if self.workflow.data_input_schema is not None:
            raise Inexpressible("dataInputSchema of a workflow that events start, which 0.8 does not check")
        merge = merge_of_event(entries[0].event_data_filter, self.context, "." if is_all else ".[0]")
        effect = "{}" if merge is None else merge.effect()
        self._from = f"reduce (.[] | {effect}) as $event ({{}}; . * $event)" if is_all else effect
        self._schedule = {"on": listen["to"], **{key: value for key, value in listen.items() if key == "read"}}
        if is_all:
            self.context.note([ORDER])
        self.context.differs(STARTED, state)
        return True


def _leads_to(holder: State, state: State) -> bool:
    holders: list[WithTransition] = [holder, *holder.on_errors]
    for name in ("data_conditions", "event_conditions"):
        holders += getattr(holder, name, ())
    default = getattr(holder, "default_condition", None)
    if default is not None:
        holders.append(default)
    names = (state.name, state.id)
    return any(one.transition is not None and one.transition.next_state in names for one in holders)
