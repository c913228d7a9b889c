"""Patterns that take too long never change the course of a run: they fail it, as expressions do."""

from typing import Any

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.languages.loading import load
from swf_temporal.simulation.context import SimulationContext
from swf_temporal.simulation.result import Simulation

SLOW = "(a|aa)+$"
LONG = "a" * 60 + "!"
CATCHING: dict[str, Any] = {
    "errors": [{"name": "slow", "code": SLOW}, {"name": "any", "code": "*"}],
    "functions": [{"name": "f", "type": "custom"}],
    "states": [{"name": "A", "type": "operation", "actions": [{"functionRef": "f"}],
                "onErrors": [{"errorRef": "slow", "transition": "B"}, {"errorRef": "any", "end": True}], "end": True},
               {"name": "B", "type": "inject", "data": {"b": 1}, "end": True}],
}  # fmt: skip
CHECKING: dict[str, Any] = {
    "dataInputSchema": {"schema": {"properties": {"text": {"pattern": SLOW}}}, "failOnValidationErrors": False},
    "states": [{"name": "A", "type": "inject", "data": {}, "end": True}],
}


def fails(_: JSON) -> JSON:
    raise CallFailed(LONG)


def run(definition: dict[str, Any]) -> Simulation:
    workflow = load({"id": "a", "specVersion": "0.8", **definition})
    context = SimulationContext([workflow], {"f": fails}, (), {})
    return context.run({"text": LONG})


@pytest.mark.parametrize("definition", [CATCHING, CHECKING], ids=["code of an error", "data schema"])
def test_fails_the_run(definition: dict[str, Any]) -> None:
    """What cannot be told in time decides nothing: neither that an error is not covered, nor that data does not fit."""
    ended = run(definition)
    assert (ended.status, ended.error and ended.error.name) == ("failed", "ExpressionLimitExceeded")
    assert ended.error is not None
    assert "it takes too long to" in ended.error.message
