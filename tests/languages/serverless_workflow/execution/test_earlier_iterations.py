"""Iterations of runs under earlier readings, which keep a frame of each, come to the same, suspended or not."""

import json
from typing import Any, Final, TypeAlias

import pytest

from swf_temporal.data import JSON
from swf_temporal.loading import load
from swf_temporal.runtime.run import Run
from swf_temporal.runtime.semantics import FIRST_SEMANTICS, SEMANTICS
from swf_temporal.simulation.context import SimulationContext
from swf_temporal.simulation.result import Simulation

Definition: TypeAlias = dict[str, Any]

WITH_FRAMES: Final = 4
"""The last reading under which each iteration keeps its frame."""


def _run(
    definition: Definition, data: JSON, functions: dict[str, Any], semantics: int, at: int = 0
) -> tuple[Simulation, int]:
    """Run *definition*, suspended at its step number *at*; also count the steps."""
    context = SimulationContext([load(definition)], functions, [], {})
    context.semantics = semantics
    steps = 0

    def step(run: Run, _: Any) -> None:
        nonlocal steps
        steps += 1
        if steps == at:
            run.suspend()

    context.on_trace, context.resumed = step, lambda progress: json.loads(json.dumps(progress))
    return context.run(data), steps


def _foreach(mode: str, **more: JSON) -> Definition:
    first: JSON = {"functionRef": {"refName": "double", "arguments": {"n": "${ .item }", "of": "${ .name }"}}}
    second: JSON = {"functionRef": {"refName": "next", "arguments": "${ .doubled }"}, "sleep": {"before": "PT1M"}}
    state: JSON = {
        "name": "Each", "type": "foreach", "inputCollection": "${ .list }", "iterationParam": "item", "mode": mode,
        "actions": [first, second], "end": True, **more,
    }  # fmt: skip
    functions: JSON = [{"name": "double", "type": "custom"}, {"name": "next", "type": "custom"}]
    return {"id": "each", "specVersion": "0.8", "functions": functions, "states": [state]}


LOOP: Final[Definition] = {
    "id": "loop-until",
    "startsAt": "Solve",
    "states": [
        {
            "name": "Solve",
            "type": "OPERATION",
            "actionMode": "SEQUENTIAL",
            "actions": [{"function": {"name": "double"}}, {"function": {"name": "next"}}],
            "loop": {
                "inputCollection": "$.list",
                "outputCollection": "$.out",
                "completionCondition": "$.next == 5",
                "timeDelay": "PT1M",
            },
            "end": True,
        }
    ],
}
BRANCHES: Final[Definition] = {
    "id": "branches",
    "specVersion": "0.8",
    "functions": [{"name": "double", "type": "custom"}, {"name": "next", "type": "custom"}],
    "states": [
        {
            "name": "Both",
            "type": "parallel",
            "branches": [
                {
                    "name": name,
                    "actions": [
                        {
                            "functionRef": {"refName": "double", "arguments": {"n": number}},
                            "actionDataFilter": {"toStateData": f"${{ .{name} }}"},
                        },
                        {
                            "functionRef": {"refName": "next", "arguments": f"${{ .{name}.doubled }}"},
                            "actionDataFilter": {"toStateData": f"${{ .{name}.next }}"},
                            "sleep": {"before": "PT1M"},
                        },
                    ],
                }
                for name, number in (("a", 3), ("b", 4))
            ],
            "end": True,
        }
    ],
}
ITEMS: Final[list[JSON]] = [{"next": 3}, {"next": 5}]


@pytest.mark.parametrize("semantics", [FIRST_SEMANTICS, WITH_FRAMES, SEMANTICS])
@pytest.mark.parametrize(
    ("definition", "data", "output", "calls", "minutes"),
    [
        (_foreach("sequential"), {"list": [1, 2]}, {"list": [1, 2], "doubled": 4, "next": 5}, 4, 2),
        (_foreach("parallel"), {"list": [1, 2]}, {"list": [1, 2], "doubled": 4, "next": 5}, 4, 1),
        (_foreach("parallel", batchSize=1), {"list": [1, 2]}, {"list": [1, 2], "doubled": 4, "next": 5}, 4, 2),
        (
            _foreach("sequential", outputCollection="${ .out }"),
            {"list": [1, 2], "out": [0]},
            {"list": [1, 2], "out": [0, *ITEMS]},
            4,
            2,
        ),
        (
            _foreach("parallel", outputCollection="${ .out }"),
            {"list": [1, 2]},
            {"list": [1, 2], "out": ITEMS},
            4,
            1,
        ),
        (LOOP, {"list": [1, 2, 3]}, {"list": [1, 2, 3], "out": ITEMS}, 4, 1),
        (BRANCHES, {}, {"a": {"doubled": 6, "next": {"next": 7}}, "b": {"doubled": 8, "next": {"next": 9}}}, 4, 1),
    ],
    ids=["sequential", "parallel", "window", "collected", "collected in parallel", "loop", "branches"],
)
def test_iterations_come_to_the_same(
    definition: Definition, data: JSON, output: JSON, calls: int, minutes: int, semantics: int
) -> None:
    """Under each reading, and wherever the run is suspended: nothing is done twice, and nothing is lost."""
    of_loop = definition is LOOP

    def double(given: Any) -> JSON:
        number = given if of_loop else given["n"]
        return {"doubled": number * 2}

    def following(given: Any) -> JSON:
        return {"next": (given["doubled"] if of_loop else given) + 1}

    functions: dict[str, Any] = {"double": double, "next": following}
    undisturbed, steps = _run(definition, data, functions, semantics)
    for at in range(steps + 1):
        run, _ = _run(definition, data, functions, semantics, at)
        assert (run.status, run.output) == ("completed", output)
        assert len(run.calls) == calls
        assert run.elapsed.total_seconds() == minutes * 60
    assert steps > calls
    assert undisturbed.output == output
