"""The inputs of the instances that events start (section "Event-driven scheduling")."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON, as_text
from swf_temporal.base.errors import WorkflowFault
from swf_temporal.base.strict_json import write_json
from swf_temporal.expressions.compiled import NOTHING
from swf_temporal.expressions.patterns import PatternTooSlow
from swf_temporal.languages.dsl.execution.filters import Filter, decides, filters_of, has_patterns, read_event, value_of
from swf_temporal.languages.dsl.model.workflow import Workflow
from swf_temporal.runtime.correlation import Taken, assigned, usable

if TYPE_CHECKING:
    from swf_temporal.languages.dsl.execution.program import DslProgram


def inputs_of_starts(workflow: Workflow, program: "DslProgram", events: Iterable[CloudEvent]) -> list[JSON]:
    """Return the input of each instance that *events* start, in order: an array of events."""
    schedule = workflow.schedule
    if schedule is None or schedule.on is None:
        return []
    filters, how = filters_of(schedule.on), schedule.read or "data"
    if schedule.on.all is None:
        return [[read_event(event, how)] for event in events if any(is_meant(one, event, program) for one in filters)]
    return _together(filters, how, program, events)


def is_meant(one: Filter, event: CloudEvent, program: "DslProgram") -> bool:
    """Return whether *event* fits a filter whose expressions see the event alone."""
    try:
        if not (one.fits(event) and has_patterns(one, event)):
            return False
    except PatternTooSlow:
        return False
    for name, expression in one.expressions.items():
        value = value_of(event, name)
        try:
            found: Any = program.expressions.template(expression)(value, {"__now": 0.0})
        except WorkflowFault:
            return False
        if not decides(None if found is NOTHING else found, value):
            return False
    return True


def _together(filters: list[Filter], how: str, program: "DslProgram", events: Iterable[CloudEvent]) -> list[JSON]:
    """Return the inputs of the instances for which there is an event of every kind, with equal correlation values."""
    refs = [str(index) for index in range(len(filters))]
    groups: dict[str, tuple[Taken, list[CloudEvent]]] = {}
    found: list[JSON] = []

    def fits(ref: str, event: JSON) -> bool:
        return isinstance(event, dict) and is_meant(filters[int(ref)], CloudEvent.from_record(event), program)

    for event in events:
        like = [ref for ref in refs if is_meant(filters[int(ref)], event, program)]
        if not like:
            continue
        key = _key(filters[int(like[0])], event, program)
        taken, arrived = groups.get(key, ({}, []))
        ref = next((one for one in usable(refs, taken, fits) if one in like), like[0])
        groups[key] = taken, arrived = assigned(event.to_json(), ref, refs, taken, fits), [*arrived, event]
        if len(taken) == len(refs):
            kept = [one for one in arrived if one.to_json() in taken.values()]
            found.append([read_event(one, how) for one in kept])
            del groups[key]
    return found


def _key(one: Filter, event: CloudEvent, program: "DslProgram") -> str:
    """Return a text that events which belong together have in common."""
    values: dict[str, JSON] = {}
    for name, rule in one.correlate.items():
        value = program.expressions.expression(rule.from_)(event.to_json(), {"__now": 0.0})
        values[name] = as_text(value) if value else None
    return write_json(values)
