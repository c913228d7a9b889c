"""What is written down of a path, and what is forgotten."""

from typing import get_args

from swf_temporal.base.data import JSON
from swf_temporal.languages.serverless_workflow.execution.frames import (
    ActionFrame,
    ActionResult,
    CallbackBody,
    EventExpressionBody,
    ForeachBody,
    ForeachFront,
    InstanceFrame,
    ParallelBody,
    PartFrame,
    SequenceFrame,
    StateBody,
    StateFrame,
    WalkFrame,
)
from swf_temporal.languages.serverless_workflow.execution.step import ByError, Exit, Nowhere, Step
from swf_temporal.runtime.progress import Value, forget_deadlines


def test_deadlines_are_forgotten_wherever_they_stand() -> None:
    """Sleeps go on until when they were to, and data may have names like these."""
    given: JSON = {"deadline": "today", "single": 1}
    action = ActionFrame(1.0, before=4.0, done=True, result=Value(given), answer_deadline=6.0)
    frame = StateFrame(deadline=1.0, single=2.0, body=CallbackBody(3.0, actions=SequenceFrame(action=action)))
    forget_deadlines(frame)
    left = ActionFrame(before=4.0, done=True, result=Value(given))
    assert frame == StateFrame(body=CallbackBody(actions=SequenceFrame(action=left)))

    part = PartFrame(deadline=1.0, before=2.0, walk=WalkFrame("A", {}, StateFrame(single=1.0)))
    parallel = StateFrame(body=ParallelBody({"left": part}))
    forget_deadlines(parallel)
    assert parallel.body == ParallelBody({"left": PartFrame(before=2.0, walk=WalkFrame("A", {}, StateFrame()))})

    waits = EventExpressionBody(waits={"0": 1.0})
    forget_deadlines(waits)
    assert waits == EventExpressionBody()


def test_a_frame_is_read_as_it_was_written() -> None:
    """With values that look like frames, iterations by their numbers, and the way in which a state is left."""
    value: JSON = {"front": {"parts": [1]}, "kind": "event", "walk": {}}
    iterations = {7: PartFrame(effects=[ActionResult(["a", 0], value), ActionResult(value=value)], done=True)}
    foreach = ForeachBody(ForeachFront(9, 3, outputs=[value], data=Value(None)), iterations)
    frame = InstanceFrame(walk=WalkFrame("Each", value, StateFrame(body=foreach)), ended=Value(None))
    frame.before = WalkFrame("Tidy", None, StateFrame(left=Step(value, ByError(1))))
    assert InstanceFrame.from_json(frame.to_json()) == frame


def test_every_body_and_every_exit_can_be_stored() -> None:
    for kind in get_args(StateBody):
        frame = StateFrame(body=kind())
        assert StateFrame.from_json(frame.to_json()) == frame
    for kind in get_args(Exit):
        given = {"ByDefault": (), "Nowhere": (), "ToState": ("Next",)}.get(kind.__name__, (1,))
        step = Step(None, kind(*given))
        assert Step.from_json(step.to_json()) == step
    assert Step(1, Nowhere()).to_json() == {"data": 1, "exit": {"kind": "nowhere"}}
