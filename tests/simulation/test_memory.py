"""What is left in memory of calls that have ended."""

import gc
from collections.abc import Iterator
from typing import Any

import pytest

from swf_temporal import simulate
from swf_temporal.runtime.host import FunctionCall, SubflowCall

SEQUENCE = {
    "id": "sequence", "specVersion": "0.8", "functions": [{"name": "count", "operation": "count.json#count"}],
    "states": [{"name": "Each", "type": "foreach", "mode": "sequential", "inputCollection": "${ .items }",
                "actions": [{"functionRef": {"refName": "count", "arguments": {}}}], "end": True}],
}  # fmt: skip
OF_SUBFLOWS = {
    "id": "of-subflows",
    "specVersion": "0.8",
    "states": [{**SEQUENCE["states"][0], "actions": [{"subFlowRef": "one"}]}],  # type: ignore[dict-item]  # a list
}
ONE = {
    "id": "one", "specVersion": "0.8", "functions": SEQUENCE["functions"],
    "states": [{"name": "Call", "type": "operation", "actions": [{"functionRef": "count"}], "end": True}],
}  # fmt: skip
DIREKTIV = {
    "id": "of-direktiv",
    "functions": [{"type": "knative-workflow", "id": "count", "image": "count"}],
    "states": [{"id": "each", "type": "foreach", "array": "jq(.items)", "action": {"function": "count"}}],
}


@pytest.fixture
def _uncollected() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("_uncollected")
@pytest.mark.parametrize(
    ("definitions", "kind"), [([SEQUENCE], FunctionCall), ([OF_SUBFLOWS, ONE], SubflowCall), ([DIREKTIV], FunctionCall)]
)
def test_a_call_that_has_ended_is_freed_without_the_garbage_collector(
    definitions: list[dict[str, Any]], kind: type
) -> None:
    """The collector has nothing to look for where thousands of calls are made: it stops the whole worker meanwhile."""
    there = []

    def count(_: Any) -> dict[str, Any]:
        there.append(sum(isinstance(one, kind) for one in gc.get_objects()))
        return {}

    run = simulate(definitions[0], {"items": [{}] * 8}, functions={"count": count}, definitions=definitions[1:])
    assert run.status == "completed"
    assert len(there) == 8, there
    assert max(there[4:]) <= max(there[:4]), there
