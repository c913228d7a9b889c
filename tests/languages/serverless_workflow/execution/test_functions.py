"""What the metadata of a function say of its calls."""

import pytest

from swf_temporal.calls import Function
from swf_temporal.data import JSON
from swf_temporal.languages.serverless_workflow.execution.functions import priority_of


@pytest.mark.parametrize("priority", [1, 2, 3, 4, 5])
def test_a_priority(priority: int) -> None:
    """Whole numbers from 1 to 5 are priorities."""
    assert priority_of(Function("f", metadata={"priority": priority})) == priority


@pytest.mark.parametrize("value", [0, 6, -1, 2.0, 2.5, True, "1", "high", None, [1], {"a": 1}])
def test_none(value: JSON) -> None:
    """What else stands there is its author's own, and no priority."""
    assert priority_of(Function("f", metadata={"priority": value})) is None
    assert priority_of(Function("f")) is None
