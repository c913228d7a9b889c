"""Putting back events that a state took, but left before it had all that it needs (section "Event State").

In the drafts, branches and iterations contain states, so event states may be nested at any depth.
"""

from collections.abc import Iterator

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.languages.serverless_workflow.execution.frames import Body, EventsBody, PartFrame, StateFrame
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.runtime.waiting import drop_all, put_back


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
