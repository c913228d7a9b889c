"""What does a parent see of a fault some levels down?"""

from swf_temporal.base.errors import CallFailed, SchemaMismatch, WorkflowFault
from swf_temporal.runtime.performing import subflow_fault

FAULT = CallFailed("there was no floor", code="Slipped", state="Fall")


def test_a_fault_is_told_once() -> None:
    """Name and code are those of the fault; the message says where it came from, also after it travelled as JSON."""
    child = subflow_fault("c", FAULT)
    assert (child.name, child.code, child.message) == (
        "CallFailed", "Slipped", "sub-workflow 'c' failed: there was no floor",
    )  # fmt: skip
    parent = subflow_fault("b", WorkflowFault.from_json(child.to_json()))
    grandparent = subflow_fault("a", WorkflowFault.from_json(parent.to_json()))
    assert parent.message == "sub-workflow 'b' failed, as 'c' did 2 levels down: there was no floor"
    assert grandparent.message == "sub-workflow 'a' failed, as 'c' did 3 levels down: there was no floor"
    assert (grandparent.code, grandparent.cause) == ("Slipped", None)


def test_what_a_service_said_reaches_the_parent() -> None:
    child = subflow_fault("c", CallFailed("no", status=409, body={"in": "use"}, state="Ask"))
    assert (child.status, child.body, child.cause) == (409, {"in": "use"}, "state 'Ask' of 'c'")


def test_only_an_input_that_does_not_fit_is_in_vain() -> None:
    faults = [SchemaMismatch("in", retryable=False), SchemaMismatch("out"), CallFailed("no", retryable=False)]
    assert [subflow_fault("c", fault).retryable for fault in faults] == [False, True, True]
