"""Where states lead, and what is done on the way: undoing, producing events, continuing as another workflow.

DSL 1.0 has no compensation, so it is written as tasks. Where every way to a place has completed the same states, the
order is known, and the tasks that undo them stand there one after the other. Elsewhere the states note their names in
the context, and a loop goes through them backwards.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from swf_temporal.languages.serverless_workflow.model.states import (
    ContinueAs,
    End,
    State,
    StateBase,
    Transition,
    WithTransition,
)
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow
from swf_temporal.languages.serverless_workflow.upgrading.dsl.actions import as_list
from swf_temporal.languages.serverless_workflow.upgrading.dsl.context import (
    Context,
    Step,
    Task,
    TaskNames,
    document_name,
    duration,
    is_refusal,
    semantic_version,
    task_name,
)
from swf_temporal.languages.serverless_workflow.upgrading.dsl.events import emits
from swf_temporal.languages.serverless_workflow.upgrading.dsl.expressions import Inexpressible
from swf_temporal.languages.serverless_workflow.validation.flow import ways

Order: TypeAlias = tuple[str, ...] | None
"""The states to undo, in the order in which they were completed; None if it depends on the run."""
UNDO: Final = "toUndo"
"""The key of the context with the names of the states that were completed."""


class Undoing:
    """The compensation of one definition, where a transition or an end asks for it."""

    def __init__(self, workflow: Workflow) -> None:
        self.states: Mapping[str, State] = {one.name: one for one in workflow.states}
        self._named = {one.id: one.name for one in workflow.states if one.id is not None} | {
            name: name for name in self.states
        }
        self._before: dict[str, Order] = {}
        timeout = workflow.timeouts.workflow_exec_timeout
        starts: list[tuple[str, Order]] = [(workflow.start_state, ())]
        if timeout is not None and timeout.run_before is not None:
            starts.append((timeout.run_before, None))
        self._follow(starts)
        asked = [
            self.order(one, way) for name, one in self.states.items() for way in ways(one) if self._asks(name, way)
        ]
        self.is_noted: Final = None in asked
        """Whether states note in the context that they were completed."""
        self.compensable: Final = [one.name for one in workflow.states if one.compensated_by is not None]
        self.uses = Counter(
            self.chain_of(name) for order in asked for name in (self.compensable if order is None else order)
        )
        """How often the tasks of each state that undoes others are needed."""

    def is_reached(self, name: str) -> bool:
        """Return whether an instance can come to the state *name*."""
        return name in self._before

    def order(self, state: State, way: WithTransition) -> Order:
        """Return what is to be undone on a *way* out of *state*."""
        before = self._before.get(state.name, ())
        is_error = any(way is one for one in state.on_errors)
        is_complete = not is_error and state.compensated_by is not None
        return (*before, state.name) if is_complete and before is not None else before

    def chain_of(self, name: str) -> str:
        """Return the name of the first state that undoes the state *name*."""
        first = self.states[name].compensated_by
        return self._named.get(str(first), str(first))

    def chain(self, first: str) -> list[State]:
        """Return the states that are run from *first* on."""
        found: dict[str, State] = {}
        waiting = [self._named.get(first, first)]
        while waiting:
            name = waiting.pop(0)
            if name in self.states and name not in found:
                found[name] = self.states[name]
                waiting += [self._named[one] for one in _next_states(found[name]) if one in self._named]
        return list(found.values())

    def _asks(self, name: str, way: WithTransition) -> bool:
        is_asking = any(one is not None and one.compensate for one in (way.transition, way.end))
        return name in self._before and is_asking

    def _follow(self, starts: list[tuple[str, Order]]) -> None:
        """Find out what has been completed before each state."""
        waiting = list(starts)
        while waiting:
            name, order = waiting.pop()
            name = self._named.get(name, name)
            if name not in self.states:
                continue
            if name in self._before:
                if self._before[name] in (None, order):
                    continue
                order = None
            self._before[name] = order
            state = self.states[name]
            for way in ways(state):
                if way.transition is not None:
                    following: Order = () if way.transition.compensate else self.order(state, way)
                    waiting.append((way.transition.next_state, following))


def _next_states(state: State) -> Iterator[str]:
    return (way.transition.next_state for way in ways(state) if way.transition is not None)


def noted(state: str) -> dict[str, Any]:
    """Return the export by which *state* notes that it was completed."""
    return {"as": f'$context + {{{UNDO}: [$context.{UNDO}[]?, "{state}"]}}'}


Way = str
"""Where a task leads: the name of a task, or `end`."""
END: Final = "end"
EXIT: Final = "exit"


@dataclass(slots=True)
class Block:
    """Tasks that follow one another, and where the last of them leads; None if that says itself where."""

    steps: list[Step]
    way: Way | None = None


@dataclass(slots=True)
class Written:
    """The tasks that a state has become: its own tasks first, then those that lead away from it."""

    blocks: list[Block] = field(default_factory=list)


def linked(blocks: Sequence[Block], end: Way = END) -> list[Step]:
    """Return the tasks of *blocks* as one list, at whose end is *end*: the last of a block says where it leads."""
    steps: list[Step] = []
    for index, block in enumerate(blocks):
        following = blocks[index + 1].steps[0][0] if index + 1 < len(blocks) else end
        if block.way is not None and block.way != following:
            name, task = block.steps[-1]
            block.steps[-1] = name, {**task, "then": block.way}
        steps += block.steps
    return steps


def reached(steps: Sequence[Step]) -> list[Step]:
    """Return the tasks that an instance can come to, which begins with the first.

    These are all if one cannot be expressed: it may lead to others once it is.
    """
    if any(is_refusal(task) for _, task in steps):
        return list(steps)
    at = {name: index for index, (name, _) in enumerate(steps)}
    found: set[int] = set()
    waiting = [0]
    while waiting:
        index = waiting.pop()
        if index >= len(steps) or index in found:
            continue
        found.add(index)
        task = steps[index][1]
        cases = [case for one in task.get("switch", ()) for case in one.values()]
        leads = [one["then"] for one in (*cases, task.get("catch", {})) if "then" in one]
        if "then" in task:
            leads.append(task["then"])
        elif "raise" not in task and all("when" in case for case in cases):
            waiting.append(index + 1)
        waiting += [at[name] for name in leads if name in at]
    return [step for index, step in enumerate(steps) if index in found]


def trimmed(steps: Sequence[Step]) -> list[Step]:
    """Return *steps* without tasks that do nothing and that none leads to, and ways to where they lead anyway."""
    targets = set(_targets([task for _, task in steps]))
    kept = [(name, task) for name, task in steps if name in targets or task != {"set": "${ . }"}] or list(steps)[:1]
    following = [*(name for name, _ in kept[1:]), END]
    return [
        (name, {key: value for key, value in task.items() if key != "then" or value != after})
        for (name, task), after in zip(kept, following, strict=True)
    ]


def _targets(node: Any) -> Iterator[str]:
    """Yield where tasks in *node* lead."""
    if isinstance(node, list):
        for one in node:
            yield from _targets(one)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key == "then" and isinstance(value, str):
                yield value
            else:
                yield from _targets(value)


class Ways:
    """The ways between the states of one definition."""

    def __init__(self, context: Context, chain: Callable[[str, Way], list[Step]]) -> None:
        """*chain* returns the tasks of the states that are run from one on, up to an end of the kind given."""
        self._context = context
        self._chain = chain
        self.undoing = Undoing(context.workflow)
        self.end: Way = END
        """Where an end leads: `exit` among the tasks that undo a state."""
        self._names = {one.name: context.names.free(one.name) for one in context.workflow.states}
        self._ids = {one.id: one.name for one in context.workflow.states if one.id is not None}

    def name_of(self, state: str) -> str:
        """Return the name of the task that the *state*, given by its name or its id, has become."""
        return self._names[self._ids.get(state, state) if state not in self._names else state]

    def of(self, holder: WithTransition) -> Way:
        """Return where *holder* leads."""
        return self.end if holder.transition is None else self.name_of(holder.transition.next_state)

    def leaving(self, state: StateBase, holder: WithTransition, names: TaskNames) -> list[Step]:
        """Return the tasks that undo states and emit events when *state* is left by *holder*."""
        given = _given(holder)
        is_undoing = self.end == EXIT
        if given is None or (is_undoing and isinstance(given, End)):
            return []
        undone = self._undone(state, holder, names) if given.compensate and not is_undoing else []
        return [*undone, *emits(given.produce_events, self._context, names)]

    def continuing(self, holder: WithTransition) -> list[Step]:
        """Return the task that runs the workflow as which *holder* continues."""
        given = holder.end
        if given is None or given.continue_as is None or self.end == EXIT:
            return []
        return [self._continued(given.continue_as)]

    def directly(self, state: StateBase, holder: WithTransition, made: Written) -> Way:
        """Return where *holder* leads; tasks for what is done on the way are put into *made*."""
        way, names = self.of(holder), self._context.names
        steps = [*self.leaving(state, holder, names), *self.continuing(holder)]
        if not steps:
            return way
        made.blocks.append(Block(steps, way))
        return steps[0][0]

    def functions(self) -> dict[str, Task]:
        """Return the functions that undo what several places of the definition undo."""
        several = [first for first, number in self.undoing.uses.items() if number > 1]
        return {self._function_of(first): self._undo(first)[1] for first in several if first in self.undoing.states}

    def _function_of(self, first: str) -> str:
        name = self.name_of(first)
        taken = [one.name for one in self._context.workflow.functions]
        return task_name(f"undo by {first}") if name in taken else name

    def _undo(self, first: str) -> Step:
        """Return the task that does what the states from *first* on do."""
        steps = self._chain(first, EXIT)
        if len(steps) == 1:
            return steps[0]
        return self._context.names.free(f"undo by {first}"), {"do": as_list(steps)}

    def _undone(self, state: StateBase, holder: WithTransition, names: TaskNames) -> list[Step]:
        order = self.undoing.order(self.undoing.states[state.name], holder)
        if order is not None:
            steps = [self._undoing(name, names) for name in reversed(order)]
            if steps:
                said = " and ".join(repr(name) for name, _ in steps)
                self._context.reshaped(f"compensation after {state.name!r} is the work of {said}", holder)
            return steps
        tasks = [(name, self._undoing(name, names)) for name in self.undoing.compensable]
        loop: Task = {
            "for": {"each": "state", "in": f"$context.{UNDO} // [] | reverse"},
            "do": as_list([_if(f'$state == "{name}"', step) for name, step in tasks]),
        }
        if holder.transition is not None:
            loop["export"] = {"as": f"$context + {{{UNDO}: []}}"}
        name = names.free(f"undo before {self.of(holder)}")
        self._context.reshaped(
            f"compensation after {state.name!r} is the task {name!r}: states note in the context that they are done",
            holder,
        )
        return [(name, loop)]

    def _undoing(self, name: str, names: TaskNames) -> Step:
        first = self.undoing.chain_of(name)
        if first not in self.undoing.states:
            raise Inexpressible(f"compensation of {name!r} by the missing state {first!r}")
        if self.undoing.uses[first] > 1:
            return names.free(f"undo {name}"), {"call": self._function_of(first)}
        return self._undo(first)

    def _continued(self, given: ContinueAs) -> Step:
        context = self._context
        name = context.names.free(f"continue as {given.workflow_id}")
        other = document_name(given.workflow_id)
        context.differs(
            f"1.0 has no continueAs: the task {name!r} runs the workflow {other!r} within this one, and waits for it",
            given,
        )
        version = "latest" if given.version is None else semantic_version(given.version)
        process = {"namespace": context.namespace, "name": other, "version": version}
        task: Task = {"run": {"workflow": process}}
        if given.data is not None:
            task = {"input": {"from": context.translate.jq(given.data)}, **task}
        if given.workflow_exec_timeout is not None:
            time = given.workflow_exec_timeout
            time = time.get("duration") if isinstance(time, dict) else time
            task["timeout"] = {"after": duration(str(time), context.translate)}
        return name, task


def _given(holder: WithTransition) -> Transition | End | None:
    return holder.transition if holder.transition is not None else holder.end


def _if(condition: str, step: Step) -> Step:
    name, task = step
    return name, {"if": condition, **({"do": as_list([step])} if "if" in task else task)}
