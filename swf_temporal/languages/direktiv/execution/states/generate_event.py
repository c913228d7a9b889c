"""The `generateEvent` state: sends an event."""

from base64 import b64decode
from datetime import timedelta

from swf_temporal.base.cloud_event import FIXED, CloudEvent
from swf_temporal.base.data import JSON, json_or_base64
from swf_temporal.base.durations import parse_duration
from swf_temporal.expressions.structured import as_text
from swf_temporal.languages.direktiv.execution.lane import Lane
from swf_temporal.languages.direktiv.execution.outcome import StateExit
from swf_temporal.languages.direktiv.model.states import GenerateEventState
from swf_temporal.runtime.host import TraceKind
from swf_temporal.runtime.variables import JSON_TYPE

IMMEDIATE = "immediate"
"""A delay of nothing."""


async def run(state: GenerateEventState, lane: Lane) -> StateExit:
    """Send the event, at once or when its delay is over, and go on without waiting for that."""
    lane.run.checkpoint()
    event = await _event(state, lane)
    after = parse_duration(state.delay) if state.delay and state.delay != IMMEDIATE else timedelta()
    lane.emit_event(TraceKind.EVENT_PRODUCED, event.type, event)
    await lane.run.host.publish(event, after)
    return StateExit(lane.data, state.transform, state.transition)


async def _event(state: GenerateEventState, lane: Lane) -> CloudEvent:
    given = state.event
    data, content_type = _payload(await lane.evaluate(given.data, lane.data), given.datacontenttype)
    context = {} if given.context is None else await lane.object_of(given.context, lane.data, "the context of an event")
    own = {key: _attribute(value) for key, value in context.items() if key.lower() not in FIXED and value is not None}
    attributes: dict[str, JSON] = {**own, "datacontenttype": content_type}
    return CloudEvent(lane.run.host.new_id(), given.source, given.type, data, attributes)


def _attribute(value: JSON) -> JSON:
    """Return *value* as an attribute may be: a text, a whole number, true or false; all else is written as JSON."""
    return value if isinstance(value, str | int) else as_text(value)


def _payload(data: JSON, content_type: str | None) -> tuple[JSON, str]:
    """Return the payload of an event, and its type. A text of another type than JSON may be in base64."""
    if not isinstance(data, str) or not content_type or content_type == JSON_TYPE:
        return data, JSON_TYPE
    try:
        content = b64decode(data, validate=True)
        text = content.decode()
    except ValueError:
        return data, content_type
    return text if isinstance(json_or_base64(content), str) else json_or_base64(content), content_type
