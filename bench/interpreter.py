"""What does the interpreter take by itself? `python -m bench.interpreter`"""

import argparse
import json
import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

from swf_temporal.base.data import JSON
from swf_temporal.languages.loading import load
from swf_temporal.runtime.host import SEMANTICS, InstanceIdentity
from swf_temporal.runtime.run import Run
from swf_temporal.simulation.clock import StateHistory, VirtualLoop
from swf_temporal.simulation.context import SimulationContext
from swf_temporal.simulation.host import SimulatedHost

STATES = 1000
LENGTH_OF_TEXT = 4096
DATA: JSON = {"order": {"number": 7, "total": 120}}

State = dict[str, Any]


def main() -> None:
    """Measure, and print a line for each measurement."""
    parser = argparse.ArgumentParser(prog="python -m bench.interpreter", description=__doc__)
    parser.add_argument("--runs", type=int, default=41, help="how often everything is measured")
    parser.add_argument("--json", action="store_true", help="print the medians, in microseconds, as JSON")
    given = parser.parse_args()
    measured = {
        "inject state": median(_seconds_a_state(_inject, given.runs)) * 1e6,
        "switch state": median(_seconds_a_state(_switch, given.runs)) * 1e6,
        "loading a definition again": median(_seconds_a_loading(given.runs)) * 1e6,
    }
    if given.json:
        print(json.dumps(measured, indent=2))
        return
    for what, microseconds in measured.items():
        print(f"{what:<28}{microseconds:8.1f} µs")


def _inject(number: int) -> State:
    return {"type": "inject", "data": {"step": number}}


def _switch(number: int) -> State:
    way_on = {"condition": "${ .order.total > 100 }", "transition": f"state {number + 1}"}
    return {"type": "switch", "dataConditions": [way_on], "defaultCondition": {"end": True}}


def _chain(make: Callable[[int], State], length: int) -> dict[str, Any]:
    states = []
    for number in range(length):
        state = {"name": f"state {number}", **make(number)}
        if state["type"] != "switch":
            state["transition"] = f"state {number + 1}"
        states.append(state)
    end = {"name": f"state {length}", "type": "inject", "data": {}, "end": True}
    return {"id": "chain", "version": "1.0.0", "specVersion": "0.8", "states": [*states, end]}


def _seconds_a_state(make: Callable[[int], State], runs: int) -> list[float]:
    """Return what one state of a chain takes, for each run of it; the definition is loaded and compiled before."""
    workflow = load(_chain(make, STATES))
    program = workflow.language.prepare(workflow, SEMANTICS)

    def run() -> None:
        context = SimulationContext([workflow], {}, (), {})  # one counts the states of all runs in it
        loop = VirtualLoop(lambda: False, lambda: None)
        host = SimulatedHost(context, loop, "bench", "<bench>", StateHistory())
        running = Run(program, host, DATA, InstanceIdentity("bench", "run"))
        loop.run_until_complete(running.run())
        loop.close()

    run()
    return [_seconds(run) / STATES for _ in range(runs)]


def _seconds_a_loading(runs: int) -> list[float]:
    """Return what loading a text takes that was loaded before, in each run."""
    length = 1
    while len(text := json.dumps(_chain(_switch, length), indent=2)) < LENGTH_OF_TEXT:
        length += 1
    load(text)
    # A run brings a text of its own, which is equal to the one known but not the same object.
    copies = [text.encode().decode() for _ in range(runs)]
    return [_seconds(partial(load, copy)) for copy in copies]


def _seconds(work: Callable[[], object]) -> float:
    before = time.process_time()  # of this process alone: nothing waits here, and others may run beside it
    work()
    return time.process_time() - before


if __name__ == "__main__":
    main()
