"""Do all who tell of an instance say the same of it, whenever they are asked?

At one moment of a history, the state is compared that the query `status` answers with, that the graph shows, and from
which a retry goes on; and what a rerun makes again with what the trace says was begun.
"""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowHistory
from temporalio.worker import WorkflowRunner

from swf_temporal.drawing.outline import ITERATION
from swf_temporal.operations.instance_history import FollowedInstance, FollowedRun, RunHistory
from swf_temporal.operations.instances import facts_by_history
from swf_temporal.operations.rerunning import NeverThereError, Rerun, plan, where
from swf_temporal.operations.steps import runs_of
from swf_temporal.runtime.host import TraceKind
from swf_temporal.temporal.converter import CONVERTER
from swf_temporal.temporal.instance_part import OperatorOptions
from swf_temporal.temporal.records import Wanted
from swf_temporal.temporal.replaying import ReplayedRun, completed_part, replay

_COMPLETED = EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED


@dataclass(frozen=True, slots=True)
class How:
    runner: WorkflowRunner | None
    options: OperatorOptions


async def disagreements(history: WorkflowHistory, how: How, *, everywhere: bool) -> list[str]:
    """Return in what the answers differ after each of the tasks, or *everywhere* between two events, too."""
    found, at_task = [], dict[int, str]()
    for length in range(1, len(history.events) + 1):
        event = history.events[length - 1]
        is_end = length == len(history.events)
        if not (everywhere or is_end or event.event_type == _COMPLETED):
            continue
        part = WorkflowHistory(history.workflow_id, history.events[:length])
        replayed = await replay(part, CONVERTER, runner=how.runner, options=how.options)
        found += [f"after {length} events: {one}" for one in _differences(part, replayed)]
        # Between two tasks nothing happens, whatever has come by then.
        task = max((one.event_id for one in part.events if one.event_type == _COMPLETED), default=0)
        told = f"{replayed.status} {len(replayed.trace)}"
        if at_task.setdefault(task, told) != told and completed_part(part).events[-1].event_type == _COMPLETED:
            found.append(f"after {length} events: {told}, and {at_task[task]} when the task had ended")
    return found


def _differences(history: WorkflowHistory, replayed: ReplayedRun) -> Iterator[str]:
    if replayed.failure is not None:
        yield replayed.failure
        return
    facts = facts_by_history(replayed, with_trace=True)
    entered = dict.fromkeys(one.state for one in replayed.trace if one.enters_state)
    place = where(replayed.trace)
    state = None if place is None else replayed.trace[place].state
    if _is_between(history, replayed, facts.get("state")):
        return
    if facts.get("state") != state:
        yield f"status says {facts.get('state')!r}, and the trace {state!r}"
    if [one["kind"] for one in facts["trace"]] != [str(one.kind) for one in replayed.trace]:
        yield "the trace of the console is another"
    run = FollowedRun(RunHistory("run", history), replayed)
    instance = FollowedInstance({"id": history.workflow_id, "definition": "any", "status": "failed"}, [run])
    planned = _planned(instance, None)
    if (planned and planned.state) != state:
        yield f"a retry goes on in {planned and planned.state!r}, and status says {state!r}"
    if replayed.definition is None:
        return
    yield from _of_graph(replayed, state)
    for one in entered:
        yield from _of_rerun(instance, replayed, one)


def _is_between(history: WorkflowHistory, replayed: ReplayedRun, said: str | None) -> bool:
    """Tell whether it is in no state of this run, or in two, when the status says that it is in the one *said*."""
    entered = {one.state for one in replayed.trace if one.enters_state}
    left = {one.lane for one in replayed.trace if one.kind is TraceKind.STATE_LEFT}
    if not entered and history.events[0].workflow_execution_started_event_attributes.continued_execution_run_id:
        return True  # the run before has entered it
    if said is None and any(one.kind in _ENDS for one in replayed.trace):
        return True  # a language may say that it is in no state once it has ended
    if entered <= left and said not in entered:
        return True  # it is on its way to a state, and continues as new before it enters that
    return _undoes_beside(replayed, said)


_ENDS = {TraceKind.WORKFLOW_COMPLETED, TraceKind.WORKFLOW_FAILED, TraceKind.WORKFLOW_CONTINUED}


def _undoes_beside(replayed: ReplayedRun, said: str | None) -> bool:
    """Tell whether *said* still undoes work while the instance, whose time is over, is in another state."""
    kinds = [one.kind for one in replayed.trace]
    if TraceKind.COMPENSATING not in kinds or TraceKind.WORKFLOW_TIMED_OUT not in kinds:
        return False
    begun, over = kinds.index(TraceKind.COMPENSATING), kinds.index(TraceKind.WORKFLOW_TIMED_OUT)
    return begun < over and said in {one.state for one in replayed.trace[begun:over] if one.enters_state}


def _of_graph(replayed: ReplayedRun, state: str | None) -> Iterator[str]:
    [drawn] = runs_of([replayed])
    is_over = drawn.course.status not in ("running", "waiting")
    parts = drawn.course.parts.values()
    # What a function or an extension does is in the task that runs it, by path of execution.
    paths = {ITERATION.sub("", one.lane): one.status in ("running", "waiting") for one in parts}
    open_ = {path for path, is_open in paths.items() if is_open}
    if is_over and open_:
        yield f"the graph has ended, and {open_} not"
    # A branch that is not waited for runs beside what follows its state.
    shut = paths.keys() - open_
    open_ = {path for path in open_ if not any(path.startswith(f"{one}/") for one in shut)}
    left = [one.state for one in replayed.trace if one.kind is TraceKind.STATE_LEFT and one.lane == one.state]
    # A state whose work is undone stays open beside those that undo it.
    has_undone = any(one.kind is TraceKind.COMPENSATING for one in replayed.trace)
    agrees = state in open_ if has_undone and open_ else _are_of(state, open_)
    if not is_over and not agrees and not (not open_ and left[-1:] == [state]):
        yield f"the graph is in {open_}, and status in {state!r}"


def _are_of(state: str | None, open_: AbstractSet[str]) -> bool:
    """Return whether the parts *open_* are *state*, those around it, and those within it."""
    if state is None:
        return not open_
    return bool(open_) and all(f"{state}/".startswith(f"{one}/") or one.startswith(f"{state}/") for one in open_)


def _of_rerun(instance: FollowedInstance, replayed: ReplayedRun, state: str) -> Iterator[str]:
    planned = _planned(instance, state)
    if planned is None:
        yield f"it was in {state!r}, and cannot go on from there"
        return
    after = replayed.trace[planned.point.entry :]
    again = [one.state for one in after if one.enters_state]
    if list(planned.again) != list(dict.fromkeys(again)):
        yield f"from {state!r} it does {planned.again} again, and had entered {again}"
    over = replayed.over_before(planned.point.entry) | planned.results.keys()
    made = {one.id for one in planned.done}
    if both := replayed.known_as(over) & made:
        yield f"from {state!r} it makes {both} again, which are over"
    [run] = instance.runs
    begun = {one.call.id for one in replayed.calls if one.begins} - over
    if missing := (replayed.known_as(begun) & run.calls.keys()) - made - replayed.known_as(over):
        yield f"from {state!r} it does not make {missing} again"


def _planned(instance: FollowedInstance, state: str | None) -> Rerun | None:
    try:
        return plan(instance, Wanted("run", state), now=0, is_child=True)
    except NeverThereError:
        return None
