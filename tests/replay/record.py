"""Record what this release writes: `python -m tests.replay.record`, which is `make record`.

What was recorded of this release before is replaced, for it is not published yet; what others have recorded stays.
With `--only WORD`, only what has the word in its source is recorded anew: the rest of this release stays, too.
"""

import argparse
import asyncio
import json
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

from temporalio.client import Client, ScheduleActionStartWorkflow

from swf_temporal import __version__
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.loading import load
from swf_temporal.sdk.logs import be_quiet
from swf_temporal.sdk.scenarios.host import scenario_host
from swf_temporal.simulation.scenario import Scenario, find_scenarios, workflows_of
from swf_temporal.temporal import schedules
from swf_temporal.temporal.client import result
from swf_temporal.temporal.search_attributes import set_up
from swf_temporal.temporal.server import local_server
from swf_temporal.temporal.worker import make_worker
from tests.replay import corpus
from tests.replay.corpus import Corpus, Recorded
from tests.replay.features import features_of
from tests.soak.cases import DSL
from tests.temporal import (
    test_continuing,
    test_cycles,
    test_dsl,
    test_engine_activities,
    test_event_starts,
    test_event_subscriptions,
    test_events,
    test_known_definitions,
    test_mapping,
    test_outlasting,
    test_places,
    test_search_attributes,
    test_variables,
)
from tests.temporal.conftest import AT_ONCE, Bench
from tests.temporal.suspending import suspending
from tests.upgrades import schedule
from tests.upgrades.cases import CASES
from tests.upgrades.chains import Execution, executions
from tests.upgrades.worker import Functions

SCENARIOS: Final = Path(__file__).parents[1] / "scenarios"
A_HANDFUL: Final = 4
"""How many scenarios show a feature, if there are as many."""
SHOWING: Final[tuple[Callable[[Bench], Awaitable[None]], ...]] = (
    test_mapping.test_what_an_instance_costs_its_history,
    test_continuing.test_a_foreach_goes_on_where_it_was,
    test_continuing.test_waits_and_events_survive_continuing,
    test_continuing.test_a_cancelled_run_does_not_continue_before_it_ends,
    test_cycles.test_a_workflow_that_continues_as_itself_and_never_waits_is_given_up,
    test_events.test_is_sent_though_the_instance_has_ended,
    test_events.test_can_be_taken_back,
    test_engine_activities.test_a_definition_catches_it_by_its_type,
    test_engine_activities.test_nobody_need_wait_for_it,
    test_event_starts.test_a_mailbox_goes_on_with_what_it_remembers,
    test_event_subscriptions.test_an_instance_subscribes_by_its_data,
    test_event_subscriptions.test_what_was_not_taken_begins_the_next,
    test_events.test_signal_named_after_the_event_carries_its_data,
    test_events.test_update_says_what_became_of_an_event,
    test_known_definitions.test_what_is_served_runs,
    partial(test_outlasting.test_it_goes_on_while_its_run_continues_as_new, action=test_outlasting.CALL),
    partial(test_outlasting.test_it_goes_on_while_its_run_continues_as_new, action=test_outlasting.SUBFLOW),
    partial(test_outlasting.test_a_run_that_is_cancelled_cancels_it, action=test_outlasting.CALL),
    test_places.test_one_runs_after_the_other,
    test_places.test_each_key_has_places_of_its_own,
    test_dsl.test_a_subscription_goes_on_where_it_was,
    test_dsl.test_a_race_that_was_lost_is_run_again_by_a_retry,
    test_dsl.test_its_data_are_changed_while_a_call_is_in_progress,
    partial(test_dsl.test_is_cancelled_with_all_that_it_waits_for, way="caught"),
    test_search_attributes.test_they_follow_the_run_to_its_error,
    test_search_attributes.test_other_executions_go_on_with_them,
    test_variables.test_instances_share_what_they_store,
)
"""Tests whose workflows show on a real server what no scenario does."""


def chosen(only: str = "") -> list[tuple[str, Scenario]]:
    """Return the scenarios to record, each with its place, which has the word *only*: a handful for each feature."""
    found = {
        f"scenario {scenario.file.relative_to(SCENARIOS)} {number}": scenario
        for number, scenario in enumerate(find_scenarios([SCENARIOS]))
        if "temporal" in scenario.hosts and not scenario.is_refused and only in str(scenario.file)
    }
    features = {place: features_of(scenario) for place, scenario in found.items()}
    having = Counter(feature for one in features.values() for feature in one)
    left = {feature: min(number, A_HANDFUL) for feature, number in having.items()}
    places: list[str] = []
    while any(left.values()):
        most = max(features, key=lambda place: sum(left[feature] > 0 for feature in features[place]))
        places.append(most)
        for feature in features.pop(most):
            left[feature] = max(left[feature] - 1, 0)
    return [(place, found[place]) for place in places]


async def of_scenarios(only: str) -> AsyncIterator[Recorded]:
    async with scenario_host() as host:
        for place, scenario in chosen(only):
            await host.observe(scenario)
            workflow_id = workflows_of(scenario)[0].id
            async for one in _all_of(host.client, workflow_id):
                yield Recorded(place, tuple(sorted(features_of(scenario))), one)


async def of_cases(client: Client, only: str) -> AsyncIterator[Recorded]:
    """Yield the executions of instances that go through everything that is stored."""
    functions, queue = Functions(), "record-cases"
    worker = make_worker(client, Catalogue(), functions, functions, task_queue=queue, operator_options=suspending())
    async with worker:
        for case in (one for one in (*CASES, *DSL) if only in one.id):
            handle = await case.start(client, f"case-{case.id}", queue)
            assert await asyncio.wait_for(result(handle), 60) == case.output, case.id
            async for one in _all_of(client, handle.id):
                yield Recorded(f"case {case.id}", (), one)


async def of_tests(bench: Bench, only: str) -> AsyncIterator[Recorded]:
    await set_up(bench.client, test_search_attributes.NEEDED)
    for test in SHOWING:
        if only in getattr(test, "func", test).__module__:
            await test(bench)
    async for one in bench.client.list_workflows():
        history = await bench.client.get_workflow_handle(one.id, run_id=one.run_id).fetch_history()
        yield Recorded(f"test {one.id}", (), Execution.of(history))


async def written_schedule(client: Client) -> dict[str, Any]:
    """Return what the schedule on the server says of the instances that it starts."""
    await schedules.apply(client, load(schedule.DEFINITION), data=dict(schedule.INPUT), paused=True)
    described = await schedules.describe(client, schedule.DEFINITION["id"])
    await schedules.delete(client, schedule.DEFINITION["id"])
    action, facts = described.schedule.action, await schedules.facts_of(described)
    assert facts is not None
    assert isinstance(action, ScheduleActionStartWorkflow)
    return {
        "facts": facts.to_json(),
        "arguments": [json.loads(one.data) for one in action.args],
        "note": described.schedule.state.note,
    }


async def _all_of(client: Client, workflow_id: str) -> AsyncIterator[Execution]:
    first = (await client.get_workflow_handle(workflow_id).describe()).raw_description
    async for one in executions(client, workflow_id, first.workflow_execution_info.first_run_id):
        yield one


async def main(only: str) -> None:
    recorded = [one async for one in of_scenarios(only)]
    async with local_server(extra=AT_ONCE) as server:
        written = corpus.read(__version__).schedule if only else await written_schedule(server.client)
        recorded += [one async for one in of_cases(server.client, only)]
    async with local_server() as server:
        recorded += [one async for one in of_tests(Bench(server), only)]
    if only:
        before = [one for one in corpus.read(__version__).executions if only not in one.source]
        recorded = [*before, *(one for one in recorded if only in one.source)]
    corpus.write(__version__, Corpus(recorded, written))
    sys.stdout.write(f"{len(recorded)} executions, {corpus.path_of(__version__).stat().st_size:,} bytes\n")


def _only() -> str:
    parser = argparse.ArgumentParser(prog="python -m tests.replay.record", description=__doc__)
    parser.add_argument("--only", metavar="WORD", default="", help="record anew only what has WORD in its source")
    only: str = parser.parse_args().only
    return only


if __name__ == "__main__":
    asked = _only()
    if subprocess.run(["git", "tag", "--list", f"v{__version__}"], capture_output=True, check=True).stdout:
        sys.exit(f"{__version__} is published, and what it has recorded stays: raise the version first")
    be_quiet()
    asyncio.run(main(asked))
