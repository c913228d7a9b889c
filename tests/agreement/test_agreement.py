"""Simulation and Temporal agree on generated definitions; `python -m tests.agreement` asks of more of them."""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import pytest

from swf_temporal.base.errors import InvalidDefinition
from swf_temporal.languages.dsl.model.workflow import TASK_TYPES
from swf_temporal.languages.serverless_workflow.model.states import STATE_TYPES
from swf_temporal.runtime.host import TraceKind
from swf_temporal.sdk.scenarios.host import scenario_host
from tests.agreement import generating_direktiv, generating_dsl
from tests.agreement.comparing import compare, differences, is_tie, read, simulated
from tests.agreement.generating import Document, scenario
from tests.sampling import seeds

COUNT = 24, 2_000
"""How many are compared: few, or many."""
OTHERS_COUNT = 12, 1_000
"""How many Direktiv workflows, and how many of DSL 1.0."""
DIFFERED = (1842, 2406, 2615, 2665, 1872, 2656)
"""Seeds with which a sub-workflow is broken off: in the moment in which it is started, and once it has continued."""

pytestmark = pytest.mark.timeout(900)  # half a minute, and much more on a machine that is busy


async def test_both_hosts_agree() -> None:
    """They end alike, at the same time, having called and produced the same, by the same course."""
    direktiv = map(generating_direktiv.scenario, seeds("both hosts, Direktiv", *OTHERS_COUNT))
    dsl = map(generating_dsl.scenario, seeds("both hosts, DSL 1.0", *OTHERS_COUNT))
    async with scenario_host() as host:
        found = await compare(
            host, [*(scenario(seed) for seed in (*seeds("both hosts", *COUNT), *DIFFERED)), *direktiv, *dsl]
        )
    told = [f"{one.document['scenario']}: {'; '.join(one.differences)}" for one in found if one.differences]
    assert not told, "\n".join(told)


@pytest.mark.parametrize(
    "generated",
    [scenario, generating_direktiv.scenario, generating_dsl.scenario],
    ids=["0.8", "direktiv", "dsl"],
)
def test_what_is_generated_is_worth_comparing(generated: Callable[[int], Document]) -> None:
    """Nearly all definitions can run; they end in every way, take time, call functions and fail."""
    seen = []
    for one in read(map(generated, range(100))):
        with suppress(InvalidDefinition):
            seen.append(simulated(one))
    assert len(seen) > 90
    # No Direktiv workflow waits for ever: its states have timeouts.
    waits = generated is not generating_direktiv.scenario
    statuses = {"completed", "failed", "cancelled"} | ({"waiting"} if waits else set())
    assert {one.status for one in seen} == statuses
    assert sum(bool(one.elapsed) for one in seen) > 50
    assert sum(bool(one.calls) for one in seen) > 45
    assert len({str(one.error["name"]) for one in seen if one.error}) > 1


def test_only_what_the_end_of_a_sub_workflow_decides_is_a_tie() -> None:
    """Of the run on Temporal the end of the sub-workflow is left out, as where another branch ended it before."""
    [one] = read([generating_dsl.scenario(81044)])
    here = simulated(one)
    late = [entry for entry in here.trace if entry.detail.get("subflow") and entry.kind is TraceKind.ACTION_FAILED]
    assert len(late) == 1
    there = replace(here, status="completed", error=None, trace=[entry for entry in here.trace if entry not in late])
    assert differences(here, there)
    assert is_tie(here, there)
    assert not is_tie(here, replace(here, status="completed"))
    assert not is_tie(here, replace(there, elapsed=timedelta(hours=1)))
    earlier = [replace(entry, at=entry.at - timedelta(seconds=1)) if entry.lane else entry for entry in there.trace]
    assert not is_tie(here, replace(there, trace=earlier))


def test_the_same_seed_makes_the_same() -> None:
    assert scenario(7) == scenario(7)
    assert scenario(7) != scenario(8)


def test_every_type_of_state_is_generated() -> None:
    found = {state["type"] for seed in range(60) for state in scenario(seed)["workflow"]["states"]}
    assert found == set(STATE_TYPES)


def test_every_type_of_task_is_generated() -> None:
    """A workflow runs others, so that the type `run` is one of them."""
    texts = [json.dumps(generating_dsl.scenario(seed)["workflow"]) for seed in range(60)]
    assert [kind for kind in TASK_TYPES if not any(f'"{kind}": ' in text for text in texts)] == []
