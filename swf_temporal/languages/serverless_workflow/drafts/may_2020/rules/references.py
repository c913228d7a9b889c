"""Rule: what tasks refer to is defined, and complete (sections "Function Definition" and "Event Definition")."""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.base.function_types import TYPES, operation_type
from swf_temporal.languages.serverless_workflow.drafts.may_2020 import model
from swf_temporal.languages.serverless_workflow.drafts.may_2020.lowering import called
from swf_temporal.languages.serverless_workflow.drafts.may_2020.rules.context import Context
from swf_temporal.text.suggestions import nearest


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each function or event that is not defined, or of which too little is said."""
    for ref, owner in context.each(model.FunctionRef):
        yield from context.undefined("function", ref.ref_name, ref.where.value("refName"), owner)
    for entry, owner in context.each(model.EventActions):
        if not entry.event_refs:
            hint = "name the events that it waits for, as they are called under events"
            yield context.error("empty-list", f"{owner}: eventRefs is empty", entry.where.value("eventRefs"), hint)
        for number, name in enumerate(entry.event_refs):
            yield from context.undefined("event", name, entry.where.at("eventRefs", number), owner)
    for node, owner in _referring(context):
        yield from context.undefined("event", node.event_ref, node.where.value("eventRef"), owner)
    yield from _functions(context)
    yield from _events(context)


def _referring(
    context: Context,
) -> Iterator[tuple[model.EventCondition | model.CallbackTask | model.ProduceEvent, str]]:
    yield from context.each(model.EventCondition)
    yield from context.each(model.CallbackTask)
    yield from context.each(model.ProduceEvent)


def _functions(context: Context) -> Iterator[Problem]:
    for function, owner in context.each(model.Function):
        lowered = called(function)
        kind = operation_type(lowered.type)
        if function.resource is None:
            if kind is not None and kind.needs_operation:
                message = f"{owner} of the type {function.type} has no resource"
                hint = f"write what it calls, as in 'resource: {kind.example}'"
                yield context.error("function-operation", message, function.where.position, hint)
            else:
                message = f"{owner} has no resource: it is called if its name is registered"
                hint = f"register a function called {function.name!r} with the worker, or write its resource"
                yield context.warning("function-operation", message, function.where.position, hint)
        elif kind is not None:
            for wrong in kind.problems(lowered):
                place = ("resource", *wrong.path[1:]) if wrong.path[0] == "operation" else wrong.path
                yield context.root.source.problem(
                    wrong.code, f"{owner}: {wrong.message}", function.where.at(*place), wrong.hint, wrong.severity
                )
        meant = None if kind is not None or function.type is None else nearest(function.type, TYPES, 0.8)
        if meant is not None:
            message = f"{owner}: {function.type!r} is treated as a type of its own"
            yield context.warning("function-type", message, function.where.value("type"), f"did you mean {meant!r}?")


def _events(context: Context) -> Iterator[Problem]:
    for event, owner in context.each(model.Event):
        if event.correlation_token is not None and not event.correlation_token.strip():
            message = f"{owner} has an empty correlationToken: no event has such an attribute"
            hint = "name an attribute of the CloudEvent, or leave it out"
            yield context.error("event-definition", message, event.where.value("correlationToken"), hint)
        if event.source is None:
            message = f"{owner} has no source: an event of its type is taken from any"
            hint = "write the source of the CloudEvents that are meant, if others of the type are not"
            yield context.warning("event-definition", message, event.where.position, hint)
