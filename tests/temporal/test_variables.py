"""Variables are held by workflows of a real server: shared, replaced, taken away, bounded, and carried on."""

import asyncio
import json
from datetime import timedelta
from pathlib import Path

import pytest

from swf_temporal.base.errors import PayloadTooLarge
from swf_temporal.languages.loading import load
from swf_temporal.runtime.variables import Variable, VariableRef
from swf_temporal.sdk.definitions import catalogue_of
from swf_temporal.temporal.client import result
from swf_temporal.temporal.variables import MAX_BYTES, ScopeRecord, TemporalVariables, VariablesOfScope
from tests.temporal.conftest import Bench, events_of, replays

COUNTING = """
id: variables-shared
states:
- {id: get, type: getter, variables: [{key: n, scope: workflow}], transition: set}
- id: set
  type: setter
  variables: [{key: n, scope: workflow, value: 'jq((.var.n // 0) + 1)'}, {key: own, value: jq(.var.n)}]
  transition: again
- {id: again, type: getter, variables: [{key: n, scope: workflow}, {key: own}], transform: jq(.var)}
"""
OWN = """
id: variables-own
states:
- {id: before, type: getter, variables: [{key: own}], transition: set}
- {id: set, type: setter, variables: [{key: own, value: x}], transition: rest}
- {id: rest, type: delay, duration: PT1S, transition: get}
- {id: get, type: getter, variables: [{key: again, scope: instance}, {key: own}]}
"""
FULL = """
id: variables-full
states:
- id: set
  type: setter
  variables: [{key: k, scope: workflow, value: jq(.text * .n)}]
  catch: [{error: '*'}]
"""
READER = "id: variables-full\nstates: [{id: get, type: getter, variables: [{key: k, scope: workflow}]}]"


async def test_instances_share_what_they_store(bench: Bench) -> None:
    """The second instance finds what the first one wrote; each has its own beside it. The holder's history replays."""
    async with bench.worker(load(COUNTING)) as running:
        assert await running.run({}) == {"n": 1, "own": None}
        assert await running.run({}) == {"n": 2, "own": 1}
    handle = bench.handle("variables:workflow:variables-shared")
    history = await handle.fetch_history()
    assert await replays(history) is None


async def test_those_of_an_instance_go_with_it(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not before it has ended, however long it writes nothing; and another instance with its id has its own."""
    monkeypatch.setattr("swf_temporal.temporal.variables.CHECK_INTERVAL", timedelta(seconds=0.2))
    async with bench.worker(load(OWN)) as running:
        for _ in range(2):
            handle = await running.start({}, workflow_id="variables-own-1")
            output = await handle.result()
            assert output["var"] == {"again": None, "own": "x"}
            first = (await handle.describe()).run_id
            holder = bench.handle(f"variables:instance:variables-own-1/{first}")
            await asyncio.wait_for(holder.result(), 30)
            completed = [event.activity_task_completed_event_attributes for event in await events_of(holder)]
            looked = [b"".join(one.data for one in each.result.payloads) for each in completed if each.result.payloads]
            assert (looked[0], looked[-1]) == (b"false", b"true")


async def test_what_is_too_much_fails_for_good(bench: Bench) -> None:
    """No state can catch that a scope is full, and what it held stays."""
    async with bench.worker(load(FULL)) as running:
        await running.run({"text": "x", "n": 5})
        failure = await running.failure({"text": "x" * 1024, "n": MAX_BYTES // 1024 + 1})
        assert failure.name == "PayloadTooLarge"
        running.definitions = [load(READER)]
        assert await running.run({}) == {"var": {"k": "xxxxx"}}


async def test_a_write_that_is_repeated_changes_nothing(bench: Bench) -> None:
    """All its values are written together, and once, also where the scope has continued as new since."""
    none = load({"id": "variables-repeated", "states": [{"id": "rest", "type": "noop"}]})
    async with bench.worker(none) as running:
        store = TemporalVariables(bench.client, running.queue)
        first, second = VariableRef("workflow", "repeated", "first"), VariableRef("workflow", "repeated", "second")
        seen_before = ScopeRecord(seen=["before"]).to_json()
        await bench.client.start_workflow(
            VariablesOfScope.run, seen_before, id="variables:workflow:repeated", task_queue=running.queue
        )
        await store.write_variables({first: Variable(b"0")}, "before")
        assert await store.read_variable(first) is None

        await store.write_variables({first: Variable(b"1"), second: Variable(b"1")}, "a")
        await store.write_variables({second: Variable(b"2")}, "b")
        await store.write_variables({first: Variable(b"3"), second: Variable(b"3")}, "a")
        assert [await store.read_variable(one) for one in (first, second)] == [Variable(b"1"), Variable(b"2")]

        with pytest.raises(PayloadTooLarge):
            await store.write_variables({first: Variable(b"x" * (MAX_BYTES + 1))}, "c")
        await store.write_variables({first: None}, "d")
        assert await store.read_variable(first) is None


PARENT = """
id: thread-parent
functions: [{id: child, type: subflow, workflow: thread-child}]
states:
- {id: before, type: getter, variables: [{key: shared, scope: thread}], transition: set}
- id: set
  type: setter
  variables: [{key: shared, scope: thread, value: 'jq({was: .var.shared})'}]
  transition: call
- {id: call, type: action, action: {function: child}, transition: get}
- {id: get, type: getter, variables: [{key: shared, scope: thread}], transform: jq(.var)}
"""
CHILD = """
id: thread-child
states:
- {id: get, type: getter, variables: [{key: shared, scope: thread}], transition: set}
- {id: set, type: setter, variables: [{key: shared, scope: thread, value: 'jq({child: .var.shared})'}]}
"""


async def test_a_thread_is_shared_downwards(bench: Bench) -> None:
    """The subflow finds what its caller stored, and replaces it for both; another instance has another thread."""
    async with bench.worker(load(PARENT), load(CHILD)) as running:
        for _ in range(2):
            assert await running.run({}) == {"shared": {"child": {"was": None}}}


async def test_a_worker_reads_files_of_its_own_folders_alone(bench: Bench, tmp_path: Path) -> None:
    """A run whose definition came from elsewhere reads there, too; hidden files and those outside are not there."""
    folder = tmp_path / "definitions"
    (folder / "a").mkdir(parents=True)
    (tmp_path / "secret.json").write_text("1")
    (folder / ".hidden.json").write_text("2")
    (folder / "a" / "prices.json").write_text('{"tea": 3}')
    variables = [
        {"key": "./prices.json", "scope": "file", "as": "prices"},
        {"key": "/.hidden.json", "scope": "file", "as": "hidden"},
        {"key": "/../secret.json", "scope": "file", "as": "outside"},
    ]
    text = {"states": [{"id": "get", "type": "getter", "variables": variables, "transform": "jq(.var)"}]}
    (folder / "a" / "reading.yaml").write_text(json.dumps(text))
    elsewhere = load({"id": "/a/elsewhere.yaml", **text})
    async with bench.worker(*catalogue_of([folder])) as running:
        expected = {"prices": {"tea": 3}, "hidden": None, "outside": None}
        assert await running.run({}) == expected
        running.definitions.append(elsewhere)
        assert await result(await running.start({}, definition=1)) == expected


def test_references_and_values_travel_as_json() -> None:
    of, value = VariableRef("namespace", "", "k"), Variable(b"\xff", "image/png")
    assert of.to_json() == {"scope": "namespace", "owner": "", "key": "k"}
    assert VariableRef.from_json(of.to_json()) == of
    assert value.to_json() == {"content": "/w==", "mimeType": "image/png"}
    assert Variable.from_json(value.to_json()) == value
