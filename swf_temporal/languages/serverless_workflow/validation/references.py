"""References of a workflow to its functions, events, retries, errors and auth definitions."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from swf_temporal.base.errors import Position
from swf_temporal.languages.serverless_workflow.model.actions import Action, EventRef, FunctionRef
from swf_temporal.languages.serverless_workflow.model.states import (
    CallbackState,
    EventCondition,
    NodesByKind,
    OnError,
    OnEvents,
    ProduceEvent,
    Repeat,
)
from swf_temporal.languages.serverless_workflow.model.workflow import Function
from swf_temporal.languages.serverless_workflow.validation.context import Context


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference by name, with the words for the node that refers."""

    name: str
    owner: str
    position: Position


@dataclass(frozen=True, slots=True)
class EventReference(Reference):
    kind: str
    """The use of the event: consumed or produced."""


def event_references(nodes: NodesByKind) -> Iterator[EventReference]:
    """Yield every reference to an event, grouped by the kind of the referring node."""
    for events, owner in nodes.each(OnEvents):
        for index, name in enumerate(events.event_refs):
            yield EventReference(name, owner, events.where.at("eventRefs", index), "consumed")
    for ref, owner in nodes.each(EventRef):
        yield EventReference(ref.produce_event_ref, owner, ref.where.value("produceEventRef"), "produced")
        if ref.consume_event_ref is not None:
            yield EventReference(ref.consume_event_ref, owner, ref.where.value("consumeEventRef"), "consumed")
    for produced, owner in nodes.each(ProduceEvent):
        yield EventReference(produced.event_ref, owner, produced.where.value("eventRef"), "produced")
    for condition, owner in nodes.each(EventCondition):
        yield EventReference(condition.event_ref, owner, condition.where.value("eventRef"), "consumed")
    for callback, owner in nodes.each(CallbackState):
        yield EventReference(callback.event_ref, owner, callback.where.value("eventRef"), "consumed")
    for repeat, owner in nodes.each(Repeat):
        for index, name in enumerate(repeat.stop_on_events):
            yield EventReference(name, owner, repeat.where.at("stopOnEvents", index), "consumed")


def _functions(context: Context) -> Iterator[Reference]:
    for ref, owner in context.nodes.each(FunctionRef):
        yield Reference(ref.ref_name, owner, ref.where.value("refName"))


def _retries(context: Context) -> Iterator[Reference]:
    for action, owner in context.nodes.each(Action):
        if action.retry_ref is not None:
            yield Reference(action.retry_ref, owner, action.where.value("retryRef"))
    for handler, owner in context.nodes.each(OnError):
        if handler.retry_ref is not None:
            yield Reference(handler.retry_ref, owner, handler.where.value("@retryRef"))


def _errors(context: Context) -> Iterator[Reference]:
    for handler, owner in context.nodes.each(OnError) if context.workflow.language_version.defines_errors else ():
        yield from _listed(handler, "errorRefs", handler.error_refs, owner)
    for action, owner in context.nodes.each(Action):
        yield from _listed(action, "retryableErrors", action.retryable_errors, owner)
        yield from _listed(action, "nonRetryableErrors", action.non_retryable_errors, owner)


def _listed(node: OnError | Action, key: str, names: tuple[str, ...], owner: str) -> Iterator[Reference]:
    for index, name in enumerate(names):
        yield Reference(name, owner, node.where.at(key, index))


def _auth(context: Context) -> Iterator[Reference]:
    for function, owner in context.nodes.each(Function):
        if function.auth_ref is not None:
            for key, name in (("resource", function.auth_ref.resource), ("invocation", function.auth_ref.invocation)):
                if name is not None:
                    yield Reference(name, owner, function.auth_ref.where.value(key))


@dataclass(frozen=True, slots=True)
class ReferenceKind:
    """The references to one kind of definition."""

    singular: str
    """The word for one such definition, in messages and codes of problems."""
    of: Callable[[Context], Iterator[Reference]]


REFERENCES: Final[Mapping[str, ReferenceKind]] = {
    "functions": ReferenceKind("function", _functions),
    "events": ReferenceKind("event", lambda context: event_references(context.nodes)),
    "retries": ReferenceKind("retry", _retries),
    "errors": ReferenceKind("error", _errors),
    "auth": ReferenceKind("auth", _auth),
}
"""The references of a workflow by the key under which the definitions are written."""
