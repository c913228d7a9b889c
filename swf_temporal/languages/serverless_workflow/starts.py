"""What starts instances of a workflow, its schedule and events; and the events that it consumes, as routed."""

from collections import Counter
from collections.abc import Sequence

from swf_temporal.base.calendars.moments import InvalidTime
from swf_temporal.base.calendars.specs import ScheduleSpec
from swf_temporal.base.data import JSON, identity
from swf_temporal.base.errors import UsageError
from swf_temporal.languages.serverless_workflow.model.definitions import Event
from swf_temporal.languages.serverless_workflow.model.states import EventState, expectations
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow
from swf_temporal.languages.serverless_workflow.validation.event_uses import event_uses
from swf_temporal.languages.serverless_workflow.validation.schedules import compiled
from swf_temporal.languages.serverless_workflow.validation.walk import nodes_of
from swf_temporal.languages.triggers import ConsumedEvent, CorrelationRule, EventStart


def starting_events(workflow: Workflow) -> tuple[str, ...]:
    """Return the names of the events for which an instance waits first."""
    return tuple(dict.fromkeys(_references(_first(workflow))))


def consumed_events(workflow: Workflow) -> tuple[ConsumedEvent, ...]:
    """Return the events that states of *workflow* wait for."""
    used = Counter(use.name for use in event_uses(nodes_of(workflow)) if use.kind == "consumed")
    elsewhere = used - Counter(_references(_first(workflow)))
    return tuple(_consumed(one, is_awaited=one.name in elsewhere) for one in workflow.events if one.name in used)


def event_start(workflow: Workflow) -> EventStart | None:
    """Return how events start instances of *workflow*: in its start state, if that is an event state.

    An instance takes all of its events itself, the first among them.
    """
    first = _first(workflow)
    if first is None:
        return None
    names = set(starting_events(workflow))
    events = tuple(one for one in consumed_events(workflow) if one.name in names)
    several = bool(expectations(first)) or not first.exclusive
    return EventStart(events, "all" if several and len(names) > 1 else "any", goes_on=workflow.keep_active)


def _first(workflow: Workflow) -> EventState | None:
    first = next((one for one in workflow.states if one.name == workflow.start_state), None)
    return first if isinstance(first, EventState) else None


def _references(state: EventState | None) -> Sequence[str]:
    return [] if state is None else [ref for entry in state.on_events for ref in entry.event_refs]


def _consumed(event: Event, *, is_awaited: bool) -> ConsumedEvent:
    filters: dict[str, JSON] = {}
    rules = []
    for rule in event.correlation:
        value = rule.context_attribute_value
        is_calculated = value is not None and "${" in identity(value)
        if value is not None and not is_calculated:
            filters[rule.context_attribute_name] = value
        else:
            rules.append(CorrelationRule(rule.context_attribute_name, is_calculated, rule.path))
    # What is compared with data of an instance starts none: one that was begun by hand waits for it.
    is_awaited = is_awaited or any(rule.is_calculated for rule in rules)
    return ConsumedEvent(event.name, event.type, event.source or None, filters, tuple(rules), is_awaited)


def spec_of(workflow: Workflow) -> ScheduleSpec:
    """Return when *workflow* is to be started. Raises UsageError if it does not say, or cannot be understood."""
    schedule = workflow.start.schedule
    if schedule is None:
        raise UsageError(f"the definition {workflow.id!r} has no schedule", "it is written under start: schedule:")
    try:
        return compiled(schedule)
    except InvalidTime as error:
        raise UsageError(f"the schedule of {workflow.id!r}: {error.message}", error.hint) from None
