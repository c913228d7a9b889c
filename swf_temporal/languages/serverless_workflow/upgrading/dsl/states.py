"""States as tasks of DSL 1.0.

The work of a state is one task or several. They become one task with the name of the state, whose `input.from` and
`output.as` are the state's filters; what a state produces when it is left becomes tasks behind it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from swf_temporal.base.data import JSON
from swf_temporal.base.strict_json import show_json
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
from swf_temporal.languages.serverless_workflow.upgrading.dsl.actions import WHOLE, as_list, effect, sequence
from swf_temporal.languages.serverless_workflow.upgrading.dsl.context import ERRORS, Context, Step, Task, duration
from swf_temporal.languages.serverless_workflow.upgrading.dsl.errors import GIVEN, caught
from swf_temporal.languages.serverless_workflow.upgrading.dsl.events import (
    are_alike,
    emits,
    listen_to,
    merge_of_event,
    merged_output,
)
from swf_temporal.languages.serverless_workflow.upgrading.dsl.expressions import (
    Inexpressible,
    braced,
    check_variable,
    piped,
    single,
    uses_root,
)
from swf_temporal.languages.serverless_workflow.upgrading.dsl.merging import ARRAYS, SELECTS, Merge, keys_of
from swf_temporal.languages.serverless_workflow.upgrading.dsl.names import TaskNames

Way = str
"""Where a task leads: the name of a task, or `end`."""
END: Final = "end"
_WAYS: Final = {"transition", "end"}
IN_TURN: Final = "iterations run one after the other: 1.0 cannot run them side by side"
SEEN: Final = "an iteration sees what those before it merged into the data"
LOST: Final = "events that a listen task took are lost if it times out before it has all: 0.8 gives them back"
ORDER: Final = "the data of several events are merged in the order in which the events came"
FIRST: Final = "a fork that competes ends with the first branch that succeeds, and fails only if all fail"


@dataclass(slots=True)
class Block:
    """Tasks that follow one another, and where the last of them leads; None if that says itself where."""

    steps: list[Step]
    way: Way | None = None


@dataclass(slots=True)
class Written:
    """The tasks that a state has become: its own tasks first, then those that lead away from it."""

    blocks: list[Block] = field(default_factory=list)


class States:
    """Writes the states of one definition."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._translate = context.translate
        self._names = {one.name: context.names.free(one.name) for one in context.workflow.states}
        self._ids = {one.id: one.name for one in context.workflow.states if one.id is not None}
        self._reads_errors = "$WORKFLOW.error" in context.workflow.source.text
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
        way, given = self._way(state)
        block.way = way
        produced = () if given is None else given.produce_events
        if state.on_errors:
            task = self._handled(state, task, emits(produced, self._context, self._context.inner), made)
        else:
            block.steps += emits(produced, self._context, self._context.names)
        if state.metadata:
            task["metadata"] = _plain(state.metadata)
        block.steps[0] = (self.name_of(state.name), task)
        return made

    # Ways out

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
        steps = emits(given.produce_events, self._context, self._context.names)
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
        if others or ("if" in first and left is not None) or not fits or "timeout" in first or "metadata" in first:
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
        return {**task, "timeout": {"after": duration(times.state_exec_timeout, self._translate)}}

    def _handled(self, state: StateBase, task: Task, emitting: list[Step], made: Written) -> Task:
        """Return *task*, and what emits events, in a try task that leads where the entry of `onErrors` does."""
        entry, *others = state.on_errors
        # Compared as written: models also differ by their places in the text.
        if any(one.model_dump(include=_WAYS) != entry.model_dump(include=_WAYS) for one in others):
            raise Inexpressible("entries of onErrors that lead to different states: a try task has one catch")
        if (
            isinstance(state, EventState | CallbackState | SwitchState)
            and self._context.timeouts(state.timeouts).event_timeout
        ):
            raise Inexpressible("onErrors of a state with an eventTimeout")
        name = self._context.inner.free(f"try {state.name}")
        taken = task.pop("input", None)
        if taken is not None and ("set" in task or _mentions_raw(task)):
            raise Inexpressible("onErrors of a state with an input filter")
        if emitting or not task.keys().isdisjoint(("do", "for", "fork", "try")):
            self._context.note([GIVEN])
        catch = caught(state.on_errors, self._context)
        if self._reads_errors:
            keep = {"set": braced("."), "export": {"as": "{error: $error}"}}
            catch["do"] = as_list([(self._context.inner.free("keep the error"), keep)])
        catch["then"] = self._directly(entry, made)
        tried = task["do"] if task.keys() == {"do"} else as_list([(name, task)])
        return {**({} if taken is None else {"input": taken}), "try": [*tried, *as_list(emitting)], "catch": catch}

    # States

    def _inject(self, state: InjectState) -> list[Step]:
        data = _plain(state.data)
        if data == {}:
            return []
        self._context.note([ARRAYS])
        is_object = isinstance(data, Mapping)
        if is_object:
            written = self._translate.template(data)
        else:
            is_object = isinstance(data, str) and self._translate.kinds(data, is_template=True) <= {"object"}
            written = braced(self._translate.construction(data))
        # Anything but an object replaces the data.
        task = {"set": written, "output": {"as": "$input * ." if is_object else "(objects | $input * .) // ."}}
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
        return [(state.name, {"wait": duration(state.duration, self._translate)})]

    def _callback(self, state: CallbackState) -> list[Step]:
        times = self._context.timeouts(state.timeouts)
        steps = sequence((state.action,), times.action_exec_timeout, self._context)
        listen = listen_to([state.event_ref], self._context)
        listen = merged_output(listen, merge_of_event(state.event_data_filter, self._context), self._context)
        return [*steps, self._late(state.event_ref, listen, times.event_timeout, is_last=True)]

    def _late(self, name: str, listen: Task, timeout: str | None, *, is_last: bool) -> Step:
        """Return *listen* as a step that continues if no event comes in time, and leaves the list if others follow."""
        found = self._context.inner.free(name)
        if timeout is None:
            return found, listen
        if "all" in listen["listen"]["to"]:
            self._context.note([LOST])
        inner = {**listen, "timeout": {"after": duration(timeout, self._translate)}}
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
        alike = are_alike(filters)
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
            if "timeout" in task and time is not None:
                task = {"do": as_list([(name, task)])}
        else:
            task = {"do": as_list(sequence(branch.actions, timeout, self._context))}
            self._context.differs(WHOLE, branch)
        if time is not None:
            task["timeout"] = {"after": duration(time, self._translate)}
        return self._context.inner.free(branch.name), task

    def _foreach(self, state: ForeachState) -> list[Step]:
        context, item = self._context, state.iteration_param
        check_variable(item)
        if state.mode == "parallel" and str(state.batch_size) != "1":
            context.differs(IN_TURN, state)
        timeout = context.timeouts(state.timeouts).action_exec_timeout
        loop: Task = {"for": {"each": item, "in": _array(self._translate.jq(state.input_collection))}}
        context.note([SEEN])
        if state.output_collection is not None:
            # Without elements there is an empty array.
            key, step = self._collecting(state, state.output_collection, timeout)
            return [(state.name, {**loop, "do": as_list([step]), "output": {"as": f".{key} //= []"}})]
        steps = sequence(state.actions, timeout, context)
        if any(self._uses_item(task, item) for _, task in steps):
            steps = [self._with_element(steps, item)]
        return [(state.name, {**loop, "do": as_list(steps)})]

    def _with_element(self, steps: list[Step], item: str) -> Step:
        """Return *steps* as one, for which the element is a part of the data."""
        given = {"input": {"from": f". + {{{item}: ${item}}}"}}
        ((name, task), *others) = steps
        if not others and task.keys().isdisjoint(("input", "do", "try", "if")):
            output = task.get("output", {}).get("as", ".").replace("$input", "$task.input", 1)
            return name, _ordered({**given, **task, "output": {"as": output}})
        self._context.note([f"iterations remove a key {item!r} of the data, which is that of the element"])
        inner = self._context.inner.free("iteration")
        return inner, {**given, "do": as_list(steps), "output": {"as": f"del(.{item})"}}

    def _collecting(self, state: ForeachState, collection: str, timeout: str | None) -> tuple[str, Step]:
        """Return the key of the *collection*, and the step that adds the result of an iteration to it."""
        context, item = self._context, state.iteration_param
        if len(state.actions) != 1:
            raise Inexpressible("an outputCollection of iterations with several actions")
        (action,) = state.actions
        name, task = effect(action, timeout, context)
        uses_item = self._uses_item(task, item)
        if "input" in task or "do" in task or ("try" in task and uses_item):
            raise Inexpressible("an outputCollection of actions with more than a call")
        base = "$task.input" if uses_item else "$input"
        keys = keys_of(self._translate.jq(collection))
        filter_ = action.action_data_filter
        results = None if filter_ is None else filter_.results
        if len(keys) != 1 or (filter_ is not None and not filter_.use_results):
            raise Inexpressible("an outputCollection that is not a key, or without results")
        value = "." if results is None else single(self._translate.jq(results))
        output = {"as": f"{base} + {{{keys[0]}: ({base}.{keys[0]} + [{value}])}}"}
        if "try" in task:
            ((inner, called),) = task["try"][0].items()
            task = {**task, "try": [{inner: {**called, "output": output}}]}
        else:
            task = {**task, "output": output}
        if uses_item:
            task = {"input": {"from": f". + {{{item}: ${item}}}"}, **task}
        return keys[0], (name, task)

    def _uses_item(self, task: Task, item: str) -> bool:
        """Return whether *task* may use the element as a part of the data, and not as a variable."""
        if "do" in task:
            inner = [one for step in task["do"] for one in step.values()]
            return uses_root(task.get("if", ""), item) or any(self._uses_item(one, item) for one in inner)
        if "try" in task:
            inner = [one for step in task["try"] for one in step.values()]
            return uses_root(task.get("if", ""), item) or any(self._uses_item(one, item) for one in inner)
        if "wait" in task:
            return "${" in str(task["wait"])
        if "emit" in task or "listen" in task:
            return True
        given = [task.get("with"), task.get("set"), task.get("run", {}).get("workflow", {}).get("input")]
        texts = [text for one in given for text in self._translate.texts_in(one)]
        return any(
            uses_root(text, item) for text in (*texts, task.get("if", ""), task.get("input", {}).get("from", ""))
        )

    # Switches

    def _switch(self, state: SwitchState) -> Written:
        if state.on_errors:
            raise Inexpressible("onErrors of a switch")
        if state.event_conditions:
            return self._by_events(state)
        name = self.name_of(state.name)
        made = Written([Block([(name, {})])])
        cases: list[dict[str, Any]] = []
        taken = {"otherwise"}
        for condition in state.data_conditions:
            way = self._directly(condition, made)
            label = _free(condition.name or way, taken)
            cases.append({label: {"when": self._translate.condition(condition.condition), "then": way}})
        cases.append({"otherwise": {"then": self._default(state, made)}})
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

    def _default(self, state: SwitchState, made: Written) -> Way:
        """Return where the default of *state* leads: to an error if it has none."""
        if state.default_condition is not None:
            return self._directly(state.default_condition, made)
        way = self._context.names.free(f"no condition of {state.name} holds")
        error = {
            "type": f"{ERRORS}runtime",
            "status": 500,
            "title": "NoConditionMatched",
            "detail": f"no condition of {state.name!r} holds",
        }
        made.blocks.append(Block([(way, {"raise": {"error": error}})]))
        return way

    def _by_events(self, state: SwitchState) -> Written:
        """Return a task that waits for one of the events, and one that goes where this leads."""
        context, conditions = self._context, state.event_conditions
        filters = [one.event_data_filter for one in conditions]
        if not are_alike(filters):
            raise Inexpressible("conditions by events with different filters")
        refs = list(dict.fromkeys(one.event_ref for one in conditions))
        listen = listen_to(refs, context)
        taken, left = self._filters(state)
        is_single = len(refs) == 1
        of = ".[0]" if is_single else ".event" if "read" in listen["listen"] else ".event.data"
        base = "$input" if is_single else ".data"
        merge: Merge | None = merge_of_event(filters[0], context, of)
        context.note([] if merge is None else merge.notes)
        merged = piped(base if merge is None else merge.into(base), *([] if left is None else [left]))
        made = Written([Block([])])
        if is_single:
            listen["output"] = {"as": merged}
            made.blocks[0].way = self._directly(conditions[0], made)
        else:
            listen["listen"]["read"] = "envelope"
            listen["output"] = {"as": "{data: $input, event: .[0]}"}
        task = self._in_time(state, listen)
        time = context.timeouts(state.timeouts).event_timeout
        if time is not None:
            if "timeout" in task or left is not None:
                raise Inexpressible("an eventTimeout beside a stateExecTimeout or an output filter")
            late = {**task, "timeout": {"after": duration(time, self._translate)}}
            catch = {"errors": {"with": {"type": f"{ERRORS}timeout"}}, "then": self._default(state, made)}
            task = {"try": as_list([(context.inner.free("wait"), late)]), "catch": catch}
        if taken is not None:
            task = {"input": {"from": taken}, **task}
        if state.metadata:
            task["metadata"] = _plain(state.metadata)
        made.blocks[0].steps.append((self.name_of(state.name), task))
        if not is_single:
            which = {"switch": self._event_cases(state, made), "output": {"as": merged}}
            made.blocks[0].steps.append((context.names.free(f"which event of {state.name}"), which))
        return made

    def _event_cases(self, state: SwitchState, made: Written) -> list[dict[str, Any]]:
        """Return the cases that tell the events of *state* apart, by their types or, where these are equal, sources."""
        events = [self._context.events[one.event_ref] for one in state.event_conditions]
        types = [event.type for event in events]
        cases: list[dict[str, Any]] = []
        labels: set[str] = set()
        tests: set[str] = set()
        for condition, event in zip(state.event_conditions, events, strict=True):
            key = "source" if not event.type or types.count(event.type) > 1 else "type"
            when = f".event.{key} == {show_json(getattr(event, key))}"
            if when in tests or getattr(event, key) is None:
                raise Inexpressible("conditions by events that have the same type and source")
            tests.add(when)
            label = _free(condition.name or condition.event_ref, labels)
            cases.append({label: {"when": when, "then": self._directly(condition, made)}})
        return cases


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
