"""The outline of a workflow: its states with what they hold, and what else it defines."""

from collections.abc import Iterable, Iterator
from typing import Final

from swf_temporal.base.calendars.wording import schedule_words
from swf_temporal.base.data import JSON
from swf_temporal.drawing.outline import Outline, OutlinePart, Section, in_a_line
from swf_temporal.languages.serverless_workflow.model.schedules import Schedule
from swf_temporal.languages.serverless_workflow.model.states import (
    Branch,
    ForeachState,
    NestedStates,
    ParallelState,
    State,
)
from swf_temporal.languages.serverless_workflow.model.workflow import DataSchema, Workflow, WorkflowTimeouts
from swf_temporal.languages.serverless_workflow.outlining.retries import facts_of_retries
from swf_temporal.languages.serverless_workflow.outlining.ways import ways_of
from swf_temporal.languages.serverless_workflow.outlining.work import actions_of, work_of
from swf_temporal.languages.serverless_workflow.outlining.written import written

_TOLD: Final = (
    "name", "type", "written_type", "actions", "on_events", "action", "branches", "scope", "data_conditions",
    "event_conditions", "default_condition", "on_errors", "retries", "transition", "end", "compensated_by", "timeouts",
)  # fmt: skip
"""The fields of states that an outline has in a form of its own."""
_OTHERS: Final = ("key", "annotations", "keep_active", "metadata")
"""Those of workflows that it has as they are written."""
_WITHOUT_RETRY: Final = "actions without a retryRef"


def outline_of(workflow: Workflow) -> Outline:
    start = workflow.start
    return Outline(
        parts=_parts(workflow.states, workflow.start_state, ""),
        remarks=(
            *([f"in {start.window} only"] if start.window is not None else []),
            *(["stays active"] if workflow.keep_active else []),
        ),
        schedule=None if start.schedule is None else _schedule(start.schedule),
        sections=tuple(one for one in _sections(workflow) if one.lines),
        details=written(workflow, *(Workflow.model_fields.keys() - _OTHERS)),
    )


def _parts(states: Iterable[State], start: str, path: str) -> tuple[OutlinePart, ...]:
    return tuple(_part(state, path) for state in sorted(states, key=lambda one: one.name != start))


def _part(state: State, path: str) -> OutlinePart:
    own = f"{path}{state.name}"
    parts: tuple[OutlinePart, ...] = ()
    if isinstance(state, ParallelState):
        parts = tuple(_branch(branch, f"{own}/{branch.name}") for branch in state.branches)
    elif isinstance(state, ForeachState) and state.written_type is None:
        parts = _held(state.scope, own)
    return OutlinePart(
        path=own,
        kind=state.written_type or state.type,
        name=state.name,
        note="to undo another" if state.used_for_compensation else "",
        work=tuple(work_of(state)),
        limits=written(state.timeouts),
        waits_at_most=state.timeouts.event_timeout,
        ways=tuple(ways_of(state, path)),
        parts=parts,
        is_concurrent=isinstance(state, ParallelState),
        details=written(state, *_TOLD),
    )


def _branch(branch: Branch, path: str) -> OutlinePart:
    return OutlinePart(
        path=path,
        kind="branch",
        name=branch.name,
        note="" if branch.is_awaited else "not waited for",
        work=actions_of(branch.actions),
        limits=written(branch.timeouts),
        parts=_held(branch.scope, path),
    )


def _held(scope: NestedStates | None, path: str) -> tuple[OutlinePart, ...]:
    return () if scope is None else _parts(scope.states, scope.start, f"{path}/")


def _schedule(schedule: Schedule) -> dict[str, JSON]:
    cron = schedule.cron
    words = schedule_words(
        interval=schedule.interval,
        cron=None if cron is None else cron.expression,
        valid_until=None if cron is None else cron.valid_until,
        timezone=schedule.timezone,
    )
    return {**written(schedule), "words": words}


def _sections(workflow: Workflow) -> Iterator[Section]:
    retries = facts_of_retries(workflow)
    errors = [written(one) for one in workflow.errors]
    auth = [{"name": one.name, "scheme": one.scheme} for one in workflow.auth]
    schemas = {"input": workflow.data_input_schema, "output": workflow.data_output_schema}
    yield Section("errors", tuple(map(_error, errors)), errors)
    yield Section("retries", tuple(f"{one['name'] or _WITHOUT_RETRY}: {one['words']}" for one in retries), retries)
    yield Section("auth", tuple(f"{one['name']}: {one['scheme']}" for one in auth), auth)
    yield Section("constants", tuple(workflow.constants), list(workflow.constants))
    yield Section("timeouts", tuple(_timeouts(workflow.timeouts)), written(workflow.timeouts))
    given = {name: schema for name, schema in schemas.items() if schema is not None}
    yield Section(
        "data schemas",
        tuple(_schema(name, schema) for name, schema in given.items()),
        {name: {"schema": one.schema_, "failOnValidationErrors": one.fail_on_validation_errors}
         for name, one in given.items()},
    )  # fmt: skip
    yield Section("extensions", tuple(map(in_a_line, workflow.extensions)), list(workflow.extensions))
    elsewhere: JSON = {kind: external.uri for kind, external in workflow.externals.items()}
    yield Section("elsewhere", tuple(f"{kind}: {one.uri}" for kind, one in workflow.externals.items()), elsewhere)


def _error(error: dict[str, str]) -> str:
    facts = ", ".join(in_a_line(error[key]) for key in ("code", "description") if key in error)
    return f"{error['name']}: {facts}" if facts else error["name"]


def _timeouts(timeouts: WorkflowTimeouts) -> Iterator[str]:
    whole = timeouts.workflow_exec_timeout
    if whole is not None:
        then = "" if whole.run_before is None else f", after {whole.run_before}"
        patient = "" if whole.interrupt else ", not in the middle of a state"
        yield f"workflowExecTimeout {whole.duration}{then}{patient}"
    yield from (f"{name} {length}" for name, length in written(timeouts, "workflow_exec_timeout").items())


def _schema(name: str, schema: DataSchema) -> str:
    strict = "what does not fit is refused" if schema.fail_on_validation_errors else "what does not fit is only told"
    return f"{name}: {in_a_line(schema.schema_)}, {strict}"
