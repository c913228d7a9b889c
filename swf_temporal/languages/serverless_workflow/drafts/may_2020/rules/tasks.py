"""Rule: tasks have what their type requires (sections "Switch Task", "Parallel Task", "Retry Definition" and so on)."""

from collections.abc import Iterator

from swf_temporal.errors import Problem
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
            yield context.error("type", message, inject.where.value("data"))


def _counts(context: Context) -> Iterator[Problem]:
    for foreach, owner in context.each(model.ForeachTask):
        if foreach.max < 0:
            message = f"{owner}: max {foreach.max} is not a number of iterations"
            yield context.error("batch-size", message, foreach.where.value("max"))
    for retry, owner in context.each(model.Retry):
        if retry.max_attempts is not None and retry.max_attempts < 0:
            message = f"{owner}: maxAttempts {retry.max_attempts} is not a number of attempts"
            yield context.error("retry", message, retry.where.value("maxAttempts"))


def _waiting(context: Context) -> Iterator[Problem]:
    for task, owner in context.each(model.EventTask):
        if not task.events_actions:
            message = f"{owner}: eventsActions is empty"
            yield context.error("empty-list", message, task.where.value("eventsActions"))
    for callback, owner in context.each(model.CallbackTask):
        if callback.timeout is None:
            message = f"{owner} has no timeout: it waits for {callback.event_ref!r} without a limit"
            yield context.warning("missing", message, callback.where.position)


def _switch(context: Context, switch: model.SwitchTask, owner: str) -> Iterator[Problem]:
    by_data, by_event = bool(switch.data_conditions), bool(switch.event_conditions)
    if by_data and by_event:
        message = f"{owner} has dataConditions and eventConditions: it can have only one of them"
        yield context.error("switch-conditions", message, switch.where.key("eventConditions"))
    elif not (by_data or by_event):
        message = f"{owner} is a switch without dataConditions and eventConditions"
        yield context.error("switch-conditions", message, switch.where.position)
    if switch.default is None:
        message = f"{owner} is a switch without a default: if no condition is met, the run fails"
        if by_event:
            message = f"{owner} is a switch without a default: it waits for an event, or fails when its time is over"
        yield context.warning("switch-conditions", message, switch.where.position)
    if by_event and switch.event_timeout is None:
        message = f"{owner} waits for events and has no eventTimeout: it waits without a limit"
        yield context.warning("switch-conditions", message, switch.where.position)
    elif switch.event_timeout is not None and not by_event:
        message = f"{owner} waits for no events: its eventTimeout has no meaning"
        yield context.warning("switch-conditions", message, switch.where.key("eventTimeout"))


def _parallel(context: Context, parallel: model.ParallelTask, owner: str) -> Iterator[Problem]:
    if not parallel.branches:
        yield context.error("empty-list", f"{owner}: branches is empty", parallel.where.value("branches"))
    elif parallel.completion_type != "n_of_m":
        if "n" in parallel.where.keys:
            message = f"{owner}: n has no meaning with the completionType {parallel.completion_type}"
            yield context.warning("num-completed", message, parallel.where.key("n"))
    elif "n" not in parallel.where.keys:
        message = f"{owner} completes with n of its branches, and has no n to say how many"
        yield context.error("num-completed", message, parallel.where.value("completionType"))
    elif not 0 < parallel.n <= len(parallel.branches):
        message = f"{owner} waits for {parallel.n} branches, but has {len(parallel.branches)}"
        yield context.error("num-completed", message, parallel.where.value("n"))


def _starts_and_ends(context: Context) -> Iterator[Problem]:
    for start, owner in context.each(model.Start):
        if start.kind == "scheduled" and start.schedule is None:
            message = f"{owner}: its start is scheduled, and has no schedule to say when it is active"
            yield context.error("schedule", message, start.where.position)
        elif start.kind == "default" and start.schedule is not None:
            message = f"{owner}: its start is of the kind default, and is only active in its schedule all the same"
            yield context.warning("schedule", message, start.where.key("schedule"), "write 'kind: scheduled'")
    for end, owner in context.each(model.End):
        if end.kind == "event" and end.produce_event is None:
            message = f"{owner}: its end is of the kind event, and has no produceEvent to say which"
            yield context.error("missing", message, end.where.position)
