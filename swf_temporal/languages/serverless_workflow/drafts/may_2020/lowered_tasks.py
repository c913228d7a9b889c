"""Makes the states of the common model of tasks of the draft."""

import re
from collections.abc import Sequence
from typing import Any, Final, assert_never

from swf_temporal.data import JSON
from swf_temporal.expressions.early_paths import is_path
from swf_temporal.languages.serverless_workflow.drafts.may_2020 import model as draft
from swf_temporal.languages.serverless_workflow.drafts.may_2020.scopes import start_of
from swf_temporal.languages.serverless_workflow.model import actions, states

_WRITTEN: Final = {"delay": "delay", "subflow": "subflow"}
"""The types that the common model calls otherwise."""

CUSTOM_CONDITION: Final = "expression"
"""Under which key of its metadata a condition with the operator `custom` has the expression that decides."""


def condition_of(node: draft.DataCondition) -> JSON:
    """Return the condition of *node* as expressions are compiled from: a comparison, or a text."""
    if node.operator == "custom":
        return node.metadata.get(CUSTOM_CONDITION)
    return {"path": node.path, "operator": node.operator, "value": node.value}


def window_of(start: draft.Task) -> str | None:
    """Return the interval in which *start* is active, where it says one."""
    given = start.start
    return None if given is None or given.schedule is None else given.schedule.interval


def _scope(tasks: Sequence[draft.Task]) -> states.Scope:
    start = start_of(tasks)
    return states.Scope(where=start.where, start=start.name, states=states_of(tasks), window=window_of(start))


def states_of(tasks: Sequence[draft.Task]) -> tuple[states.State, ...]:
    """Return the states that do what *tasks* say, which stand together."""
    names = {task.id: task.name for task in tasks if task.id is not None}
    names |= {task.name: task.name for task in tasks}
    return tuple(_state(task, _Base(task, names)) for task in tasks)


class _Base:
    """The properties that a state has whatever the type of the task that it is made of."""

    def __init__(self, task: draft.Task, names: dict[str, str]) -> None:
        self._task = task
        self._names = names
        """The names of the tasks of the scope, by all that transitions may say."""

    def fields(self) -> dict[str, Any]:
        """Return the fields that all states share."""
        task = self._task
        given = task.task_data_filter
        return {
            "where": task.where,
            "name": task.name,
            "id": task.id,
            "written_type": _WRITTEN.get(task.type),
            "transition": self.transition(task.transition),
            "end": _end(task.end),
            "state_data_filter": None
            if given is None
            else states.StateDataFilter(where=given.where, input=given.data_input_path, output=given.data_output_path),
            "on_errors": tuple(self._on_error(error) for error in task.on_error),
            "retries": tuple(map(_retry, task.retry)) if isinstance(task, draft.RetriedTask) else (),
            "goes_on_when_late": not (task.on_error or (isinstance(task, draft.RetriedTask) and task.retry)),
            "metadata": task.metadata,
        }

    def transition(self, given: draft.Transition | None) -> states.Transition | None:
        """Return a transition to the task that *given* names, or gives the id of."""
        if given is None:
            return None
        return states.Transition(
            where=given.where,
            next_state=self._names.get(given.next_task, given.next_task),
            produce_events=_produce(given.produce_event),
            condition=None if given.expression is None else given.expression.body,
        )

    def _on_error(self, error: draft.Error) -> states.OnError:
        # Without a transition of its own an error leads where the task does, as an example of the text has it.
        own = error.transition is not None
        return states.OnError(
            where=error.where,
            error_refs=(),
            condition=error.expression.body,
            data=None if error.error_data_filter is None else error.error_data_filter.data_output_path,
            transition=self.transition(error.transition if own else self._task.transition),
            end=None if own else _end(self._task.end),
        )


def _end(end: draft.End | None) -> states.End | None:
    if end is None:
        return None
    return states.End(where=end.where, terminate=end.kind == "terminate", produce_events=_produce(end.produce_event))


def _produce(given: draft.ProduceEvent | None) -> tuple[states.ProduceEvent, ...]:
    if given is None:
        return ()
    return (states.ProduceEvent(where=given.where, event_ref=given.event_ref, data=given.data),)


def _retry(retry: draft.Retry) -> states.StateRetry:
    times, interval = repetition(retry.interval)
    given = retry.max_attempts
    return states.StateRetry(
        where=retry.where,
        condition=retry.expression.body,
        delay=interval,
        increment=retry.multiplier,
        max_attempts=(1 if times is None else times) if given is None else given,
    )


def repetition(interval: str | None) -> tuple[int | None, str | None]:
    """Return how often `R5/PT15M` repeats, and the time between; a duration alone does not say how often."""
    match = re.fullmatch(r"[Rr](\d{0,9})/(.*)", (interval or "").strip())
    if match is None:
        return None, interval
    return int(match[1]) if match[1] else None, match[2]


def _action(action: draft.Action) -> actions.Action:
    ref, given = action.function_ref, action.action_data_filter
    results = None if given is None else given.data_results_path
    return actions.Action(
        where=action.where,
        name=action.name,
        function_ref=actions.FunctionRef(where=ref.where, ref_name=ref.ref_name, arguments=ref.parameters),
        action_data_filter=None
        if given is None
        else actions.ActionDataFilter(
            where=given.where,
            from_state_data=given.data_input_path,
            # An official example has a text there that is not a path: it selects nothing.
            results=results if results is not None and is_path(results) else None,
        ),
        timeout=action.timeout,
    )


def _event_filter(given: draft.EventDataFilter | None) -> actions.EventDataFilter | None:
    return None if given is None else actions.EventDataFilter(where=given.where, data=given.data_output_path)


def _event_timeout(text: str | None) -> states.StateTimeouts:
    return states.StateTimeouts(event_timeout=text)


def _state(task: draft.Task, base: _Base) -> states.State:
    """Return the state that does what *task* says."""
    match task:
        case draft.EventTask():
            return _event(task, base)
        case draft.OperationTask():
            return _operation(task, base)
        case draft.SwitchTask():
            return _switch(task, base)
        case draft.DelayTask():
            return states.SleepState(**base.fields(), type="sleep", duration=task.time_delay)
        case draft.ParallelTask():
            return _parallel(task, base)
        case draft.SubflowTask():
            return _subflow(task, base)
        case draft.InjectTask():
            return states.InjectState(**base.fields(), type="inject", data={} if task.data is None else task.data)
        case draft.ForeachTask():
            return _foreach(task, base)
        case draft.CallbackTask():
            return _callback(task, base)
        case _ as unknown:
            assert_never(unknown)


def _event(task: draft.EventTask, base: _Base) -> states.State:
    entries = tuple(
        states.OnEvents(
            where=entry.where,
            event_refs=entry.event_refs,
            action_mode=entry.action_mode,
            actions=tuple(map(_action, entry.actions)),
            event_data_filter=_event_filter(entry.event_data_filter),
        )
        for entry in task.events_actions
    )
    return states.EventState(
        **base.fields(),
        type="event",
        exclusive=task.exclusive,
        on_events=entries,
        timeouts=_event_timeout(task.timeout),
        timeout_is_between_events=True,
    )


def _operation(task: draft.OperationTask, base: _Base) -> states.State:
    given = tuple(map(_action, task.actions))
    return states.OperationState(**base.fields(), type="operation", action_mode=task.action_mode, actions=given)


def _switch(task: draft.SwitchTask, base: _Base) -> states.State:
    default = None
    if task.default is not None:
        default = states.DefaultCondition(where=task.default.where, transition=base.transition(task.default))
    return states.SwitchState(
        **base.fields(),
        type="switch",
        data_conditions=tuple(
            states.DataCondition(
                where=one.where,
                condition=condition_of(one),
                transition=base.transition(one.transition),
                metadata=one.metadata,
            )
            for one in task.data_conditions
        ),
        event_conditions=tuple(
            states.EventCondition(
                where=one.where,
                event_ref=one.event_ref,
                event_data_filter=_event_filter(one.event_data_filter),
                transition=base.transition(one.transition),
                metadata=one.metadata,
            )
            for one in task.event_conditions
        ),
        default_condition=default,
        timeouts=_event_timeout(task.event_timeout),
    )


def _parallel(task: draft.ParallelTask, base: _Base) -> states.State:
    needed = {"and": None, "xor": 1, "n_of_m": task.n}[task.completion_type]
    return states.ParallelState(
        **base.fields(),
        type="parallel",
        branches=tuple(
            states.Branch(where=branch.where, name=branch.name, actions=(), scope=_scope(branch.tasks))
            for branch in task.branches
        ),
        completion_type="allOf" if needed is None else "atLeast",
        num_completed=needed,
    )


def _subflow(task: draft.SubflowTask, base: _Base) -> states.State:
    # One that is not waited for would otherwise end with its parent, which mostly ends at once.
    ref = actions.SubflowRef(
        where=task.where,
        workflow_id=task.workflow_id,
        invoke="sync" if task.wait_for_completion else "async",
        on_parent_complete="terminate" if task.wait_for_completion else "continue",
    )
    return states.OperationState(
        **base.fields(), type="operation", actions=(actions.Action(where=task.where, sub_flow_ref=ref),)
    )


def _foreach(task: draft.ForeachTask, base: _Base) -> states.State:
    return states.ForeachState(
        **base.fields(),
        type="foreach",
        input_collection=task.input_collection,
        output_collection=task.output_collection,
        iteration_param=task.input_parameter,
        batch_size=task.max or None,
        pause=task.time_delay,
        scope=_scope(task.tasks),
    )


def _callback(task: draft.CallbackTask, base: _Base) -> states.State:
    return states.CallbackState(
        **base.fields(),
        type="callback",
        action=_action(task.action),
        event_ref=task.event_ref,
        event_data_filter=_event_filter(task.event_data_filter),
        timeouts=_event_timeout(task.timeout),
    )
