"""Events of an instance: waiting for them, merging them into the data, and producing others.

A state that is left before it had all the events that it needs puts back those that it took (section "Event State"). In
the drafts, branches and iterations contain states, so event states may be nested at any depth.
"""

from collections.abc import Iterator, Mapping, Sequence

from swf_temporal.base.cloud_event import FIXED, CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.languages.serverless_workflow.execution.correlation import required_values
from swf_temporal.languages.serverless_workflow.execution.frames import Body, EventsBody, PartFrame, StateFrame
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.model.actions import EventDataFilter
from swf_temporal.languages.serverless_workflow.model.states import ProduceEvent
from swf_temporal.languages.serverless_workflow.model.workflow import Event
from swf_temporal.runtime.correlation import DEFAULT_SOURCE
from swf_temporal.runtime.host import TraceKind
from swf_temporal.runtime.progress import WaitingFrame
from swf_temporal.runtime.waiting import drop_all, next_event, put_back, take_kept


def as_read(definition: Event) -> Event:
    """Return the event definition with an empty source treated as no source."""
    return definition.model_copy(update={"source": None}) if definition.source == "" else definition


async def has_arrived(refs: Sequence[str], lane: Lane) -> bool:
    """Take the first event in the inbox that one of *refs* defines; return True if there was one."""
    for ref in refs:
        selector = lane.program.event_selector((ref,))
        if take_kept(selector, lane, keys=lane.correlation, given=await required_of([ref], lane)) is not None:
            return True
    return False


async def wait_for_event(
    refs: Sequence[str], deadline: float | None, lane: Lane[WaitingFrame]
) -> tuple[int, CloudEvent] | None:
    """Return the next event that one of *refs* defines, with the index of the ref; None if *deadline* passes first."""
    selector = lane.program.event_selector(tuple(refs))
    # Evaluated once, and here: an error during delivery would be reported to the sender of the event.
    given = await required_of(refs, lane) if selector.is_correlated else ()
    return await next_event(selector, lane.frame, lane, deadline=deadline, keys=lane.correlation, given=given)


async def required_of(refs: Sequence[str], lane: Lane) -> list[dict[str, JSON]]:
    """Return the required attribute values of the events that *refs* define."""
    return [
        await required_values(definition, lambda value: lane.fill(value, lane.execution.data))
        for definition in map(lane.program.event, refs)
    ]


def payload_of(definition: Event, event: CloudEvent) -> JSON:
    """Return what states see of *event*: its payload or, with `dataOnly: false`, the whole event."""
    return event.data if definition.data_only else event.to_json()


async def merge_event(ref: str, event: CloudEvent, given: EventDataFilter | None, data: JSON, lane: Lane) -> JSON:
    """Return *data* with what states see of *event*, received as *ref* (section "Event data filters")."""
    return await lane.program.data_flow.with_event(lane.program.event(ref), event, given, data, lane)


async def produce(ref: str, template: JSON, attributes: Mapping[str, JSON], data: JSON, lane: Lane) -> None:
    """Produce the event *ref*. A text *template* is an expression, an object is filled; None sends all the data."""
    definition = lane.program.event(ref)
    filled = await lane.fill(dict(attributes), data)
    own = filled if isinstance(filled, dict) else {}
    event = CloudEvent(
        id=lane.run.host.new_id(),
        source=definition.source or DEFAULT_SOURCE,
        type=definition.type or definition.name,
        data=await lane.selected(template, data),
        attributes={
            "time": lane.run.host.now().isoformat(),
            "datacontenttype": "application/json",
            **{name: value for name, value in own.items() if name.lower() not in FIXED},
        },
    )
    lane.emit_event(TraceKind.EVENT_PRODUCED, ref, event)
    await lane.run.host.publish(event)


async def produce_all(events: tuple[ProduceEvent, ...], data: JSON, lane: Lane[StateFrame]) -> None:
    """Produce *events* in the order written, none of them twice."""
    frame = lane.frame
    for event in events[frame.events :]:
        await produce(event.event_ref, event.data, event.context_attributes, data, lane)
        frame.events += 1


def begin_anew(frame: StateFrame, lane: Lane) -> None:
    """Prepare another attempt at a state; of its body only a complete set of events is kept."""
    release(frame.body, lane)
    frame.body = None if frame.body is None else frame.body.begun_anew()


def release(body: Body | None, lane: Lane) -> None:
    """Put back into the inbox events that the state of *lane*, with this *body*, or states in it took but did not use.

    Correlation attributes that these events set are unset again, as if they had not been taken.
    """
    if body is not None:
        put_back(_of_body(body, lane), lane)


def release_within(part: PartFrame, scope: str, lane: Lane) -> None:
    """Put back events that the states in the part at *scope*, which run detached on *lane*, took but did not use."""
    put_back(_of_part(part, scope, lane), lane)


def _of_body(body: Body, lane: Lane) -> Iterator[CloudEvent]:
    if isinstance(body, EventsBody) and body.taken and not body.complete:
        yield from drop_all(body, lane, lane.correlation)
    for where, branch, part in body.parts:
        path = lane.state_path if branch is None else f"{lane.state_path}/{branch}"
        yield from _of_part(part, path, lane.child(part, f"{lane.path}{where}", branch=branch))


def _of_part(part: PartFrame, path: str, lane: Lane) -> Iterator[CloudEvent]:
    """Yield the events that the states in the part at *path* took but did not use."""
    walk, scope = part.walk, lane.program.scopes.get(path)
    if scope is None or walk is None or walk.run is None or walk.run.body is None:
        return
    name, run = walk.state, walk.run
    inner = Lane(lane.execution, scope.state(name), run, lane.variables, f"{lane.path}/{name}", scope, lane.branch)
    yield from _of_body(walk.run.body, inner)
