"""States as tasks of DSL 1.0.

The work of a state is one task or several. They become one task with the name of the state, whose `input.from` and
`output.as` are the state's filters; what a state produces when it is left becomes tasks behind it.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from swf_temporal.base.data import JSON
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
    COLLECTED,
    WHOLE,
    as_list,
    effect,
    has_result,
    sequence,
    yielding,
)
from swf_temporal.languages.serverless_workflow.upgrading.dsl.context import ERRORS, Context, Step, Task, duration
from swf_temporal.languages.serverless_workflow.upgrading.dsl.errors import (
    GIVEN,
    codes_of,
    condition_of,
    filter_of,
    names_timeout,
    unmatched,
)
from swf_temporal.languages.serverless_workflow.upgrading.dsl.events import (
    are_alike,
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
    uses_root,
)
from swf_temporal.languages.serverless_workflow.upgrading.dsl.merging import ARRAYS, SELECTS, Merge
from swf_temporal.languages.serverless_workflow.upgrading.dsl.names import TaskNames, task_name
from swf_temporal.languages.serverless_workflow.upgrading.dsl.undoing import noted
from swf_temporal.languages.serverless_workflow.upgrading.dsl.ways import END, EXIT, Block, Way, Ways, Written, linked

_WAYS: Final = {"transition", "end"}
IN_TURN: Final = "iterations run one after the other: 1.0 cannot run them side by side"
SEEN: Final = "an iteration sees what those before it merged into the data"
LOST: Final = "events that a listen task took are lost if it times out before it has all: 0.8 gives them back"
ORDER: Final = "the data of several events are merged in the order in which the events came"
FIRST: Final = "a fork that competes ends with the first branch that succeeds, and fails only if all fail"


class States:
    """Writes the states of one definition."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._translate = context.translate
        self.ways: Final = Ways(context, self.chain)
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

    def blocks(self, state: State, *, is_begun: bool = False) -> list[Block]:
        """Return the tasks of *state*: one that raises an error if it cannot be expressed."""
        try:
            return self.written(state, is_begun=is_begun).blocks
        except Inexpressible as error:
            message = f"the {state.type} state {state.name!r}: {error}"
            self._context.refused(message, state)
            raised = {"type": f"{ERRORS}configuration", "status": 501, "title": f"Not in 1.0: {message}"}
            return [Block([(self.ways.name_of(state.name), {"raise": {"error": raised}})])]

    def chain(self, first: str, end: Way = END) -> list[Step]:
        """Return the tasks of the states that are run from *first* on, which are no part of the other control flow."""
        before = self.ways.end, self._context.inner
        self.ways.end = end
        blocks = [block for state in self.ways.undoing.chain(first) for block in self.blocks(state)]
        self.ways.end, self._context.inner = before
        return linked(blocks, end)

    def written(self, state: StateBase, *, is_begun: bool = False) -> Written:
        """Return the tasks of *state*; the events of one that *is_begun* have started the instance.

        Raises Inexpressible.
        """
        self._context.inner = TaskNames()
        if isinstance(state, SwitchState):
            return self._switch(state)
        steps = (
            self._actions_of(state) if is_begun and isinstance(state, EventState) else self._work[type(state)](state)
        )
        name = self.ways.name_of(state.name)
        made = Written([Block([(name, {})], self.ways.of(state))])
        block = made.blocks[0]
        task = self._whole(state, steps)
        if state.on_errors:
            leaving = self.ways.leaving(state, state, self._context.inner)
            does = steps[0][0] if len(steps) == 1 and steps[0][0] != state.name else f"try {state.name}"
            task = self._handled(state, (does, self._noted(state, task)), leaving, made)
        else:
            task = self._noted(state, task)
            block.steps += self.ways.leaving(state, state, self._context.names)
        block.steps += self.ways.continuing(state)
        if state.metadata:
            task["metadata"] = _plain(state.metadata)
        block.steps[0] = (name, task)
        return made

    def _noted(self, state: StateBase, task: Task) -> Task:
        """Return *task* as the last of *state*: it notes that this is complete, if that is to be undone."""
        if state.compensated_by is None or not self.ways.undoing.is_noted:
            return task
        return {**task, "export": noted(state.name)}

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
            self._context.differs(f"1.0 has one timeout of a task: of {state.name!r} it is the total", state)
        if times.state_exec_timeout is None or "set" in task:
            return task
        if "timeout" in task:
            task = {"do": as_list([(self._context.inner.free(f"try {state.name}"), task)])}
        return {**task, "timeout": {"after": duration(times.state_exec_timeout, self._translate)}}

    def _handled(self, state: StateBase, step: Step, emitting: list[Step], made: Written) -> Task:
        """Return the task of *step*, and what emits events, in a try task that leads where `onErrors` does."""
        name, task = task_name(step[0]), step[1]
        # What a filter has selected is not the data of a task that merges into those before it.
        is_apart = "input" in task and ("set" in task or _mentions_raw(task))
        taken = None if is_apart else task.pop("input", None)
        if is_apart or emitting or not task.keys().isdisjoint(("do", "for", "fork", "try")):
            self._context.note([GIVEN])
        tried = task["do"] if task.keys() == {"do"} else as_list([(name, task)])
        catch = self._catch(state, made)
        return {**({} if taken is None else {"input": taken}), "try": [*tried, *as_list(emitting)], "catch": catch}

    def _catch(self, state: StateBase, made: Written) -> dict[str, Any]:
        """Return what catches the errors that *state* handles; several ways out of it become a switch in *made*."""
        entry, *others = state.on_errors
        # Compared as written: models also differ by their places in the text.
        leads_apart = any(one.model_dump(include=_WAYS) != entry.model_dump(include=_WAYS) for one in others)
        catch = filter_of(codes_of(state.on_errors, self._context))
        if self._reads_errors or leads_apart:
            kept = "$context + {error: $error}" if self.ways.undoing.is_noted else "{error: $error}"
            keep = {"set": braced("."), "export": {"as": kept}}
            catch["do"] = as_list([(self._context.inner.free("keep the error"), keep)])
        if not leads_apart:
            return {**catch, "then": self.ways.directly(state, entry, made)}
        way = self._context.names.free(f"errors of {state.name}")
        cases: list[dict[str, Any]] = []
        made.blocks.append(Block([(way, {"switch": cases})]))
        labels: set[str] = set()
        for one in state.on_errors:
            leads = {"then": self.ways.directly(state, one, made)}
            codes = codes_of((one,), self._context)
            if one is not state.on_errors[-1] and "" not in codes:
                leads = {"when": condition_of(codes, "$context.error"), **leads}
            cases.append({_free(one.error_refs[0].replace("*", "any other"), labels): leads})
            if "" in codes:
                break
        return {**catch, "then": way}

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
        return [*steps, self._late(state, state.event_ref, listen, is_last=True)]

    def _late(self, state: StateBase, name: str, listen: Task, *, is_last: bool) -> Step:
        """Return *listen* as a step that continues if no event comes in time, and leaves the list if others follow."""
        found = self._context.inner.free(name)
        timeout = self._context.timeouts(state.timeouts).event_timeout
        if timeout is None:
            return found, listen
        if "all" in listen["listen"]["to"]:
            self._context.note([LOST])
        inner = {**listen, "timeout": {"after": duration(timeout, self._translate)}}
        if names_timeout(state.on_errors, self._context):
            return found, inner
        catch: dict[str, Any] = {"errors": {"with": {"type": f"{ERRORS}timeout"}}}
        if not is_last:
            catch["then"] = "exit"
        return self._context.inner.free(f"try {name}"), {"try": [{found: inner}], "catch": catch}

    def _event(self, state: EventState) -> list[Step]:
        refs = list(dict.fromkeys(ref for entry in state.on_events for ref in entry.event_refs))
        if self.is_by_entry(state):
            listen, path = self._listened(state, refs)
            listen["output"] = {"as": "{data: $input, event: .[0]}"}
            return [self._late(state, "wait", listen, is_last=False), *self._entries(state, path)]
        listen = listen_to(refs, self._context, needs_all=not state.exclusive)
        if len(refs) > 1 and not state.exclusive:
            data: str | None = None
            if not are_alike([entry.event_data_filter for entry in state.on_events]):
                listen, data = self._listened(state, refs)
            listen = {**listen, "output": {"as": self.merged_events(state, "$input", data)}}
        else:
            merge = merge_of_event(state.on_events[0].event_data_filter, self._context)
            listen = merged_output(listen, merge, self._context)
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
        listen = listen_to(refs, self._context, needs_all=not state.exclusive)
        path = "" if "read" in listen["listen"] else ".data"
        listen["listen"]["read"] = "envelope"
        return listen, path

    def merged_events(self, state: EventState, base: str, data: str | None) -> str:
        """Return the jq that merges all events of *state* into *base*; with *data*, each by the filter of its entry."""
        if data is None:
            self._context.note([ORDER])
            merge = merge_of_event(state.on_events[0].event_data_filter, self._context, ".")
            if merge is None:
                return base
            self._context.note(merge.notes)
            return f"reduce (.[] | {merge.effect()}) as $event ({base}; . * $event)"
        for entry in state.on_events:
            for ref in entry.event_refs:
                of = f"(.[] | select({self._is_event('', ref, state)}) | .{data.removeprefix('.')})"
                merge = merge_of_event(entry.event_data_filter, self._context, of)
                if merge is not None:
                    self._context.note(merge.notes)
                    base = merge.into(base)
        return base

    def _is_event(self, path: str, ref: str, state: EventState) -> str:
        """Return the condition that the event at *path* is *ref*, among the events of *state*."""
        events = [self._context.events[one] for entry in state.on_events for one in entry.event_refs]
        event = self._context.events[ref]
        others = [one.type for one in events if one.name != ref]
        key = "source" if not event.type or event.type in others else "type"
        return f"{path}.{key} == {show_json(getattr(event, key))}"

    def _entries(self, state: EventState, data: str) -> list[Step]:
        """Return a switch to the entry that an event belongs to, and the tasks of the entries."""
        timeout = self._context.timeouts(state.timeouts).action_exec_timeout
        cases: list[dict[str, Any]] = []
        steps: list[Step] = [(self._context.inner.free("which event"), {"switch": cases})]
        taken: set[str] = set()
        for entry in state.on_events:
            # An event that several entries name belongs to the first of them.
            refs = [ref for ref in entry.event_refs if ref not in taken]
            taken.update(refs)
            if not refs:
                continue
            name = self._context.inner.free(f"on {refs[0]}")
            when = " or ".join(self._is_event(".event", ref, state) for ref in refs)
            cases.append({refs[0]: {"when": when, "then": name}})
            merge = merge_of_event(entry.event_data_filter, self._context, f".event{data}")
            self._context.note([] if merge is None else merge.notes)
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
        is_all = state.completion_type == "allOf" or str(need) != "1"
        if is_all and need is not None and str(need) != str(count):
            message = f"1.0 waits for all branches, or for one: {state.name!r} waits for all, and not for {need}"
            self._context.differs(message, state)
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
            return [(state.name, {**loop, "do": as_list([step]), "output": {"as": f"{key} //= []"}})]
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
        """Return the path of the *collection*, and the step that adds the result of an iteration to it."""
        place = self._translate.jq(collection).strip()
        item, actions = state.iteration_param, state.actions
        acting = [index for index, action in enumerate(actions) if has_result(action)]
        if not acting:
            steps, value = sequence(actions, timeout, self._context), "null"
        else:
            at = acting[-1]
            is_named = actions[at].condition is not None or at + 1 < len(actions)
            steps = sequence(actions[:at], timeout, self._context)
            steps += yielding(actions[at], timeout, self._context, is_named=is_named)
            steps += sequence(actions[at + 1 :], timeout, self._context)
            value = f".{COLLECTED}" if is_named else "."
        uses_item = any(self._uses_item(task, item) for _, task in steps)
        name, task = steps[0]
        if len(steps) > 1 or not task.keys().isdisjoint(("input", "do", "try", "if", "timeout")) or not acting:
            name, task = self._context.inner.free("iteration"), {"do": as_list(steps)}
        else:
            value = task["output"]["as"]
        base = "$task.input" if uses_item else "$input"
        added = f"{base} + {{{place[1:]}: ({base}{place} + [{value}])}}"
        if not place[1:].isidentifier():
            added = f"{grouped(value)} as $result | {base} | {place} += [$result]"
        task = {**task, "output": {"as": added}}
        if uses_item:
            task = {"input": {"from": f". + {{{item}: ${item}}}"}, **task}
        return place, (name, _ordered(task))

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
        if "run" in task and "input" not in task:
            return True
        given = [task.get("with"), task.get("set")]
        texts = [text for one in given for text in self._translate.texts_in(one)]
        return any(
            uses_root(text, item) for text in (*texts, task.get("if", ""), task.get("input", {}).get("from", ""))
        )

    # Switches

    def _switch(self, state: SwitchState) -> Written:
        if [one for one in state.on_errors if not names_timeout((one,), self._context)]:
            message = f"1.0 cannot leave a try task by a switch in it: onErrors of {state.name!r} are left out"
            self._context.differs(message, state.on_errors[0])
        if state.event_conditions:
            return self._by_events(state)
        name = self.ways.name_of(state.name)
        made = Written([Block([(name, {})])])
        cases: list[dict[str, Any]] = []
        taken = {"otherwise"}
        for condition in state.data_conditions:
            way = self.ways.directly(state, condition, made)
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
        made.blocks[0].steps[0] = (name, self._noted(state, task))
        return made

    def _default(self, state: SwitchState, made: Written) -> Way:
        """Return where the default of *state* leads: to an error if it has none."""
        if state.default_condition is not None:
            return self.ways.directly(state, state.default_condition, made)
        codes = {"", unmatched(self._context)}
        handler = next((one for one in state.on_errors if codes & {*codes_of((one,), self._context)}), None)
        if handler is not None and not state.event_conditions:
            return self.ways.directly(state, handler, made)
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
            made.blocks[0].way = self.ways.directly(state, conditions[0], made)
        else:
            listen["listen"]["read"] = "envelope"
            listen["output"] = {"as": "{data: $input, event: .[0]}"}
        if context.timeouts(state.timeouts).event_timeout is not None:
            task = self._in_time(state, self._late_switch(state, listen, left, made))
        else:
            task = self._in_time(state, listen)
        if taken is not None:
            task = {"input": {"from": taken}, **task}
        if state.metadata:
            task["metadata"] = _plain(state.metadata)
        made.blocks[0].steps.append((self.ways.name_of(state.name), task))
        if not is_single:
            which: Task = {"switch": []}
            if are_alike(filters):
                which["output"] = {"as": merged}
            made.blocks[0].steps.append((context.names.free(f"which event of {state.name}"), which))
            which["switch"] = self._event_cases(state, made, None if are_alike(filters) else (of, left))
        return made

    def _late_switch(self, state: SwitchState, listen: Task, left: str | None, made: Written) -> Task:
        """Return *listen* as a task that leads to the default of *state* if no event comes in time."""
        context = self._context
        timeout = context.timeouts(state.timeouts).event_timeout
        assert timeout is not None  # noqa: S101 - it is only asked for with one
        late = {**listen, "timeout": {"after": duration(timeout, self._translate)}}
        catch: dict[str, Any] = {"errors": {"with": {"type": f"{ERRORS}timeout"}}}
        handler = next((one for one in state.on_errors if names_timeout((one,), context)), None)
        if left is not None and handler is None:
            catch["do"] = as_list([(context.inner.free("filter"), {"set": braced(left)})])
        catch["then"] = self._default(state, made) if handler is None else self.ways.directly(state, handler, made)
        return {"try": as_list([(context.inner.free("wait"), late)]), "catch": catch}

    def _event_cases(
        self, state: SwitchState, made: Written, taking: tuple[str, str | None] | None
    ) -> list[dict[str, Any]]:
        """Return the cases that tell the events of *state* apart, by their types or, where these are equal, sources.

        If each event is merged by a filter of its own, *taking* has its path and the output filter.
        """
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
            way = ""
            if taking is not None:
                merge = merge_of_event(condition.event_data_filter, self._context, taking[0])
                self._context.note([] if merge is None else merge.notes)
                merged = piped(".data" if merge is None else merge.into(".data"), taking[1] or ".")
                way = self._context.names.free(f"take {condition.event_ref}")
                block = Block([(way, {"set": braced(merged)})])
                made.blocks.append(block)
                block.way = self.ways.directly(state, condition, made)
            cases.append({label: {"when": when, "then": way or self.ways.directly(state, condition, made)}})
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
    ends = ("output", "export", "timeout", "metadata")
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
