"""Rule: tasks have what their type requires (sections "Switch Task", "Parallel Task", "Retry Definition" and so on)."""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.drafts.may_2020 import model
from swf_temporal.languages.serverless_workflow.drafts.may_2020.rules.context import Context


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each task that lacks something, has both of two things, or counts what cannot be."""
    for switch, owner in context.each(model.SwitchTask):
        yield from _switch(context, switch, owner)
    for parallel, owner in context.each(model.ParallelTask):
        yield from _parallel(context, parallel, owner)
    yield from _counts(context)
    yield from _waiting(context)
    yield from _starts_and_ends(context)
    for inject, owner in context.each(model.InjectTask):
        if inject.data is not None and not isinstance(inject.data, dict):
            message = f"{owner}: data must be an object"
            hint = "its fields are added to the data: write 'data: {key: value}'"
            yield context.error("type", message, inject.where.value("data"), hint)


def _counts(context: Context) -> Iterator[Problem]:
    for foreach, owner in context.each(model.ForeachTask):
        if foreach.max < 0:
            message = f"{owner}: max {foreach.max} is not a number of iterations"
            hint = "write how many may run side by side, or 0 for all"
            yield context.error("batch-size", message, foreach.where.value("max"), hint)
    for retry, owner in context.each(model.Retry):
        if retry.max_attempts is not None and retry.max_attempts < 0:
            message = f"{owner}: maxAttempts {retry.max_attempts} is not a number of attempts"
            hint = "write how often it is retried, or 0 for never"
            yield context.error("retry", message, retry.where.value("maxAttempts"), hint)


def _waiting(context: Context) -> Iterator[Problem]:
    for task, owner in context.each(model.EventTask):
        if not task.events_actions:
            message = f"{owner}: eventsActions is empty"
            hint = "write at least one entry, with eventRefs that name what it waits for, and actions"
            yield context.error("empty-list", message, task.where.value("eventsActions"), hint)
    for callback, owner in context.each(model.CallbackTask):
        if callback.timeout is None:
            message = f"{owner} has no timeout: it waits for {callback.event_ref!r} without a limit"
            hint = "write how long it waits after its action, as in 'timeout: PT1H'"
            yield context.warning("missing", message, callback.where.position, hint)


def _switch(context: Context, switch: model.SwitchTask, owner: str) -> Iterator[Problem]:
    by_data, by_event = bool(switch.data_conditions), bool(switch.event_conditions)
    if by_data and by_event:
        message = f"{owner} has dataConditions and eventConditions: it can have only one of them"
        hint = f"write a second switch, and lead from one {context.wording('task')} to the other"
        yield context.error("switch-conditions", message, switch.where.key("eventConditions"), hint)
    elif not (by_data or by_event):
        message = f"{owner} is a switch without dataConditions and eventConditions"
        hint = "write dataConditions to choose by the data, or eventConditions to choose by the event that comes"
        yield context.error("switch-conditions", message, switch.where.position, hint)
    if switch.default is None:
        message = f"{owner} is a switch without a default: if no condition is met, the run fails"
        if by_event:
            message = f"{owner} is a switch without a default: it waits for an event, or fails when its time is over"
        when = "when no event has come in time" if by_event else "otherwise"
        hint = f"write where it leads {when}, as in 'default: {{{context.wording('nextTask')}: ...}}'"
        yield context.warning("switch-conditions", message, switch.where.position, hint)
    if by_event and switch.event_timeout is None:
        message = f"{owner} waits for events and has no eventTimeout: it waits without a limit"
        hint = "write how long it waits, as in 'eventTimeout: PT1H'"
        yield context.warning("switch-conditions", message, switch.where.position, hint)
    elif switch.event_timeout is not None and not by_event:
        message = f"{owner} waits for no events: its eventTimeout has no effect"
        hint = "remove it, or write eventConditions with the events that it waits for"
        yield context.warning("switch-conditions", message, switch.where.key("eventTimeout"), hint)


def _parallel(context: Context, parallel: model.ParallelTask, owner: str) -> Iterator[Problem]:
    if not parallel.branches:
        hint = f"write at least one branch, with a name and {context.wording('tasks')}"
        yield context.error("empty-list", f"{owner}: branches is empty", parallel.where.value("branches"), hint)
    elif parallel.completion_type != "n_of_m":
        if "n" in parallel.where.keys:
            message = f"{owner}: n has no effect with the completionType {parallel.completion_type}"
            hint = f"write 'completionType: n_of_m' if {parallel.n} branches are enough, or remove n"
            yield context.warning("num-completed", message, parallel.where.key("n"), hint)
    elif "n" not in parallel.where.keys:
        message = f"{owner} completes with n of its branches, and has no n to say how many"
        hint = f"write how many of its {len(parallel.branches)} branches are enough, as in 'n: 1'"
        yield context.error("num-completed", message, parallel.where.value("completionType"), hint)
    elif not 0 < parallel.n <= len(parallel.branches):
        message = f"{owner} waits for {parallel.n} branches, but has {len(parallel.branches)}"
        hint = f"write a number from 1 to {len(parallel.branches)}, or 'completionType: and' to wait for all"
        yield context.error("num-completed", message, parallel.where.value("n"), hint)


def _starts_and_ends(context: Context) -> Iterator[Problem]:
    for start, owner in context.each(model.Start):
        if start.kind == "scheduled" and start.schedule is None:
            message = f"{owner}: its start is scheduled, and has no schedule to say when it is active"
            hint = "write when it may start, as in 'schedule: {interval: 2020-05-01T08:00:00Z/2020-05-31T20:00:00Z}'"
            yield context.error("schedule", message, start.where.position, hint)
        elif start.kind == "default" and start.schedule is not None:
            message = f"{owner}: its start is of the kind default, which is always active: its schedule has no effect"
            yield context.warning("schedule", message, start.where.key("schedule"), "write 'kind: scheduled'")
    for end, owner in context.each(model.End):
        if end.kind == "event" and end.produce_event is None:
            message = f"{owner}: its end is of the kind event, and has no produceEvent to say which"
            hint = "write 'produceEvent: {eventRef: ...}' with an event that is defined, or 'kind: default'"
            yield context.error("missing", message, end.where.position, hint)
        elif end.kind != "event" and end.produce_event is not None:
            message = f"{owner}: its end is of the kind {end.kind}, which produces nothing: produceEvent has no effect"
            yield context.warning("unknown-property", message, end.where.key("produceEvent"), "write 'kind: event'")
