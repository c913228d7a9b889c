"""The rules and the runs of a definition share what its expressions compile to."""

from typing import Any

import pytest

from swf_temporal.expressions.evaluation import Expressions
from swf_temporal.languages.loading import load
from swf_temporal.simulation.simulate import simulate

DEFINITION = {
    "id": "once", "version": "1", "specVersion": "0.8",
    "functions": [{"name": "double", "type": "expression", "operation": ".n * 2"}],
    "states": [{"name": "A", "type": "operation",
                "actions": [{"functionRef": "double", "actionDataFilter": {"toStateData": "${ .twice }"}}],
                "stateDataFilter": {"output": "${ {twice, text: (.n | tostring)} }"}, "end": True}],
}  # fmt: skip


def test_a_run_compiles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    definition = load(DEFINITION, name="compiled once")

    def compiled(_self: Any, text: str, _within: Any = ()) -> Any:
        raise AssertionError(f"{text!r} is compiled again")

    monkeypatch.setattr(Expressions, "_source", compiled)
    assert simulate(definition, {"n": 2}).output == {"twice": 4, "text": "2"}
