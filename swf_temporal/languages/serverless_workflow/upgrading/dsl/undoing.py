"""Compensation as tasks of DSL 1.0, which does not have it: what is undone, where, and in which order.

Where every way to a place has completed the same states, the order is known, and the tasks that undo them stand there
one after the other. Elsewhere the states note their names in the context, and a loop goes through them backwards.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from swf_temporal.languages.serverless_workflow.model.states import State, WithTransition
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow
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
                waiting += [self._named[one] for one in _targets(found[name]) if one in self._named]
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


def _targets(state: State) -> Iterator[str]:
    return (way.transition.next_state for way in ways(state) if way.transition is not None)


def noted(state: str) -> dict[str, Any]:
    """Return the export by which *state* notes that it was completed."""
    return {"as": f'$context + {{{UNDO}: [$context.{UNDO}[]?, "{state}"]}}'}
