"""Events that were taken in vain: what left its state before all of them came gives them back (section "Event State").

In the drafts, branches and iterations hold states, so that what is left may hold event states at any depth.
"""

from collections.abc import Iterator
from typing import cast

from swf_temporal.cloud_event import CloudEvent
from swf_temporal.languages.serverless_workflow.execution.frames import (
    BodyFrame,
    IterationFrame,
    StateFrame,
    parts_of,
)
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.runtime.host import TraceKind

_OF_EVENTS = ("taken", "complete", "fixed")
"""The keys of a body's frame that hold its events."""


def begin_anew(frame: StateFrame, lane: Lane) -> None:
    """Make ready for another attempt at a state, which keeps of its body only the events that came all together."""
    body = frame.get("body", {})
    give_back(body, lane)
    frame["body"] = cast("BodyFrame", {key: value for key, value in body.items() if key in _OF_EVENTS})


def give_back(frame: BodyFrame, lane: Lane) -> None:
    """Put back into the inbox what the state of *lane* took in vain, or states in it; *frame* is how far its body is.

    Attributes that these events fixed are free again, as if they had not been taken.
    """
    _put_back(_of_body(frame, lane), lane)


def give_back_within(part: IterationFrame, scope: str, lane: Lane) -> None:
    """Put back what states took in vain that run on *lane*, by themselves: those that the part at *scope* holds."""
    _put_back(_of_part(part, scope, lane), lane)


def _put_back(events: Iterator[CloudEvent], lane: Lane) -> None:
    found = list(events)
    if found:
        lane.run.inbox.give_back(found)


def _of_body(frame: BodyFrame, lane: Lane) -> Iterator[CloudEvent]:
    taken = frame.get("taken", {})
    if taken and not frame.get("complete"):
        lane.correlation.free(frame.pop("fixed", ()))
        frame["taken"] = {}
        for ref, event in taken.items():
            lane.emit(TraceKind.EVENT_GIVEN_BACK, ref)
            yield CloudEvent.from_record(event)
    for name, index, part in parts_of(frame):
        if name is None:
            yield from _of_part(part, lane.state_path, lane.child(part, f"{lane.path}[{index}]"))
        else:
            yield from _of_part(part, f"{lane.state_path}/{name}", lane.child(part, f"{lane.path}/{name}", branch=name))


def _of_part(part: IterationFrame, path: str, lane: Lane) -> Iterator[CloudEvent]:
    """Yield what the states that the part at *path* holds took in vain."""
    walk = part.get("walk", {})
    scope = lane.program.scopes.get(path)
    if scope is None or "run" not in walk:
        return
    name, run = walk["state"], walk["run"]
    inner = Lane(lane.execution, scope.state(name), run, lane.variables, f"{lane.path}/{name}", scope, lane.branch)
    yield from _of_body(run.get("body", {}), inner)
