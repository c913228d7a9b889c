"""What is worked out once for a definition, and what is missing in it."""

from collections.abc import Callable
from typing import Any

import pytest

from swf_temporal.base.calls import Function
from swf_temporal.base.errors import UnknownDefinition
from swf_temporal.languages.serverless_workflow.execution.program import Program
from swf_temporal.languages.serverless_workflow.model.actions import Action
from swf_temporal.languages.serverless_workflow.model.definitions import Event
from swf_temporal.languages.serverless_workflow.model.workflow import External
from tests.languages.serverless_workflow.models import load_program

STATES: list[dict[str, Any]] = [{"name": "A", "type": "inject", "data": {}, "end": True}]


def _program(**more: Any) -> Program:
    return load_program({"id": "a", "version": "1.0.0", "specVersion": "0.8", "states": STATES, **more})


@pytest.mark.parametrize(
    ("ask", "kind"),
    [
        (lambda program: program.function("gone"), "a function"),
        (lambda program: program.event("gone"), "an event"),
        (lambda program: program.retry_rule(Action(name="x", retry_ref="gone")), "a retry"),
    ],
)
def test_what_is_not_defined_is_told(ask: Callable[[Program], object], kind: str) -> None:
    with pytest.raises(UnknownDefinition) as told:
        ask(_program())
    assert told.value.message == f"'gone' is not {kind} of workflow 'a'"


def test_what_a_document_defines_that_was_not_read_is_known_by_its_name() -> None:
    """A function is for whatever performs the call to find, and an event is taken by its type."""
    program = _program()
    externals = {kind: External(uri=f"{kind}.json") for kind in ("functions", "events")}
    program = program.with_workflow(program.workflow.model_copy(update={"externals": externals}))
    assert program.function("charge") == Function(name="charge", type="custom")
    assert program.event("paid") == Event(name="paid", type="paid")


def test_what_is_worked_out_is_kept() -> None:
    """Rules and timeouts are made once for each action and state."""
    retries = [{"name": "r", "maxAttempts": 3}]
    program = _program(retries=retries)
    action = Action(name="x", retry_ref="r")
    assert program.retry_rule(action) is program.retry_rule(action) is not None
    state = program.workflow.states[0]
    assert program.timeouts(state) is program.timeouts(state)
