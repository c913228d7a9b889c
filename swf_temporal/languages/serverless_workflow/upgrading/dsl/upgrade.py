"""Rewriting a definition of 0.8 as a definition of DSL 1.0, as a new text."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

from swf_temporal.base.errors import InvalidDefinition, Position, Problem, Severity
from swf_temporal.base.strict_json import show_json
from swf_temporal.languages.port import Checked
from swf_temporal.languages.serverless_workflow.definition import ServerlessWorkflowDefinition
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.model.states import EventState, State, WithTransition
from swf_temporal.languages.serverless_workflow.model.workflow import DataSchema, Schedule, Workflow
from swf_temporal.languages.serverless_workflow.upgrading.dsl.actions import as_list
from swf_temporal.languages.serverless_workflow.upgrading.dsl.context import (
    ERRORS,
    Context,
    Step,
    checked_uri,
    document_name,
    duration,
    semantic_version,
    task_name,
)
from swf_temporal.languages.serverless_workflow.upgrading.dsl.errors import catches, code_of, policy_of
from swf_temporal.languages.serverless_workflow.upgrading.dsl.events import (
    are_alike,
    listen_to,
    mentions,
    merge_of_event,
)
from swf_temporal.languages.serverless_workflow.upgrading.dsl.expressions import Inexpressible
from swf_temporal.languages.serverless_workflow.upgrading.dsl.functions import authentication, component
from swf_temporal.languages.serverless_workflow.upgrading.dsl.states import States
from swf_temporal.languages.serverless_workflow.upgrading.dsl.ways import Block, linked, reached, trimmed
from swf_temporal.languages.serverless_workflow.upgrading.dsl.writing import (
    Path,
    Place,
    are_apart,
    comments_of,
    marked,
    spaced,
    tasks_in,
    yaml_of,
)
from swf_temporal.languages.serverless_workflow.upgrading.trees import UpgradeReport
from swf_temporal.text.origin import Fetch, Object, Source, nothing, plain
from swf_temporal.text.parsing import read_object
from swf_temporal.text.round_trip import round_trip

STARTED: Final = (
    "the input of an instance is the events that have started it: one that is started otherwise, such as a"
    " sub-workflow, does not wait for events, and fails unless its input is an array of events"
)
RUN_BEFORE: Final = (
    "a timeout of all tasks, and a catch, are written for runBefore: {state!r} begins with the input of the workflow"
)
INTERRUPT: Final = "1.0 has no timeout without interrupt: it ends the task that runs"
KEPT: Final = "1.0 has no keepActive: an instance completes at its end"
AGAIN: Final = (
    "; in 0.8 {state!r} waits for events again, and those of all rounds are merged: an instance of 1.0 has one round,"
    " and {last} never what others have merged"
)
LATE: Final = (
    "{state!r} runs if the tasks take {time} in one round: in 0.8 it runs {time} after the start, with the events of"
    " all rounds"
)
DSL: Final = "1.0.3"
"""The version of the language that is written."""
_QUARTZ: Final = 6
"""The number of fields of a cron expression with seconds."""
_OF_CRON: Final = frozenset("0123456789*/,-")
_TOP: Final = 3
"""The length of the paths of the workflow's own tasks."""
DEFAULT_NAMESPACE: Final = "default"


def rewritten(
    source: Source,
    read: Callable[[Object, Source], Checked],
    report: UpgradeReport,
    namespace: str = DEFAULT_NAMESPACE,
    fetch: Fetch = nothing,
) -> str:
    """Return the definition of 0.8 in *source* as one of DSL 1.0 in *namespace*, and report what differs.

    *fetch* returns the documents of functions. What cannot be expressed is a task that raises an error, and reported.
    Raises InvalidDefinition.
    """
    root, _ = read_object(source)
    checked = read(root, source)
    definition = checked.definition
    if not isinstance(definition, ServerlessWorkflowDefinition):
        raise InvalidDefinition([one for one in checked.problems if one.severity is Severity.ERROR])
    missing = list(_missing(checked, definition.workflow))
    if missing:
        raise InvalidDefinition(missing)
    made = _Definition(definition, report, namespace, fetch)
    document = made.document()
    if source.text.lstrip().startswith("{"):
        return show_json(document, indent=2) + "\n"
    states = (one.where.position.line for one in definition.workflow.states)
    text = yaml_of(document, comments_of(round_trip(source).root), made.places(document), source.text)
    return spaced(text) if are_apart(source.text, states) else text


def _missing(checked: Checked, workflow: Workflow) -> Iterator[Problem]:
    """Yield the errors that components are in other documents, which do not exist."""
    for kind, external in workflow.externals.items():
        said = f"{kind} are in {external.uri!r}"
        for one in checked.problems:
            if one.code == "external-missing" and one.message.startswith(said):
                yield replace(one, message=one.message.partition(": references")[0], severity=Severity.ERROR)


class _Definition:
    def __init__(
        self, definition: ServerlessWorkflowDefinition, report: UpgradeReport, namespace: str, fetch: Fetch
    ) -> None:
        self.workflow: Workflow = definition.workflow
        self.context = Context(definition, report, namespace, fetch)
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
        self._part("the schedule", workflow.start, self._write_schedule)
        made: dict[str, Any] = {"document": self._head(), "schedule": self._schedule}
        made["input"] = self._input()
        made["use"] = self._use(tasks)
        made["timeout"] = self._part("workflowExecTimeout", workflow, self._timeout)
        made["output"] = self._part(
            "dataOutputSchema", workflow, lambda: self._schema(workflow.data_output_schema, "output")
        )
        made = {key: value for key, value in made.items() if value}
        document: dict[str, Any] = marked({**made, "do": tasks})
        newer = list(dict.fromkeys(_newer(document)))
        if newer:
            self.report.reshaped(f"not in the release {DSL}, but in the text after it: {', '.join(newer)}")
        return document

    def places(self, document: dict[str, Any]) -> dict[int, Place]:
        """Return for each line in which a part begins its column, and the path of what it is in *document* now."""
        steps = dict(tasks_in(document["do"], ("do",)))
        found: dict[int, Place] = {}
        for position, path in (*self._places_of_states(steps), *self._places_of_components(steps)):
            found.setdefault(position.line, (position.column, path))
        return found

    def _places_of_states(self, steps: dict[Path, dict[str, Any]]) -> Iterator[tuple[Position, Path]]:
        for one in self.workflow.states:
            name = self.states.ways.name_of(one.name)
            # The workflow's own tasks come before those inside others.
            own = min((path for path in steps if path[-1] == name), key=len, default=None)
            if own is None:
                continue
            yield one.where.position, own[:-1]
            inside: dict[str | int, Path] = {path[-1]: path for path in steps if len(path) == _TOP}
            inside |= {path[-1]: path for path in steps if len(path) > len(own) and path[: len(own)] == own}
            parts = [(where, inside.get(inner)) for where, inner in self.context.inner_tasks.get(one.name, ())]
            yield from ((where, path[:-1]) for where, path in parts if path is not None)
            # A single action has become the task of the state.
            yield from ((where, own[:-1]) for where, path in parts if path is None)
            for handler in one.on_errors:
                yield handler.where.position, (*own, "catch") if "catch" in steps[own] else own[:-1]

    def _places_of_components(self, steps: dict[Path, dict[str, Any]]) -> Iterator[tuple[Position, Path]]:
        workflow = self.workflow
        sections: dict[str, Path] = {
            "states": ("do",),
            "functions": ("use", "functions"),
            "retries": ("use", "retries"),
        }
        for key in workflow.where.keys:
            yield workflow.where.key(key), sections.get(key, ())
        for key, kind, parts in (
            ("functions", "functions", workflow.functions),
            ("retries", "retries", workflow.retries),
            ("auth", "authentications", workflow.auth),
        ):
            for part in parts if key not in workflow.externals else ():
                yield part.where.position, ("use", kind, part.name)
        for event in workflow.events if "events" not in workflow.externals else ():
            exchanging = (path[:-1] for path, task in steps.items() if mentions(task, event))
            yield event.where.position, next(exchanging, ("schedule",))
        for error in workflow.errors if "errors" not in workflow.externals else ():
            code = code_of(error.name, self.context)
            catching = ((*path, "catch") for path, task in steps.items() if catches(task, code))
            yield error.where.position, next(catching, ())

    def _check(self) -> None:
        """Report what concerns the whole definition and cannot be expressed."""
        workflow = self.workflow
        refused = {
            f"expressionLang {workflow.expression_lang}": workflow.expression_lang != "jq",
        }
        for kind, external in workflow.externals.items():
            self.context.reshaped(f"{kind} in {external.uri} are parts of the definition", workflow)
        if workflow.extensions:
            self.context.differs("1.0 has other extensions: they are left out", workflow)
        undoes_cancelled = str(workflow.metadata.get("compensateOnCancel", "false")).lower() == "true"
        if undoes_cancelled and self.states.ways.undoing.compensable:
            self.context.differs("1.0 does nothing after cancellation: compensateOnCancel has no effect", workflow)
        if workflow.keep_active:
            self._check_kept()
        for message, is_so in refused.items():
            if is_so:
                self.context.refused(message, workflow)

    def _check_kept(self) -> None:
        """Report what is lost as instances do not stay active."""
        workflow = self.workflow
        start = next(one for one in workflow.states if one.name == workflow.start_state)
        if not isinstance(start, EventState):
            self.context.differs(KEPT, workflow, "keepActive")
            return
        following = [
            one for one in workflow.states if self.states.ways.undoing.is_reached(one.name) and one is not start
        ]
        last = " and ".join([repr(one.name) for one in following] or ["its output"])
        has = "have" if len(following) > 1 else "has"
        self.context.differs(KEPT + AGAIN.format(state=start.name, last=f"{last} {has}"), workflow, "keepActive")
        timeout = workflow.timeouts.workflow_exec_timeout
        if timeout is not None and timeout.run_before is not None:
            self.context.differs(LATE.format(state=timeout.run_before, time=timeout.duration), timeout)

    def _check_timeouts(self) -> None:
        """Report what 0.8 evaluates when a run begins, and 1.0 where it is used."""
        if "${" in str(self.workflow.timeouts) or "${" in str(self.workflow.retries):
            key = "timeouts" if "${" in str(self.workflow.timeouts) else "retries"
            message = "timeouts and retries that are expressions are evaluated where they are used"
            self.context.differs(message, self.workflow, key)

    def _part(self, what: str, node: Node, write: Any) -> Any:
        try:
            with self.context.at(node):
                return write()
        except Inexpressible as error:
            self.context.refused(f"{what}: {error}", node)
            return None

    # The document

    def _head(self) -> dict[str, Any]:
        workflow = self.workflow
        renamed = next((one for one in workflow.states if task_name(one.name) != one.name), None)
        if renamed is not None:
            message = f"states are tasks, whose names have no blanks: {renamed.name!r} is {task_name(renamed.name)}"
            self.context.reshaped(message, renamed)
        name, version = document_name(workflow.id), semantic_version(workflow.version)
        if name != workflow.id:
            self.context.reshaped(f"the id {workflow.id!r} is the name {name!r}", workflow, "id")
        if workflow.version is not None and version != workflow.version:
            self.context.reshaped(f"the version {workflow.version!r} is {version}", workflow, "version")
        for key, given in (("name", workflow.name), ("version", workflow.version)):
            if "${" in (given or ""):
                self.context.differs(f"the {key} of a workflow has no expressions in 1.0", workflow, key)
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
        given = self.workflow.data_input_schema
        if given is not None and self._from is not None:
            self.context.differs("dataInputSchema is left out: 0.8 does not check the events that start it", given)
            given = None
        schema = self._part("dataInputSchema", self.workflow, lambda: self._schema(given, "input"))
        return {**(schema or {}), **({} if self._from is None else {"from": self._from})}

    def _schema(self, given: DataSchema | None, what: str) -> dict[str, Any] | None:
        if given is None:
            return None
        if not given.fail_on_validation_errors:
            self.context.differs(f"1.0 has no failOnValidationErrors: the schema of the {what} is left out", given)
            return None
        if isinstance(given.schema_, str):
            return {"schema": {"resource": {"endpoint": checked_uri(given.schema_, f"the schema of the {what}")}}}
        return {"schema": {"document": plain(given.schema_)}}

    def _use(self, tasks: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the components that *tasks* name."""
        workflow, context = self.workflow, self.context
        undoing = self.states.ways.functions()
        named = set(_named([*tasks, undoing]))
        functions = {
            one.name: self._part("functions", one, lambda one=one: component(one, context))
            for one in workflow.functions
            if ("call", one.name) in named
        }
        named |= set(_named(functions))
        authentications = {
            one.name: self._part("auth", one, lambda one=one: authentication(one, context))
            for one in workflow.auth
            if ("use", one.name) in named
        }
        retries = {
            one.name: self._part("retries", one, lambda one=one: policy_of(one, context))
            for one in workflow.retries
            if ("retry", one.name) in named
        }
        made: dict[str, Any] = {
            "secrets": list(workflow.secrets),
            "authentications": authentications,
            "retries": retries,
            "functions": {**functions, **undoing},
        }
        return {key: value for key, value in made.items() if value}

    def _timeout(self) -> dict[str, Any] | None:
        given = self.workflow.timeouts.workflow_exec_timeout
        if given is None:
            return None
        if not given.interrupt:
            self.context.differs(INTERRUPT, given)
        if given.run_before is not None:
            return None
        return {"after": duration(given.duration, self.context.translate)}

    def _write_schedule(self) -> None:
        given: Schedule | None = self.workflow.start.schedule
        if given is None:
            return
        if self._schedule:
            self.context.differs("events start the workflow: the schedule beside them is left out", given)
            return
        if given.timezone is not None:
            self.context.differs(f"1.0 has no time zones: the schedule is not one in {given.timezone}", given)
        if given.cron is not None:
            if given.cron.valid_until is not None:
                self.context.differs("1.0 has no validUntil: the schedule does not end", given)
            self._schedule = {"cron": self._cron(given.cron.expression, given)}
        elif given.interval is not None:
            *bounds, last = [part for part in given.interval.split("/") if part not in ("", "R")]
            lasting = next((part for part in (last, *bounds) if part.startswith("P")), None)
            if lasting is None:
                message = f"1.0 has no intervals without a duration: the schedule {given.interval!r} is left out"
                self.context.differs(message, given)
                return
            if bounds:
                message = f"1.0 has no intervals with bounds or a number: {given.interval!r} is every {lasting}"
                self.context.differs(message, given)
            self._schedule = {"every": duration(lasting, self.context.translate)}

    def _cron(self, text: str, given: Schedule) -> str:
        """Return a cron expression without seconds, if it needs none: with them, it is one of Quartz."""
        fields = text.split()
        if len(fields) < _QUARTZ:
            return text
        second, *others = fields
        *_, day_of_week = others = [re.sub(r"^0/", "*/", "*" if one == "?" else one) for one in others]
        if len(fields) > _QUARTZ or second != "0" or day_of_week != "*" or not set("".join(others)) <= _OF_CRON:
            self.context.reshaped(
                f"the cron expression {text!r} is one of Quartz, which not every runtime reads", given
            )
            return text
        made = " ".join(others)
        self.context.reshaped(f"the cron expression {text!r} is {made!r}", given)
        return made

    # Tasks

    def _apart(self) -> set[str]:
        """Return the states that only undo others, or that run before the end."""
        undoing = self.states.ways.undoing
        firsts = [undoing.chain_of(name) for name in undoing.compensable]
        timeout = self.workflow.timeouts.workflow_exec_timeout
        if timeout is not None and timeout.run_before is not None:
            firsts.append(timeout.run_before)
        return {one.name for first in firsts for one in undoing.chain(first)}

    def _before_the_end(self, steps: list[Step]) -> list[Step]:
        """Return *steps* in a task that runs other states if the time of the workflow is over, if it has such."""
        given = self.workflow.timeouts.workflow_exec_timeout
        if given is None or given.run_before is None:
            return steps
        outer, inner = self.context.names.free(self.workflow.id), "inTime"
        # A call may time out, too.
        late = {"type": f"{ERRORS}timeout", "instance": f"/do/0/{outer}/try/0/{inner}"}
        self.context.differs(RUN_BEFORE.format(state=given.run_before), given)
        if self.states.ways.undoing.compensable:
            self.context.differs("compensation that the timeout breaks off begins again: in 0.8 it continues", given)
        time = {"after": duration(given.duration, self.context.translate)}
        catch = {"errors": {"with": late}, "do": as_list(self.states.chain(given.run_before))}
        return [(outer, {"try": [{inner: {"do": as_list(steps), "timeout": time}}], "catch": catch})]

    def _tasks(self) -> list[dict[str, Any]]:
        start = self.workflow.start_state
        # Instances begin with the first task, wherever the state of the start is written.
        undoing = self.states.ways.undoing
        written = [one for one in self.workflow.states if one.name not in self._apart()]
        for one in written:
            if not undoing.is_reached(one.name):
                self.context.reshaped(f"the state {one.name!r}, which is never reached, is left out", one)
        written = [one for one in written if undoing.is_reached(one.name)]
        ordered = sorted(written, key=lambda one: one.name != start)
        blocks = [block for state in ordered for block in self._blocks(state, is_start=state.name == start)]
        return as_list(self._before_the_end(trimmed(reached(linked(blocks)))))

    def _blocks(self, state: State, *, is_start: bool) -> list[Block]:
        try:
            with self.context.at(state):
                begins = is_start and isinstance(state, EventState) and self._starts(state)
        except Inexpressible as error:
            begins = False
            self.context.refused(f"the start in {state.name!r}: {error}", state)
        return self.states.blocks(state, is_begun=begins)

    def _starts(self, state: EventState) -> bool:
        """Let the events of *state*, with which the workflow starts, start instances; return False if others do."""
        if any(_leads_to(one, state) for one in self.workflow.states):
            raise Inexpressible("a state whose events start instances, and to which a transition leads back")
        refs = list(dict.fromkeys(ref for entry in state.on_events for ref in entry.event_refs))
        entries = state.on_events
        by_entry = self.states.is_by_entry(state)
        alike = are_alike([entry.event_data_filter for entry in entries])
        listen = listen_to(refs, self.context, needs_all=not state.exclusive, is_start=True)["listen"]
        path = "" if "read" in listen else ".data"
        listen["read"] = "envelope"
        is_all = len(refs) > 1 and not state.exclusive
        known = [{one.context_attribute_name for one in self.context.events[ref].correlation} for ref in refs]
        self.context.started_with = frozenset(set.intersection(*known))
        if any(self.context.events[ref].correlation for ref in refs):
            message = "an event of the start with the correlation values of a running instance starts another one"
            self.context.differs(message, state)
        if by_entry:
            self._from = "{data: {}, event: .[0]}"
        elif is_all:
            self._from = self.states.merged_events(state, "{}", path, alike=alike)
        else:
            merge = merge_of_event(entries[0].event_data_filter, self.context, f".[0]{path}")
            self._from = "{}" if merge is None else merge.effect()
        self._schedule = {"on": listen["to"], "read": "envelope"}
        self.context.differs(STARTED, state)
        return True


def _newer(node: Any, key: str = "") -> Iterator[str]:
    """Yield what *node*, under *key*, has that only the version after 1.0.3 knows."""
    if isinstance(node, list):
        for one in node:
            yield from _newer(one)
    if not isinstance(node, dict):
        return
    found = {
        "catch.then": key == "catch" and "then" in node,
        "schedule.read": key == "schedule" and "read" in node,
        "an endpoint without a scheme": _is_relative(node.get("endpoint"))
        or (key == "endpoint" and _is_relative(node.get("uri"))),
        "a source without a scheme": key == "with" and "type" in node and _is_relative(node.get("source")),
    }
    yield from (what for what, is_so in found.items() if is_so)
    for name, value in node.items():
        if name not in ("set", "metadata"):
            yield from _newer(value, name)


def _is_relative(uri: Any) -> bool:
    return isinstance(uri, str) and "://" not in uri and "${" not in uri


def _named(node: Any) -> Iterator[tuple[str, str]]:
    """Yield the names of components in *node*, each with the key under which it stands."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key in ("call", "retry", "use") and isinstance(value, str):
                yield key, value
            elif key not in ("set", "metadata"):
                yield from _named(value)
    elif isinstance(node, list):
        for one in node:
            yield from _named(one)


def _leads_to(holder: State, state: State) -> bool:
    holders: list[WithTransition] = [holder, *holder.on_errors]
    for name in ("data_conditions", "event_conditions"):
        holders += getattr(holder, name, ())
    default = getattr(holder, "default_condition", None)
    if default is not None:
        holders.append(default)
    names = (state.name, state.id)
    return any(one.transition is not None and one.transition.next_state in names for one in holders)
