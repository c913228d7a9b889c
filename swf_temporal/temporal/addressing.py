"""Which event does a signal carry?"""

from swf_temporal.data import JSON
from swf_temporal.interpreter.correlation import ADDRESSED
from swf_temporal.interpreter.events import DEFAULT_SOURCE
from swf_temporal.interpreter.program import Program
from swf_temporal.interpreter.semantics import FIRST_SEMANTICS
from swf_temporal.model.cloudevent import CloudEvent

EVENT = "event"
"""The signal that carries a whole CloudEvent."""


def event_of_signal(name: str, value: JSON, program: Program) -> CloudEvent:
    """Return the event that the signal *name* carries.

    `event` carries a CloudEvent. A signal named after an event definition, or after the type of one, carries the
    event's data; since it was sent to this very instance, it need not carry the attributes that correlate it. A
    CloudEvent is taken as one under any name. Raises ValueError saying what is wrong.
    """
    if name == EVENT or (isinstance(value, dict) and {"specversion", "type"} <= value.keys()):
        if not isinstance(value, dict):
            raise ValueError("it does not carry a CloudEvent, which is a JSON object")
        return CloudEvent.from_json(value)
    definition = program.events.get(name)
    if definition is None:
        definition = next((event for event in program.workflow.events if event.type == name), None)
    if definition is None:
        known = ", ".join(program.events) or "none"
        raise ValueError(f"the workflow defines no event of that name; it defines {known}")
    return CloudEvent(
        id="",
        source=definition.source or DEFAULT_SOURCE,
        type=definition.type or definition.name,
        data=value,
        attributes={ADDRESSED: True} if program.semantics == FIRST_SEMANTICS else {},
        is_addressed=True,
    )
