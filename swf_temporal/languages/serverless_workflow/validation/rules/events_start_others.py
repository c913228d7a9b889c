"""Rule: no event that a workflow produces starts its next instance (section "ProducedEvent Definition").

If produced events are routed back, such a workflow starts instance after instance. That may be intended, and end
depending on the data, so this is a warning, for events whose type, source and context attributes are static.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON, identity
from swf_temporal.base.errors import Position, Problem
from swf_temporal.languages.serverless_workflow.model.actions import EventRef
from swf_temporal.languages.serverless_workflow.model.states import EventState, ProduceEvent
from swf_temporal.languages.serverless_workflow.model.workflow import Correlation, Event
from swf_temporal.languages.serverless_workflow.validation.context import Context
from swf_temporal.runtime.correlation import DEFAULT_SOURCE, is_like

_HINT = "give it another type or source, or make sure that the data end the chain"


class _Produced(NamedTuple):
    name: str
    attributes: Mapping[str, JSON]
    owner: str
    position: Position


def check(context: Context) -> Iterator[Problem]:
    """Yield a warning for each produced event that matches one that starts instances of the workflow."""
    definitions = {event.name: event for event in context.workflow.events}
    starting = [definitions[name] for name in _starting(context) if name in definitions]
    for one in _produced(context) if starting else ():
        defined = definitions.get(one.name)
        if defined is None or defined.type is None:
            continue
        event = CloudEvent("-", defined.source or DEFAULT_SOURCE, defined.type, attributes=one.attributes)
        kind = next((kind for kind in starting if _starts(event, kind)), None)
        if kind is not None:
            message = f"{one.owner}: the event {one.name!r} is like {kind.name!r}, which starts the next instance"
            yield context.warning("starts-itself", message, one.position, _HINT)


def _starting(context: Context) -> Sequence[str]:
    """Return the names of the events that start an instance alone."""
    first = context.states.get(context.workflow.start_state or "")
    if not isinstance(first, EventState) or context.workflow.keep_active:
        return ()
    names = tuple(dict.fromkeys(name for entry in first.on_events for name in entry.event_refs))
    return names if first.exclusive or len(names) == 1 else ()


def _produced(context: Context) -> Iterator[_Produced]:
    for produced, owner in context.nodes.each(ProduceEvent):
        attributes, where = produced.context_attributes, produced.where.value("eventRef")
        yield _Produced(produced.event_ref, attributes, owner, where)
    for ref, owner in context.nodes.each(EventRef):
        where = ref.where.value("produceEventRef")
        yield _Produced(ref.produce_event_ref, ref.context_attributes, owner, where)


def _starts(event: CloudEvent, kind: Event) -> bool:
    """Return True if every event that is produced like this starts an instance."""
    return is_like(kind, event) and all(_has(event, rule) for rule in kind.correlation)


def _has(event: CloudEvent, rule: Correlation) -> bool:
    """Return True if *event* satisfies *rule*, as far as that is known without an instance."""
    found, wanted = event.attribute(rule.context_attribute_name), rule.context_attribute_value
    if rule.path is not None or (wanted is not None and "${" in identity(wanted)):
        return False
    return found is not None and wanted in (None, found)
