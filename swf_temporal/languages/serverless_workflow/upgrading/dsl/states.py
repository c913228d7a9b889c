"""States as tasks of DSL 1.0.

The work of a state is one task or several. They become one task with the name of the state, whose `input.from` and
`output.as` are the state's filters; what a state produces when it is left becomes tasks behind it.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Final

from swf_temporal.base.strict_json import show_json
from swf_temporal.languages.serverless_workflow.model.states import (
    Branch,
    CallbackState,
    EventState,
    ForeachState,
    InjectState,
    OnEvents,
    OperationState,
    ParallelState,
    SleepState,
    State,
    StateBase,
    SwitchState,
)
from swf_temporal.languages.serverless_workflow.upgrading.dsl.actions import (
    WHOLE,
    as_list,
    effect,
    sequence,
)
from swf_temporal.languages.serverless_workflow.upgrading.dsl.context import (
    ERRORS,
    Context,
    Step,
    Task,
    TaskNames,
    duration,
    ordered,
    plain,
    refusal,
    task_name,
)
from swf_temporal.languages.serverless_workflow.upgrading.dsl.errors import (
    GIVEN,
    codes_of,
    condition_of,
    filter_of,
    names_timeout,
)
from swf_temporal.languages.serverless_workflow.upgrading.dsl.events import (
    WILDCARDS,
    are_alike,
    listen_to,
    merge_of_event,
    merged_output,
)
from swf_temporal.languages.serverless_workflow.upgrading.dsl.expressions import (
    Inexpressible,
    braced,
    or_all,
    piped,
)
from swf_temporal.languages.serverless_workflow.upgrading.dsl.iterations import iterated
from swf_temporal.languages.serverless_workflow.upgrading.dsl.merging import ARRAYS
from swf_temporal.languages.serverless_workflow.upgrading.dsl.switches import Switches, free
from swf_temporal.languages.serverless_workflow.upgrading.dsl.ways import (
    END,
    EXIT,
    Block,
    Way,
    Ways,
    Written,
    linked,
    noted,
)

_VERBS: Final = ("call", "run", "emit", "listen", "wait", "set", "try", "for", "fork")
_FEW: Final = 5
"""The number of branches whose results are merged one by one."""
_WAYS: Final = {"transition", "end"}
LOST: Final = "1.0 does not say that events which a listen task took go back if it times out before it has all"
ORDER: Final = "the data of several events are merged in the order in which the events came"
FIRST: Final = "a fork that competes ends with the first branch that succeeds, and fails only if all fail"


class States:
    """Writes the states of one definition."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._translate = context.translate
        self.ways: Final = Ways(context, self.chain)
        self._switches = Switches(self)
        self._reads_errors = "$WORKFLOW.error" in context.workflow.source.text
        self._work: Mapping[type[StateBase], Callable[[Any], list[Step]]] = {
            InjectState: self._inject,
            OperationState: self._operation,
            SleepState: self._sleep,
            EventState: self._event,
            CallbackState: self._callback,
            ForeachState: lambda state: iterated(state, self.context),
            ParallelState: self._parallel,
        }

    def blocks(self, state: State, *, is_begun: bool = False) -> list[Block]:
        """Return the tasks of *state*: one that raises an error if it cannot be expressed."""
        try:
            with self.context.at(state):
                return self.written(state, is_begun=is_begun).blocks
        except Inexpressible as error:
            task = self._refused(state, error)
            return [Block([(self.ways.name_of(state.name), task)], self.ways.of(state))]

    def _refused(self, state: State, error: Inexpressible) -> Task:
        message = f"the {state.type} state {state.name!r}: {error}"
        self.context.refused(message, state)
        return refusal(message, state=state)

    def chain(self, first: str, end: Way = END) -> list[Step]:
        """Return the tasks of the states that are run from *first* on, which are no part of the other control flow."""
        before = self.ways.end, self.context.inner, self.context.state
        self.ways.end = end
        blocks = [block for state in self.ways.undoing.chain(first) for block in self.blocks(state)]
        self.ways.end, self.context.inner, self.context.state = before
        return linked(blocks, end)

    def written(self, state: State, *, is_begun: bool = False) -> Written:
        """Return the tasks of *state*; the events of one that *is_begun* have started the instance.

        Raises Inexpressible.
        """
        self.context.inner = TaskNames()
        self.context.state = state.name
        if isinstance(state, SwitchState):
            return self._switches.written(state)
        try:
            if is_begun and isinstance(state, EventState):
                steps = self._actions_of(state)
            else:
                steps = self._work[type(state)](state)
        except Inexpressible as error:
            # What is caught, and what follows, is written all the same.
            steps = [(state.name, self._refused(state, error))]
        name = self.ways.name_of(state.name)
        made = Written([Block([(name, {})], self.ways.of(state))])
        block = made.blocks[0]
        task = self._whole(state, steps)
        if state.on_errors:
            leaving = self.ways.leaving(state, state, self.context.inner)
            does = steps[0][0] if len(steps) == 1 and task_name(steps[0][0]) != name else f"try {state.name}"
            task = self._handled(state, (does, self.noted_task(state, task)), leaving, made)
        else:
            task = self.noted_task(state, task)
            block.steps += self.ways.leaving(state, state, self.context.names)
        block.steps += self.ways.continuing(state)
        if state.metadata:
            task["metadata"] = {**task.get("metadata", {}), **plain(state.metadata)}
        block.steps[0] = (name, self._told_apart(name, task))
        return made

    def _told_apart(self, name: str, task: Task) -> Task:
        """Return *task* without a task in it that has its *name*, too."""
        for key in ("try", "do"):
            for index, step in enumerate(task.get(key, ())):
                if name in step:
                    inner = step[name]
                    verb = next((verb for verb in _VERBS if verb in inner), "do")
                    other = self.context.inner.free(f"{verb} {name[:1].upper()}{name[1:]}")
                    task[key][index] = {other: inner}
                    known = self.context.inner_tasks.get(self.context.state, [])
                    known[:] = [(where, other if one == name else one) for where, one in known]
        return task

    def noted_task(self, state: StateBase, task: Task) -> Task:
        """Return *task* as the last of *state*: it notes that this is complete, if that is to be undone."""
        if state.compensated_by is None or not self.ways.undoing.is_noted:
            return task
        return {**task, "export": noted(state.name)}

    # Filters, timeouts and errors

    def _whole(self, state: StateBase, steps: list[Step]) -> Task:
        """Return *steps* as one task, with the filters and the timeout of *state*."""
        taken, left = self.filters(state)
        if not steps:
            task: Task = {"set": braced(piped(*(one for one in (taken, left) if one is not None)))}
            return self.in_time(state, task)
        ((_, first), *others) = steps
        fits = "input" not in first or (taken is None)
        if others or ("if" in first and left is not None) or not fits or "timeout" in first:
            task = {"do": as_list(steps)}
        else:
            task = first
        if taken is not None:
            task = {"input": {"from": taken}, **task}
        if left is not None:
            before = task.get("output", {}).get("as")
            task["output"] = {"as": left if before is None else piped(before, left)}
        return self.in_time(state, ordered(task))

    def filters(self, state: StateBase) -> tuple[str | None, str | None]:
        given = state.state_data_filter
        if given is None:
            return None, None
        return self._filter(given.input), self._filter(given.output)

    def _filter(self, given: Any) -> str | None:
        if given is None:
            return None
        found = self._translate.jq(given)
        if self._translate.kinds(given) <= {"object", "array", "string", "number", "boolean"}:
            return None if found.strip() == "." else found
        return or_all(found)

    def in_time(self, state: StateBase, task: Task) -> Task:
        times = self.context.timeouts(state.timeouts)
        if times.single_state_exec_timeout is not None:
            self.context.differs(f"1.0 has one timeout of a task: of {state.name!r} it is the total", state)
        if times.state_exec_timeout is None or "set" in task:
            return task
        if "timeout" in task:
            task = {"do": as_list([(self.context.inner.free(f"try {state.name}"), task)])}
        return {**task, "timeout": {"after": duration(times.state_exec_timeout, self._translate)}}

    def _handled(self, state: StateBase, step: Step, emitting: list[Step], made: Written) -> Task:
        """Return the task of *step*, and what emits events, in a try task that leads where `onErrors` does."""
        name, task = task_name(step[0]), step[1]
        # What a filter has selected is not the data of a task that merges into those before it.
        is_apart = "input" in task and ("set" in task or _mentions_raw(task))
        taken = None if is_apart else task.pop("input", None)
        if is_apart or emitting or _merges_in_parts(task):
            self.context.note([GIVEN])
        tried = task["do"] if task.keys() == {"do"} else as_list([(name, task)])
        catch = self._catch(state, made)
        return {**({} if taken is None else {"input": taken}), "try": [*tried, *as_list(emitting)], "catch": catch}

    def _catch(self, state: StateBase, made: Written) -> dict[str, Any]:
        """Return what catches the errors that *state* handles; several ways out of it become a switch in *made*."""
        entry, *others = state.on_errors
        # Compared as written: models also differ by their places in the text.
        leads_apart = any(one.model_dump(include=_WAYS) != entry.model_dump(include=_WAYS) for one in others)
        catch = filter_of(codes_of(state.on_errors, self.context))
        if self._reads_errors or leads_apart:
            kept = "$context + {error: $error}" if self.ways.undoing.is_noted else "{error: $error}"
            keep = {"set": braced("."), "export": {"as": kept}}
            catch["do"] = as_list([(self.context.inner.free("keep the error"), keep)])
        if not leads_apart:
            return {**catch, "then": self.ways.directly(state, entry, made)}
        way = self.context.names.free(f"errors of {state.name}")
        cases: list[dict[str, Any]] = []
        made.blocks.append(Block([(way, {"switch": cases})]))
        labels: set[str] = set()
        for one in state.on_errors:
            leads = {"then": self.ways.directly(state, one, made)}
            codes = codes_of((one,), self.context)
            if one is not state.on_errors[-1] and "" not in codes:
                leads = {"when": condition_of(codes, "$context.error"), **leads}
            label = "otherwise" if "" in codes else one.error_refs[0]
            cases.append({free(label, labels): leads})
            if "" in codes:
                break
        return {**catch, "then": way}

    # States

    def _inject(self, state: InjectState) -> list[Step]:
        data = plain(state.data)
        if data == {}:
            return []
        if self._has_arrays(data) or self._may_have_no_object:
            self.context.note([ARRAYS])
        is_object = isinstance(data, Mapping)
        if is_object:
            written = self._translate.template(data)
        else:
            is_object = isinstance(data, str) and self._translate.kinds(data, is_template=True) <= {"object"}
            written = braced(self._translate.construction(data))
        # Anything but an object replaces the data.
        task = {"set": written, "output": {"as": "$input * ." if is_object else "(objects | $input * .) // ."}}
        return [(state.name, task)]

    @cached_property
    def _may_have_no_object(self) -> bool:
        """Whether a state may make data that are no object, as far as that is written."""
        states = self.context.workflow.states
        injected = [one.data for one in states if isinstance(one, InjectState)]
        filters = [one.state_data_filter for one in states if one.state_data_filter is not None]
        selected = [given for one in filters for given in (one.input, one.output) if given is not None]
        return not all(isinstance(one, Mapping) for one in injected) or any(
            not self._translate.kinds(one) <= {"object"} for one in selected
        )

    def _has_arrays(self, data: Any) -> bool:
        """Return whether there may be arrays in *data*, a template."""
        if isinstance(data, Mapping):
            return any(map(self._has_arrays, data.values()))
        if isinstance(data, str):
            return not self._translate.kinds(data, is_template=True).isdisjoint(("array", "object"))
        return isinstance(data, list)

    def _operation(self, state: OperationState) -> list[Step]:
        timeout = self.context.timeouts(state.timeouts).action_exec_timeout
        if state.action_mode == "parallel" and len(state.actions) > 1:
            return [(state.name, self._beside([effect(one, timeout, self.context) for one in state.actions]))]
        return sequence(state.actions, timeout, self.context)

    def _beside(self, branches: list[Step]) -> Task:
        """Return a fork of *branches* that yield what is merged into the data."""
        merged = "reduce .[] as $result ($input; . * $result)"
        if len(branches) <= _FEW:
            merged = " * ".join(["$input", *(f".[{index}]" for index in range(len(branches)))])
        return {"fork": {"branches": as_list(branches)}, "output": {"as": merged}}

    def _sleep(self, state: SleepState) -> list[Step]:
        return [(state.name, {"wait": duration(state.duration, self._translate)})]

    def _callback(self, state: CallbackState) -> list[Step]:
        times = self.context.timeouts(state.timeouts)
        steps = sequence((state.action,), times.action_exec_timeout, self.context)
        listen = listen_to([state.event_ref], self.context)
        listen = merged_output(listen, merge_of_event(state.event_data_filter, self.context), self.context)
        return [*steps, self._late(state, state.event_ref, listen, is_last=True)]

    def _late(self, state: StateBase, name: str, listen: Task, *, is_last: bool) -> Step:
        """Return *listen* as a step that continues if no event comes in time, and leaves the list if others follow."""
        found = self.context.inner.free(name)
        timeout = self.context.timeouts(state.timeouts).event_timeout
        if timeout is None:
            return found, listen
        if "all" in listen["listen"]["to"]:
            self.context.note([LOST])
        inner = {**listen, "timeout": {"after": duration(timeout, self._translate)}}
        if names_timeout(state.on_errors, self.context):
            return found, inner
        catch: dict[str, Any] = {"errors": {"with": {"type": f"{ERRORS}timeout"}}}
        if not is_last:
            catch["then"] = "exit"
        return self.context.inner.free(f"try {name}"), {"try": [{found: inner}], "catch": catch}

    def _event(self, state: EventState) -> list[Step]:
        refs = list(dict.fromkeys(ref for entry in state.on_events for ref in entry.event_refs))
        if self.is_by_entry(state):
            listen, path = self._listened(state, refs)
            listen["output"] = {"as": "{data: $input, event: .[0]}"}
            return [self._late(state, "wait", listen, is_last=False), *self._entries(state, path)]
        listen = listen_to(refs, self.context, needs_all=not state.exclusive)
        if len(refs) > 1 and not state.exclusive:
            alike, path = are_alike([entry.event_data_filter for entry in state.on_events]), ""
            if not alike:
                listen, path = self._listened(state, refs)
            listen = {**listen, "output": {"as": self.merged_events(state, "$input", path, alike=alike)}}
        else:
            merge = merge_of_event(state.on_events[0].event_data_filter, self.context)
            listen = merged_output(listen, merge, self.context)
        actions = self._actions_of(state)
        return [self._late(state, refs[0], listen, is_last=not actions), *actions]

    def is_by_entry(self, state: EventState) -> bool:
        """Return whether one of several entries of *state*, each with something of its own, takes the event."""
        entries = state.on_events
        if not state.exclusive or len(entries) == 1:
            return False
        return any(one.actions for one in entries) or not are_alike([one.event_data_filter for one in entries])

    def _listened(self, state: EventState, refs: list[str]) -> tuple[Task, str]:
        """Return a listen task that reads events with their attributes, and the path of what 0.8 takes of one."""
        listen = listen_to(refs, self.context, needs_all=not state.exclusive)
        path = "" if "read" in listen["listen"] else ".data"
        listen["listen"]["read"] = "envelope"
        return listen, path

    def merged_events(self, state: EventState, base: str, path: str, *, alike: bool) -> str:
        """Return the jq that merges all events of *state*, of each what is at *path*, into *base*.

        Unless the filters of its entries are *alike*, each event is merged by that of its entry.
        """
        if alike:
            self.context.note([ORDER])
            merge = merge_of_event(state.on_events[0].event_data_filter, self.context, path or ".")
            if merge is None:
                return base
            self.context.note(merge.notes)
            return f"reduce (.[] | {merge.effect()}) as $event ({base}; . * $event)"
        for entry in state.on_events:
            for ref in entry.event_refs:
                of = f"(.[] | select({self._is_event('', ref, state)}) | .{path.removeprefix('.')})"
                merge = merge_of_event(entry.event_data_filter, self.context, of)
                if merge is not None:
                    self.context.note(merge.notes)
                    base = merge.into(base)
        return base

    def _is_event(self, path: str, ref: str, state: EventState) -> str:
        """Return the condition that the event at *path* is *ref*, among the events of *state*."""
        event = self.context.events[ref]
        names = {one for entry in state.on_events for one in entry.event_refs if one != ref}
        others = [self.context.events[one] for one in names]
        rivals = [one for one in others if not event.type or not one.type or one.type == event.type]
        if not rivals:
            return f"{path}.type == {show_json(event.type)}"
        source, *sources = [one.source or "#" for one in (event, *rivals)]
        if source in sources or any(part in WILDCARDS for one in (source, *sources) for part in one.split("/")):
            raise Inexpressible(f"the event {ref!r} beside others of its type whose sources are no different")
        return f"{path}.source == {show_json(source)}"

    def _entries(self, state: EventState, data: str) -> list[Step]:
        """Return a switch to the entry that an event belongs to, and the tasks of the entries."""
        timeout = self.context.timeouts(state.timeouts).action_exec_timeout
        cases: list[dict[str, Any]] = []
        steps: list[Step] = [(self.context.inner.free("which event"), {"switch": cases})]
        taken: set[str] = set()
        for entry in state.on_events:
            # An event that several entries name belongs to the first of them.
            refs = [ref for ref in entry.event_refs if ref not in taken]
            taken.update(refs)
            if not refs:
                continue
            name = self.context.inner.free(f"on {refs[0]}")
            when = " or ".join(self._is_event(".event", ref, state) for ref in refs)
            cases.append({refs[0]: {"when": when, "then": name}})
            merge = merge_of_event(entry.event_data_filter, self.context, f".event{data}")
            self.context.note([] if merge is None else merge.notes)
            merged = ".data" if merge is None else merge.into(".data")
            actions = self._entry(entry, timeout)
            task: Task = {"input": {"from": merged}, "do": as_list(actions)} if actions else {"set": braced(merged)}
            steps.append((name, {**task, "then": EXIT}))
        del steps[-1][1]["then"]
        return steps

    def _actions_of(self, state: EventState) -> list[Step]:
        """Return the tasks of *state* once its events are there, and started the instance."""
        if self.is_by_entry(state):
            return self._entries(state, ".data")
        timeout = self.context.timeouts(state.timeouts).action_exec_timeout
        return [step for entry in state.on_events for step in self._entry(entry, timeout)]

    def _entry(self, entry: OnEvents, timeout: str | None) -> list[Step]:
        if entry.action_mode == "parallel" and len(entry.actions) > 1:
            branches = [effect(one, timeout, self.context) for one in entry.actions]
            return [(self.context.inner.free("actions"), self._beside(branches))]
        return sequence(entry.actions, timeout, self.context)

    def _parallel(self, state: ParallelState) -> list[Step]:
        need = state.num_completed
        count = len(state.branches)
        is_all = state.completion_type == "allOf" or str(need) != "1"
        if is_all and need is not None and str(need) != str(count):
            message = f"1.0 waits for all branches, or for one: {state.name!r} waits for all, and not for {need}"
            self.context.differs(message, state)
        branches = [self._branch(state, branch) for branch in state.branches]
        task = self._beside(branches)
        if not is_all:
            self.context.differs(FIRST, state)
            task["fork"]["compete"] = True
            task["output"]["as"] = "$input * ."
        return [(state.name, task)]

    def _branch(self, state: ParallelState, branch: Branch) -> Step:
        inherited = self.context.timeouts(state.timeouts)
        timeout = branch.timeouts.action_exec_timeout or inherited.action_exec_timeout
        time = branch.timeouts.branch_exec_timeout or inherited.branch_exec_timeout
        if len(branch.actions) == 1:
            name, task = effect(branch.actions[0], timeout, self.context)
            if "timeout" in task and time is not None:
                task = {"do": as_list([(name, task)])}
        else:
            task = {"do": as_list(sequence(branch.actions, timeout, self.context))}
            self.context.differs(WHOLE, branch)
        if time is not None:
            task["timeout"] = {"after": duration(time, self._translate)}
        found = self.context.inner.free(branch.name)
        for one in (branch, *(branch.actions if len(branch.actions) == 1 else ())):
            self.context.becomes(one, found)
        return found, task


def _merges_in_parts(task: Task) -> bool:
    """Return whether what a part of *task* merges is lost if another part fails."""
    if "try" not in task:
        return not task.keys().isdisjoint(("do", "for", "fork"))
    inner = [one for step in task["try"] for one in step.values()]
    return len(inner) > 1 or any(map(_merges_in_parts, inner))


def _mentions_raw(task: Task) -> bool:
    return "$task.input" in str(task.get("output", ""))
