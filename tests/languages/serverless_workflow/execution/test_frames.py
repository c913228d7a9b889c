"""What is written down of a path, and what is forgotten."""

from swf_temporal.languages.serverless_workflow.execution.frames import (
    ActionFrame,
    StateFrame,
    forget_deadlines,
    keep_result,
)


def test_nothing_is_left_of_a_path_that_is_done_but_its_result() -> None:
    """How it got there would be carried along for as long as the instance runs."""
    frame: ActionFrame = {"condition": True, "attempt": 3, "result": {"big": True}}
    keep_result(frame, {"effect": [None, 7]})
    assert frame == {"effect": [None, 7]}


def test_deadlines_are_forgotten_wherever_they_stand() -> None:
    """Sleeps go on until when they were to, and data may have names like these."""
    frame: StateFrame = {
        "deadline": 1.0,
        "single": 2.0,
        "body": {
            "data": {"deadline": "today"},
            "until": 3.0,
            "action": {"before": 4.0, "action timeout": 5.0, "result timeout": 6.0, "result": {"single": "yes"}},
        },
    }
    forget_deadlines(frame)
    action = {"before": 4.0, "result": {"single": "yes"}}
    assert frame == {"body": {"data": {"deadline": "today"}, "until": 3.0, "action": action}}
