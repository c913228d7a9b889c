"""Do both hosts come to the same? They run a generated scenario, and everything that is seen of it is compared."""

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from swf_temporal.base.errors import InvalidDefinition
from swf_temporal.base.stopping import beside
from swf_temporal.runtime.host import TraceEntry, TraceKind
from swf_temporal.sdk.scenarios.host import ScenarioHost
from swf_temporal.simulation.clock import EPOCH
from swf_temporal.simulation.scenario import ObservedRun, Scenario, canonical, context_of, observed, read_scenarios
from tests.agreement.generating import Document

AT_ONCE = 48
"""How many scenarios run side by side."""
_OWN = ("id", "time")


@dataclass(frozen=True, slots=True)
class Compared:
    document: Document
    simulated: ObservedRun | None
    """None if its definition cannot run."""
    differences: Sequence[str] = ()
    is_tie: bool = False
    """Whether a sub-workflow ended in the instant in which another branch ended the run: either may be first."""


def read(documents: Iterable[Document]) -> list[Scenario]:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "scenarios.yaml"
        file.write_text("\n---\n".join(map(json.dumps, documents)))
        return read_scenarios(file)


async def compare(host: ScenarioHost, documents: Sequence[Document]) -> list[Compared]:
    """Run the scenarios on both hosts, and return how each of them differs."""
    scenarios = await beside(partial(read, documents))
    room = asyncio.Semaphore(AT_ONCE)

    async def one(document: Document, scenario: Scenario) -> Compared:
        async with room:
            try:
                here = await beside(partial(simulated, scenario))
            except InvalidDefinition:
                return Compared(document, None)
            try:
                there = await host.observe(scenario)
            except Exception as error:  # noqa: BLE001 - told with the definition, and the others go on
                return Compared(document, here, [f"on Temporal it broke off: {error!r}"])
            apart = differences(here, there, has_delays=not _repeats_below(document))
            if apart and is_tie(here, there):
                return Compared(document, here, is_tie=True)
            return Compared(document, here, apart)

    return await asyncio.gather(*map(one, documents, scenarios))


def _repeats_below(document: Document) -> bool:
    """Return True if sub-workflows may repeat calls where only their own traces tell: Direktiv's, on Temporal."""
    states = document["workflow"].get("states")
    return bool(document.get("definitions")) and states is not None and "name" not in states[0]


def differences(here: ObservedRun, there: ObservedRun, *, has_delays: bool = True) -> list[str]:
    found = []
    for what in ("status", "output", "error", "calls", *(["delays"] if has_delays else []), "elapsed"):
        one, other = _told(getattr(here, what)), _told(getattr(there, what))
        if one != other:
            found.append(f"{what}: in simulation {one}, on Temporal {other}")
    one, other = ([_without(event) for event in seen.produced] for seen in (here, there))
    if one != other:
        found.append(f"produced: in simulation {one}, on Temporal {other}")
    lanes, others = _lanes(here.trace), _lanes(there.trace)
    for lane in dict.fromkeys([*lanes, *others]):
        one, other = lanes.get(lane, []), others.get(lane, [])
        if not (lane and _was_cut_off(one, other, lanes.get("", [])[-1:])):
            found += _apart(lane, one, other)
    return found


def _was_cut_off(one: Sequence[Any], other: Sequence[Any], end: Sequence[Any]) -> bool:
    """Return True if a branch only leaves a task on one host, in the instant in which another branch ends them all.

    How many steps of the event loop it takes to cancel what is in it, no definition can tell.
    """
    shorter, longer = sorted((one, other), key=len)
    more = longer[len(shorter) :]
    return longer[: len(shorter)] == shorter and all(
        told[0] == TraceKind.STATE_LEFT and [time] == [at for at, _ in end] for time, told in more
    )


def is_tie(here: ObservedRun, there: ObservedRun) -> bool:
    """Return True if both agree before the instant of their end, and only one heard of a sub-workflow's end in it.

    A sub-workflow has a queue and a history of its own: in no virtual time, it takes as long as its worker takes.
    """
    lanes, others = _lanes(here.trace), _lanes(there.trace)
    ends = {seen[""][-1][0] for seen in (lanes, others) if seen.get("")}
    if _told(here.elapsed) != _told(there.elapsed) or len(ends) != 1:
        return False
    [end] = ends
    pairs = [sorted((lanes.get(lane, []), others.get(lane, [])), key=len) for lane in {*lanes, *others}]
    return all(_before(end, shorter) == _before(end, longer) for shorter, longer in pairs) and any(
        _runs_subflow(shorter) and len(longer) > len(shorter) for shorter, longer in pairs
    )


def _before(end: int, entries: Sequence[Any]) -> list[Any]:
    return [told for time, told in entries if time < end]


def _runs_subflow(entries: Sequence[Any]) -> bool:
    return bool(entries) and entries[-1][1][0] == TraceKind.ACTION_STARTED and "subflow" in entries[-1][1][3]


def simulated(scenario: Scenario) -> ObservedRun:
    return observed(scenario, context_of(scenario).run(scenario.input))


def _lanes(trace: Sequence[TraceEntry]) -> dict[str, list[Any]]:
    times: dict[str, list[int]] = {}
    for entry in trace:
        if entry.kind is not TraceKind.ACTION_RETRIED:
            times.setdefault(entry.lane, []).append(round((entry.at - EPOCH) / timedelta(milliseconds=1)))
    return {lane: list(zip(times[lane], told, strict=True)) for lane, told in canonical(trace).items()}


def _apart(lane: str, one: Sequence[Any], other: Sequence[Any]) -> list[str]:
    if one == other:
        return []
    step = next((n for n, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None)
    step = min(len(one), len(other)) if step is None else step
    there = f"in simulation {one[step : step + 1]}, on Temporal {other[step : step + 1]}"
    return [f"trace of {lane or 'the workflow'}, step {step + 1}: {there}"]


def _told(value: Any) -> Any:
    """Return *value* without what no engine can tell: pauses that are shorter than a millisecond."""
    if isinstance(value, list | tuple):
        return [_told(one) for one in value]
    if isinstance(value, timedelta):
        milliseconds = round(value / timedelta(milliseconds=1))
        return 0 if milliseconds <= 1 else milliseconds
    return value


def _without(event: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in event.items() if key not in _OWN}
