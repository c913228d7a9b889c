"""States as tasks of DSL 1.0.

The work of a state is one task or several. They become one task with the name of the state, whose `input.from` and
`output.as` are the state's filters; what a state produces when it is left becomes tasks behind it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from swf_temporal.base.data import JSON
from swf_temporal.languages.serverless_workflow.model.states import (
    Branch,
    CallbackState,
    End,
    EventState,
    ForeachState,
    InjectState,
    OnEvents,
    OperationState,
    ParallelState,
    SleepState,
    StateBase,
    SwitchState,
    Transition,
    WithTransition,
)
from swf_temporal.languages.serverless_workflow.upgrading.dsl.actions import as_list, effect, sequence
from swf_temporal.languages.serverless_workflow.upgrading.dsl.context import ERRORS, Context, Step, Task, duration
from swf_temporal.languages.serverless_workflow.upgrading.dsl.errors import caught
from swf_temporal.languages.serverless_workflow.upgrading.dsl.events import (
    emits,
    listen_to,
    merge_of_event,
    merged_output,
)
from swf_temporal.languages.serverless_workflow.upgrading.dsl.expressions import (
    Inexpressible,
    braced,
    check_variable,
    grouped,
    piped,
)
from swf_temporal.languages.serverless_workflow.upgrading.dsl.merging import ARRAYS, SELECTS
from swf_temporal.languages.serverless_workflow.upgrading.dsl.names import TaskNames

Way = str
"""Where a task leads: the name of a task, or `end`."""
END: Final = "end"
IN_TURN: Final = "iterations run one after the other: 1.0 cannot run them side by side"
ORDER: Final = "the data of several events are merged in the order in which the events came"
FIRST: Final = "a fork that competes ends with the first branch that succeeds, and fails only if all fail"


@dataclass(slots=True)
class Block:
    """Tasks that follow one another, and where the last of them leads; None if that says itself where."""

    steps: list[Step]
    way: Way | None = None


@dataclass(slots=True)
class Written:
    """What a state has become: its own tasks first, then those that lead away from it."""

    blocks: list[Block] = field(default_factory=list)


class States:
    """Writes the states of one definition."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._translate = context.translate
        self._names = {one.name: context.names.free(one.name) for one in context.workflow.states}
        self._ids = {one.id: one.name for one in context.workflow.states if one.id is not None}
        self._work: Mapping[type[StateBase], Callable[[Any], list[Step]]] = {
            InjectState: self._inject,
            OperationState: self._operation,
            SleepState: self._sleep,
            EventState: self._event,
            CallbackState: self._callback,
            ForeachState: self._foreach,
            ParallelState: self._parallel,
        }

    def name_of(self, state: str) -> str:
        """Return the name of the task that the *state*, given by its name or its id, has become."""
        return self._names[self._ids.get(state, state) if state not in self._names else state]

    def written(self, state: StateBase, *, is_begun: bool = False) -> Written:
        """Return the tasks of *state*; the events of one that *is_begun* have started the instance.

        Raises Inexpressible.
        """
        self._context.inner = TaskNames()
        if state.compensated_by is not None or state.used_for_compensation:
            raise Inexpressible("compensation, which 1.0 does not have")
        if isinstance(state, SwitchState):
            return self._switch(state)
        steps = (
            self._actions_of(state) if is_begun and isinstance(state, EventState) else self._work[type(state)](state)
        )
        made = Written([Block([(self.name_of(state.name), {})])])
        block = made.blocks[0]
        task = self._whole(state, steps)
        if state.on_errors:
            task = self._handled(state, task, made)
        if state.metadata:
            task["metadata"] = _plain(state.metadata)
        block.steps[0] = (self.name_of(state.name), task)
        self._leave(state, block)
        return made

    # Ways out

    def _leave(self, holder: WithTransition, block: Block) -> None:
        """Let *block* lead where *holder* does, and emit what is produced on the way."""
        way, given = self._way(holder)
        if given is not None:
            block.steps += emits(given.produce_events, self._context)
        block.way = way

    def _way(self, holder: WithTransition) -> tuple[Way, Transition | End | None]:
        given: Transition | End | None = holder.transition if holder.transition is not None else holder.end
        if given is None:
            return END, None
        if given.compensate:
            raise Inexpressible("compensation, which 1.0 does not have")
        if isinstance(given, End):
            if given.continue_as is not None:
                raise Inexpressible("continueAs, which 1.0 does not have")
            return END, given
        return self.name_of(given.next_state), given

    def _directly(self, holder: WithTransition, made: Written) -> Way:
        """Return where *holder* leads; tasks for what is produced on the way are put into *made*."""
        way, given = self._way(holder)
        if given is None or not given.produce_events:
            return way
        steps = emits(given.produce_events, self._context)
        made.blocks.append(Block(steps, way))
        return steps[0][0]

    # Filters, timeouts and errors

    def _whole(self, state: StateBase, steps: list[Step]) -> Task:
        """Return *steps* as one task, with the filters and the timeout of *state*."""
        taken, left = self._filters(state)
        if not steps:
            task: Task = {"set": braced(piped(*(one for one in (taken, left) if one is not None)))}
            return self._in_time(state, task)
        ((_, first), *others) = steps
        fits = "input" not in first or (taken is None)
        if others or "if" in first and left is not None or not fits or "timeout" in first or "metadata" in first:
            task = {"do": as_list(steps)}
        else:
            task = first
        if taken is not None:
            task = {"input": {"from": taken}, **task}
        if left is not None:
            before = task.get("output", {}).get("as")
            task["output"] = {"as": left if before is None else piped(before, left)}
        return self._in_time(state, _ordered(task))

    def _filters(self, state: StateBase) -> tuple[str | None, str | None]:
        given = state.state_data_filter
        if given is None:
            return None, None
        return self._filter(given.input), self._filter(given.output)

    def _filter(self, given: Any) -> str | None:
        if given is None:
            return None
        if not self._translate.kinds(given) <= {"object", "array", "string", "number", "boolean"}:
            self._context.note([SELECTS])
        found = self._translate.jq(given)
        return None if found.strip() == "." else found

    def _in_time(self, state: StateBase, task: Task) -> Task:
        times = self._context.timeouts(state.timeouts)
        if times.single_state_exec_timeout is not None:
            raise Inexpressible("a stateExecTimeout with single and total")
        if times.state_exec_timeout is None or "set" in task:
            return task
        if "timeout" in task:
            raise Inexpressible("a timeout of a state beside that of its only action")
        return {**task, "timeout": {"after": duration(times.state_exec_timeout)}}

    def _handled(self, state: StateBase, task: Task, made: Written) -> Task:
        """Return *task* in a try task that leads where the entry of `onErrors` does."""
        if len(state.on_errors) > 1:
            raise Inexpressible("several entries of onErrors: a try task has one catch")
        (entry,) = state.on_errors
        if (
            isinstance(state, EventState | CallbackState | SwitchState)
            and self._context.timeouts(state.timeouts).event_timeout
        ):
            raise Inexpressible("onErrors of a state with an eventTimeout")
        name = self._context.inner.free(f"try {state.name}")
        taken = task.pop("input", None)
        if taken is not None and ("set" in task or _mentions_raw(task)):
            raise Inexpressible("onErrors of a state with an input filter")
        catch = {**caught(entry, self._context), "then": self._directly(entry, made)}
        return {**({} if taken is None else {"input": taken}), "try": [{name: task}], "catch": catch}

    # States

    def _inject(self, state: InjectState) -> list[Step]:
        data = state.data
        if not isinstance(data, Mapping):
            raise Inexpressible("injected data that are no object")
        if not data:
            return []
        self._context.note([ARRAYS])
        task = {"set": self._translate.template(_plain(data)), "output": {"as": "$input * ."}}
        return [(state.name, task)]

    def _operation(self, state: OperationState) -> list[Step]:
        timeout = self._context.timeouts(state.timeouts).action_exec_timeout
        if state.action_mode == "parallel" and len(state.actions) > 1:
            return [(state.name, self._beside([effect(one, timeout, self._context) for one in state.actions]))]
        return sequence(state.actions, timeout, self._context)

    def _beside(self, branches: list[Step]) -> Task:
        """Return a fork of *branches* that yield what is merged into the data."""
        return {
            "fork": {"branches": as_list(branches)},
            "output": {"as": "reduce .[] as $result ($input; . * $result)"},
        }

    def _sleep(self, state: SleepState) -> list[Step]:
        return [(state.name, {"wait": duration(state.duration)})]

    def _callback(self, state: CallbackState) -> list[Step]:
        times = self._context.timeouts(state.timeouts)
        steps = sequence((state.action,), times.action_exec_timeout, self._context)
        listen = listen_to([state.event_ref], self._context)
        listen = merged_output(listen, merge_of_event(state.event_data_filter, self._context), self._context)
        return [*steps, self._late(state.event_ref, listen, times.event_timeout, is_last=True)]

    def _late(self, name: str, listen: Task, timeout: str | None, *, is_last: bool) -> Step:
        """Return *listen* as a step that goes on if no event comes in time, and leaves the list if others follow."""
        found = self._context.inner.free(name)
        if timeout is None:
            return found, listen
        inner = {**listen, "timeout": {"after": duration(timeout)}}
        catch: dict[str, Any] = {"errors": {"with": {"type": f"{ERRORS}timeout"}}}
        if not is_last:
            catch["then"] = "exit"
        return self._context.inner.free(f"try {name}"), {"try": [{found: inner}], "catch": catch}

    def _event(self, state: EventState) -> list[Step]:
        times = self._context.timeouts(state.timeouts)
        refs = [ref for entry in state.on_events for ref in entry.event_refs]
        several = len(set(refs)) > 1
        acting = [entry for entry in state.on_events if entry.actions]
        filters = [entry.event_data_filter for entry in state.on_events]
        alike = all(one == filters[0] for one in filters)
        if len(state.on_events) > 1 and (not alike or (acting and state.exclusive)):
            raise Inexpressible("several entries of onEvents with their own filters or actions")
        listen = listen_to(list(dict.fromkeys(refs)), self._context, needs_all=not state.exclusive)
        if several and not state.exclusive:
            self._context.note([ORDER])
            merge = merge_of_event(filters[0], self._context, ".")
            folded = "$input"
            if merge is not None:
                self._context.note(merge.notes)
                folded = f"reduce (.[] | {merge.effect()}) as $event ($input; . * $event)"
            listen = {**listen, "output": {"as": folded}}
        else:
            listen = merged_output(listen, merge_of_event(filters[0], self._context), self._context)
        actions = self._actions_of(state)
        return [self._late(refs[0], listen, times.event_timeout, is_last=not actions), *actions]

    def _actions_of(self, state: EventState) -> list[Step]:
        timeout = self._context.timeouts(state.timeouts).action_exec_timeout
        return [step for entry in state.on_events for step in self._entry(entry, timeout)]

    def _entry(self, entry: OnEvents, timeout: str | None) -> list[Step]:
        if entry.action_mode == "parallel" and len(entry.actions) > 1:
            branches = [effect(one, timeout, self._context) for one in entry.actions]
            return [(self._context.inner.free("actions"), self._beside(branches))]
        return sequence(entry.actions, timeout, self._context)

    def _parallel(self, state: ParallelState) -> list[Step]:
        need = state.num_completed
        count = len(state.branches)
        is_all = state.completion_type == "allOf" or str(need) == str(count)
        if not is_all and str(need) != "1":
            raise Inexpressible(f"{need} of {count} branches: a fork waits for all, or for one")
        branches = [self._branch(state, branch) for branch in state.branches]
        task = self._beside(branches)
        if not is_all:
            self._context.differs(FIRST, state)
            task["fork"]["compete"] = True
            task["output"]["as"] = "$input * ."
        return [(state.name, task)]

    def _branch(self, state: ParallelState, branch: Branch) -> Step:
        inherited = self._context.timeouts(state.timeouts)
        timeout = branch.timeouts.action_exec_timeout or inherited.action_exec_timeout
        time = branch.timeouts.branch_exec_timeout or inherited.branch_exec_timeout
        if len(branch.actions) == 1:
            name, task = effect(branch.actions[0], timeout, self._context)
            if time is None:
                return self._context.inner.free(branch.name), task
            task = {"do": as_list([(name, task)])}
        else:
            task = {"do": as_list(sequence(branch.actions, timeout, self._context))}
            message = (
                "a branch with several actions yields all its data: what it does not change replaces what branches"
                " before it changed"
            )
            self._context.differs(message, branch)
        if time is not None:
            task["timeout"] = {"after": duration(time)}
        return self._context.inner.free(branch.name), task

    def _foreach(self, state: ForeachState) -> list[Step]:
        context, item = self._context, state.iteration_param
        check_variable(item)
        if state.mode == "parallel" and str(state.batch_size) != "1":
            context.differs(IN_TURN, state)
        timeout = context.timeouts(state.timeouts).action_exec_timeout
        if len(state.actions) != 1:
            raise Inexpressible("iterations with several actions")
        (action,) = state.actions
        name, task = effect(action, timeout, context)
        if "input" in task:
            raise Inexpressible("fromStateData in iterations")
        collection = self._translate.jq(state.input_collection)
        base = "$task.input"
        if state.output_collection is None:
            output = f"{base} * {grouped(task['output']['as'])}"
        else:
            place = self._translate.jq(state.output_collection)
            filter_ = action.action_data_filter
            results = None if filter_ is None else filter_.results
            if filter_ is not None and not filter_.use_results:
                raise Inexpressible("outputCollection without results")
            value = "." if results is None else self._translate.jq(results)
            output = f". as $result | {base} | {place} += [{piped('$result', value)}]"
        context.differs("an iteration sees what those before it merged into the data", state)
        task = {"input": {"from": f". + {{{item}: ${item}}}"}, **task, "output": {"as": output}}
        if "try" in task:
            raise Inexpressible("retries in iterations")
        return [
            (
                state.name,
                {"for": {"each": item, "in": _array(collection)}, "do": as_list([(name, task)])},
            )
        ]

    # Switches

    def _switch(self, state: SwitchState) -> Written:
        if state.event_conditions:
            raise Inexpressible("conditions by events")
        if state.on_errors:
            raise Inexpressible("onErrors of a switch")
        name = self.name_of(state.name)
        made = Written([Block([(name, {})])])
        cases: list[dict[str, Any]] = []
        taken = {"otherwise"}
        for condition in state.data_conditions:
            way = self._directly(condition, made)
            label = _free(condition.name or way, taken)
            cases.append({label: {"when": self._translate.condition(condition.condition), "then": way}})
        default = state.default_condition
        if default is not None:
            way = self._directly(default, made)
        else:
            way = self._context.names.free(f"no condition of {state.name} holds")
            error = {
                "type": f"{ERRORS}runtime",
                "status": 500,
                "title": "NoConditionMatched",
                "detail": f"no condition of {state.name!r} holds",
            }
            made.blocks.append(Block([(way, {"raise": {"error": error}})], END))
        cases.append({"otherwise": {"then": way}})
        taken_filter, left = self._filters(state)
        task: Task = {"switch": cases}
        if taken_filter is not None:
            task = {"input": {"from": taken_filter}, **task}
        if left is not None:
            task["output"] = {"as": left}
        if state.metadata:
            task["metadata"] = _plain(state.metadata)
        made.blocks[0].steps[0] = (name, task)
        return made


def _free(label: str, taken: set[str]) -> str:
    found, number = label, 1
    while found in taken:
        number += 1
        found = f"{label} {number}"
    taken.add(found)
    return found


def _array(collection: str) -> str:
    """Return the array of what *collection* yields: in 0.8 it may also yield the elements one by one."""
    return f"[{collection}]" if "[]" in collection and not collection.startswith("[") else collection


def _ordered(task: Task) -> Task:
    """Return *task* with the keys in the order in which people write them."""
    order = ("if", "input")
    ends = ("output", "timeout", "metadata")
    middle = [key for key in task if key not in (*order, *ends)]
    return {key: task[key] for key in (*order, *middle, *ends) if key in task}


def _mentions_raw(task: Task) -> bool:
    return "$task.input" in str(task.get("output", ""))


def _plain(value: JSON) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
