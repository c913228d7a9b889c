"""What was compiled is remembered, and not without end: a worker runs for months."""

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.expressions.braced import BracedPaths
from swf_temporal.expressions.early import EarlyExpressions
from swf_temporal.expressions.evaluation import Expressions


@pytest.mark.parametrize("kind", [Expressions, BracedPaths, EarlyExpressions])
def test_objects_made_while_running_are_forgotten(kind: type[Expressions], monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as the attributes of an event, which are put together each time that it is produced."""
    monkeypatch.setattr("swf_temporal.expressions.evaluation._MAX_STRUCTURES", 10)
    expressions = kind()
    for number in range(100):
        assert expressions.template({"number": number})({}, {}) == {"number": number}
    assert max(len(kept) for kept in vars(expressions).values() if isinstance(kept, dict)) <= 10


@pytest.mark.parametrize("kind", [Expressions, BracedPaths, EarlyExpressions])
def test_an_object_is_compiled_once(kind: type[Expressions]) -> None:
    expressions = kind()
    value: JSON = {"text": "hello"}
    assert expressions.template(value) is expressions.template(value)
