"""Events in DSL 1.0: filters of listen tasks, and emit tasks."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from swf_temporal.base.strict_json import show_json
from swf_temporal.languages.serverless_workflow.model.actions import EventDataFilter
from swf_temporal.languages.serverless_workflow.model.states import ProduceEvent
from swf_temporal.languages.serverless_workflow.model.workflow import Event
from swf_temporal.languages.serverless_workflow.upgrading.dsl.context import Context, Step, Task, TaskNames, checked_uri
from swf_temporal.languages.serverless_workflow.upgrading.dsl.expressions import Inexpressible, braced, literal, piped
from swf_temporal.languages.serverless_workflow.upgrading.dsl.merging import Merge, merge_of
from swf_temporal.runtime.correlation import DEFAULT_SOURCE

WILDCARDS: Final = {"+": "[^/]+", "#": ".*"}
"""The wildcards of sources, which are regular expressions in 1.0."""
CORRELATED: Final = (
    "a correlation value without expect comes from the first event that a listen task gets: in 0.8 the first event of"
    " an instance fixes it for all that follow"
)


def filter_of(event: Event, context: Context, *, is_start: bool = False, is_alone: bool = False) -> dict[str, Any]:
    """Return the event filter for *event*, with which an instance may start, *is_alone* if no other one has to come.

    Raises Inexpressible.
    """
    wanted: dict[str, Any] = {}
    if event.type:
        wanted["type"] = event.type
    if event.source:
        wanted["source"] = event.source
        checked_uri(event.source, "the source")
    for name, text in wanted.items():
        if any(sign in text for sign in "\\^$*+?()[]{}|#"):
            wanted[name] = f"^{'/'.join(WILDCARDS.get(part, re.escape(part)) for part in text.split('/'))}$"
            context.reshaped(f"the {name} {text!r} is written as the regular expression {wanted[name]}", event)
    if not wanted:
        raise Inexpressible(f"the event {event.name!r} without a type")
    correlate: dict[str, Any] = {}
    for rule in event.correlation:
        name, value = rule.context_attribute_name, rule.context_attribute_value
        if value is not None and not (isinstance(value, str) and "${" in value):
            wanted[name] = value
        elif value is not None or not (is_start and is_alone):
            correlate[name] = _correlated(name, value, context, is_start=is_start)
    return {"with": wanted, **({"correlate": correlate} if correlate else {})}


def _correlated(name: str, value: Any, context: Context, *, is_start: bool) -> dict[str, Any]:
    """Return what events have to have as the context attribute *name*: *value*, or what the first one has."""
    place = f".{name}" if name.isidentifier() else f".[{show_json(name)}]"
    if value is not None:
        return {"from": place, "expect": context.translate.template(value)}
    if name in context.started_with:
        return {"from": place, "expect": braced(f"$workflow.input[0]{place}")}
    if not is_start:
        context.note([CORRELATED])
    return {"from": place}


def listen_to(refs: Sequence[str], context: Context, *, needs_all: bool = False, is_start: bool = False) -> Task:
    """Return a listen task, without what is made of its output, for one or all of the events *refs*."""
    events = [context.events[ref] for ref in refs]
    is_alone = len(refs) == 1 or not needs_all
    filters = [filter_of(one, context, is_start=is_start, is_alone=is_alone) for one in events]
    if not needs_all:
        filters = [one for index, one in enumerate(filters) if one not in filters[:index]]
    if len(filters) == 1:
        to: dict[str, Any] = {"one": filters[0]}
    else:
        to = {"all" if needs_all else "any": filters}
    kinds = {one.data_only for one in events}
    if len(kinds) > 1:
        raise Inexpressible("events with and without dataOnly that are waited for together")
    return {"listen": {"to": to, **({} if kinds == {True} else {"read": "envelope"})}}


def mentions(task: Task, event: Event) -> bool:
    """Return whether *task* itself waits for *event*, or emits it."""
    exchanged = str({key: task[key] for key in ("listen", "emit") if key in task})
    return bool(event.type) and f"'type': {event.type!r}" in exchanged


def are_alike(filters: Sequence[EventDataFilter | None]) -> bool:
    """Return whether *filters* say the same, wherever they are written."""
    said = [None if one is None else one.model_dump() for one in filters]
    return all(one == said[0] for one in said)


def merge_of_event(given: EventDataFilter | None, context: Context, of: str = ".[0]") -> Merge | None:
    """Return how an event, at the path *of*, is merged into the data; None if it is not."""
    if given is None:
        return merge_of(None, None, context.translate, of)
    if not given.use_data:
        return None
    return merge_of(given, given.data, context.translate, of)


def emit(event: Event, data: Any, attributes: Mapping[str, Any], context: Context) -> Task:
    """Return the task that emits *event*; it leaves the data as they are."""
    translate = context.translate
    if event.source:
        checked_uri(event.source, "the source")
    else:
        message = f"the event {event.name!r} has no source: {DEFAULT_SOURCE} is written, which is sent in 0.8"
        context.reshaped(message, event)
    fixed = ("id", "source", "type", "specversion", "data", "data_base64")
    return {
        "emit": {
            "event": {
                "with": {
                    "source": event.source or DEFAULT_SOURCE,
                    "type": literal(event.type or event.name),
                    **{key: translate.template(value) for key, value in attributes.items() if key.lower() not in fixed},
                    "data": _data(data, context),
                }
            }
        },
        "output": {"as": "$input"},
    }


def _data(data: Any, context: Context) -> Any:
    if data is None:
        return "${ . }"
    if isinstance(data, str):
        return f"${{ {context.translate.jq(data)} }}"
    return context.translate.template(data)


def emits(events: Sequence[ProduceEvent], context: Context, names: TaskNames) -> list[Step]:
    """Return the tasks that emit what a transition or an end produces."""
    steps = []
    for one in events:
        name = names.free(one.event_ref)
        context.becomes(one, name)
        steps.append((name, emit(context.events[one.event_ref], one.data, one.context_attributes, context)))
    return steps


def merged_output(task: Task, merge: Merge | None, context: Context) -> Task:
    """Return *task* with what it yields merged into its input, or dropped."""
    if merge is None:
        return {**task, "output": {"as": "$input"}}
    context.note(merge.notes)
    return {**task, "output": {"as": piped(merge.into("$input"))}}
