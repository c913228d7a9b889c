"""Switch states as switch tasks: by data, and by events, for which a task listens before."""

from typing import TYPE_CHECKING, Any

from swf_temporal.base.strict_json import show_json
from swf_temporal.languages.serverless_workflow.model.states import SwitchState
from swf_temporal.languages.serverless_workflow.upgrading.dsl.actions import as_list
from swf_temporal.languages.serverless_workflow.upgrading.dsl.context import ERRORS, Task, duration, plain
from swf_temporal.languages.serverless_workflow.upgrading.dsl.errors import codes_of, names_timeout, unmatched
from swf_temporal.languages.serverless_workflow.upgrading.dsl.events import are_alike, listen_to, merge_of_event
from swf_temporal.languages.serverless_workflow.upgrading.dsl.expressions import Inexpressible, braced, piped
from swf_temporal.languages.serverless_workflow.upgrading.dsl.merging import Merge
from swf_temporal.languages.serverless_workflow.upgrading.dsl.ways import Block, Way, Written

if TYPE_CHECKING:
    from swf_temporal.languages.serverless_workflow.upgrading.dsl.states import States


class Switches:
    """Writes the switch states of one definition, with what they share with its other *states*."""

    def __init__(self, states: "States") -> None:
        self._states = states
        self._context = states.context
        self._translate = states.context.translate
        self._ways = states.ways

    def written(self, state: SwitchState) -> Written:
        """Return the tasks of *state*."""
        if [one for one in state.on_errors if not names_timeout((one,), self._context)]:
            message = f"1.0 cannot leave a try task by a switch in it: onErrors of {state.name!r} are left out"
            self._context.differs(message, state.on_errors[0])
        if state.event_conditions:
            return self._by_events(state)
        name = self._ways.name_of(state.name)
        made = Written([Block([(name, {})])])
        cases: list[dict[str, Any]] = []
        taken = {"otherwise"}
        for condition in state.data_conditions:
            way = self._ways.directly(state, condition, made)
            label = free(condition.name or way, taken)
            cases.append({label: {"when": self._translate.condition(condition.condition), "then": way}})
        cases.append({"otherwise": {"then": self._default(state, made)}})
        taken_filter, left = self._states.filters(state)
        task: Task = {"switch": cases}
        if taken_filter is not None:
            task = {"input": {"from": taken_filter}, **task}
        if left is not None:
            task["output"] = {"as": left}
        if state.metadata:
            task["metadata"] = plain(state.metadata)
        made.blocks[0].steps[0] = (name, self._states.noted_task(state, task))
        return made

    def _default(self, state: SwitchState, made: Written) -> Way:
        """Return where the default of *state* leads: to an error if it has none."""
        if state.default_condition is not None:
            return self._ways.directly(state, state.default_condition, made)
        codes = {"", unmatched(self._context)}
        handler = next((one for one in state.on_errors if codes & {*codes_of((one,), self._context)}), None)
        if handler is not None and not state.event_conditions:
            return self._ways.directly(state, handler, made)
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
        default = state.default_condition
        if default is not None and context.timeouts(state.timeouts).event_timeout is None:
            said = f"the default of {state.name!r} is left out"
            context.reshaped(f"{said}: it is never taken, as there is no eventTimeout", default)
        filters = [one.event_data_filter for one in conditions]
        refs = list(dict.fromkeys(one.event_ref for one in conditions))
        listen = listen_to(refs, context)
        taken, left = self._states.filters(state)
        is_single = len(refs) == 1
        of = ".[0]" if is_single else ".event" if "read" in listen["listen"] else ".event.data"
        base = "$input" if is_single else ".data"
        merge: Merge | None = merge_of_event(filters[0], context, of)
        context.note([] if merge is None else merge.notes)
        merged = piped(base if merge is None else merge.into(base), *([] if left is None else [left]))
        made = Written([Block([])])
        if is_single:
            listen["output"] = {"as": merged}
            made.blocks[0].way = self._ways.directly(state, conditions[0], made)
        else:
            listen["listen"]["read"] = "envelope"
            listen["output"] = {"as": "{data: $input, event: .[0]}"}
        if context.timeouts(state.timeouts).event_timeout is not None:
            task = self._states.in_time(state, self._late_switch(state, listen, left, made))
        else:
            task = self._states.in_time(state, listen)
        if taken is not None:
            task = {"input": {"from": taken}, **task}
        if state.metadata:
            task["metadata"] = plain(state.metadata)
        made.blocks[0].steps.append((self._ways.name_of(state.name), task))
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
        catch["then"] = self._default(state, made) if handler is None else self._ways.directly(state, handler, made)
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
            label = free(condition.name or condition.event_ref, labels)
            way = ""
            if taking is not None:
                merge = merge_of_event(condition.event_data_filter, self._context, taking[0])
                self._context.note([] if merge is None else merge.notes)
                merged = piped(".data" if merge is None else merge.into(".data"), taking[1] or ".")
                way = self._context.names.free(f"take {condition.event_ref}")
                block = Block([(way, {"set": braced(merged)})])
                made.blocks.append(block)
                block.way = self._ways.directly(state, condition, made)
            cases.append({label: {"when": when, "then": way or self._ways.directly(state, condition, made)}})
        return cases


def free(label: str, taken: set[str]) -> str:
    """Return *label*, numbered if it is *taken*, and take it."""
    found, number = label, 1
    while found in taken:
        number += 1
        found = f"{label} {number}"
    taken.add(found)
    return found
