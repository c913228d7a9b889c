"""What a simulation offers for Direktiv definitions: folders, variables, logs, instances, cancellation, starts."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from swf_temporal import CallFailed, UsageError, event_starts, simulate

MAIN = """
functions: [{type: subflow, id: child, workflow: child.yaml}]
states:
  - id: call
    type: action
    log: calling
    action: {function: child, input: 'jq(.n)'}
    catch: [{error: child.odd, transition: told}]
  - {id: told, type: noop, log: {caught: 'jq(.error.code)'}}
"""
CHILD = """
states:
- id: set
  type: setter
  variables:
  - {key: last, scope: namespace, value: 'jq(.input)'}
  - {key: mine, scope: workflow, value: 'jq(.input)'}
  - {key: own, value: 1}
  transition: fail
- {id: fail, type: error, error: child.odd, message: 'jq(.input) is odd'}
"""


@pytest.fixture
def namespace(tmp_path: Path) -> Path:
    """A folder with a workflow and its sub-workflow, in a folder of its own."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "main.yaml").write_text(MAIN)
    (tmp_path / "a" / "child.yaml").write_text(CHILD)
    return tmp_path


@pytest.mark.parametrize("path", ["a/main.yaml", "/a/main.yaml", "/a/main"])
def test_a_path_in_a_namespace_is_its_name(namespace: Path, path: str) -> None:
    run = simulate(path, {"n": 3}, namespace=namespace, variables={"namespace": {"last": 1, "kept": [2]}})
    assert run.output == {"n": 3, "error": {"code": "child.odd", "msg": "3 is odd"}}
    assert run.trace[0].name == "/a/main.yaml"
    assert run.variables == {
        "namespace": {"last": 3, "kept": [2]}, "workflow": {"/a/child.yaml": {"mine": 3}}, "instance": {},
    }  # fmt: skip
    assert run.logs == ("calling", {"caught": "child.odd"})
    (child,) = run.instances
    assert (child.workflow, child.status) == ("/a/child.yaml", "failed")
    assert child.error is not None
    assert (child.error.code, child.error.message) == ("child.odd", "3 is odd")


def test_a_workflow_that_is_not_there_cannot_be_caught(namespace: Path) -> None:
    (namespace / "a" / "child.yaml").unlink()
    run = simulate("a/main.yaml", {"n": 3}, namespace=namespace)
    assert run.error is not None
    assert run.error.code == "direktiv.workflow.notfound"


def test_a_workflow_that_cannot_be_read_cannot_be_caught(namespace: Path) -> None:
    """It is there, and wrong: that is told where it is called, and nothing else suffers from it."""
    (namespace / "a" / "child.yaml").write_text("states: [{id: a, type: nope}]")
    run = simulate("a/main.yaml", {"n": 3}, namespace=namespace)
    assert run.error is not None
    assert (run.error.code, run.error.state) == ("direktiv.workflow.unparsable", "call")
    assert "child.yaml" in run.error.message


@pytest.mark.parametrize("key", ["a/main.yaml", "/a/main.yaml"])
def test_variables_keep_the_names_that_they_were_given_by(namespace: Path, key: str) -> None:
    given: dict[str, Any] = {"namespace": {}, "workflow": {key: {"raw": b"\xff"}}, "instance": {"k": "v"}}
    (namespace / "a" / "main.yaml").write_text("states: [{id: a, type: noop}]")
    assert simulate("a/main.yaml", {}, namespace=namespace, variables=given).variables == given


def test_variables_are_told_of_a_run_that_failed() -> None:
    run = simulate(CHILD, 5)
    assert run.status == "failed"
    assert run.variables == {"namespace": {"last": 5}, "workflow": {"workflow": {"mine": 5}}, "instance": {"own": 1}}


def test_variables_of_other_scopes_are_refused() -> None:
    with pytest.raises(UsageError, match="no scope 'thread'"):
        simulate(CHILD, variables={"thread": {}})


@pytest.mark.parametrize(("given", "data"), [
    ({"a": 1}, {"a": 1}), ([1], {"input": [1]}), (b'{"a": 1}', {"a": 1}), (b"\xff", {"input": "/w=="}),
    (None, {"input": ""}),
])  # fmt: skip
def test_an_input_is_wrapped(given: Any, data: Any) -> None:
    """An object is the data; all else stands under `input`, and what is no JSON in base64."""
    assert simulate("states: [{id: a, type: noop}]", given).output == data


def test_a_run_can_be_cancelled() -> None:
    child = {"id": "slow", "states": [{"id": "wait", "type": "delay", "duration": "PT1H"}]}
    parent = {
        "functions": [{"type": "subflow", "id": "slow", "workflow": "slow"}],
        "states": [{"id": "call", "type": "action", "action": {"function": "slow"}}],
    }
    run = simulate(parent, {}, definitions=[child], cancel_after=timedelta(minutes=1))
    assert (run.status, run.elapsed) == ("cancelled", timedelta(minutes=1))
    assert run.error is not None
    assert (run.error.code, run.error.message) == ("direktiv.cancels.api", "cancelled by api request")
    assert [one.error and one.error.code for one in run.instances] == ["direktiv.cancels.parent"]


def test_a_run_that_ends_before_is_not_cancelled() -> None:
    assert simulate("states: [{id: a, type: noop}]", {}, cancel_after=timedelta(minutes=1)).status == "completed"


def test_generated_events_reach_those_that_wait() -> None:
    for delay, elapsed in (("immediate", timedelta()), ("PT2M", timedelta(minutes=2))):
        child = {
            "id": "teller",
            "states": [{"id": "tell", "type": "generateEvent", "delay": delay,
                        "event": {"type": "t", "source": "s", "data": 1}}],
        }  # fmt: skip
        parent = {
            "functions": [{"type": "subflow", "id": "teller", "workflow": "teller"}],
            "states": [
                {"id": "call", "type": "action", "async": True, "action": {"function": "teller"}, "transition": "wait"},
                {"id": "wait", "type": "consumeEvent", "event": {"type": "t"}, "transform": "jq(.t | {data})"},
            ],
        }
        run = simulate(parent, {}, definitions=[child])
        assert (run.output, run.elapsed) == ({"data": 1}, elapsed)


STARTED = """
start: {START}
states: [{{id: a, type: noop}}]
"""


@pytest.mark.parametrize(("start", "started"), [
    ("{type: default}", []),
    ("{type: event, event: {type: a}}", ["1"]),
    ("{type: event, event: {type: b, filters: {subject: 'x-*'}}}", ["3"]),
    ("{type: event, event: {type: b, context: {subject: 'x-*'}}}", ["3"]),
    ("{type: eventsXor, events: [{type: a}, {type: b}]}", ["1", "2", "3"]),
    ("{type: eventsAnd, correlate: [order], events: [{type: a}, {type: b}]}", ["1 3"]),
    ("{type: eventsAnd, lifespan: PT1M, events: [{type: a}, {type: b}]}", ["1 2"]),
    ("{type: eventsAnd, lifespan: PT1S, events: [{type: a}, {type: b}]}", []),
])  # fmt: skip
def test_events_start_instances(start: str, started: list[str]) -> None:
    at = "2030-01-01T00:00:{}Z"
    events = [
        {"id": "1", "type": "a", "source": "s", "order": "x", "time": at.format("00")},
        {"id": "2", "type": "b", "source": "s", "order": "y", "subject": "y-1", "time": at.format("30")},
        {"id": "3", "type": "b", "source": "s", "order": "x", "subject": "x-1", "time": at.format("59")},
    ]
    inputs: Any = event_starts(STARTED.format(START=start), events)
    assert [" ".join(one["id"] for _, one in sorted(each.items())) for each in inputs] == started
    assert all(type_.partition(".")[0] == one["type"] for each in inputs for type_, one in each.items())


def test_progress_is_plain_json() -> None:
    run = simulate(
        "states: [{id: a, type: getter, variables: [{key: uuid, scope: system}, {key: epoch, scope: system}]}]", {}
    )
    data: Any = run.output
    assert json.loads(json.dumps(data)) == data
    assert (len(data["var"]["uuid"]), data["var"]["epoch"]) == (36, 1704067200)


def test_a_function_finds_files_and_leaves_variables() -> None:
    """Variables become files in its directory, and files under `out` become variables, also where it fails."""
    text = """
functions: [{type: knative-workflow, id: f, image: x}]
states:
- id: call
  type: action
  action:
    function: f
    files:
    - {key: text, scope: namespace}
    - {key: coded, scope: workflow, as: plain.bin, type: base64}
    - {key: missing}
  catch: [{error: f.bad}]
"""
    seen: dict[str, Any] = {}

    def f(_: Any, folder: Path) -> None:
        seen.update({path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()})
        (folder / "out" / "workflow" / "n").write_text("[1]")
        (folder / "out" / "namespace" / "word").write_text("hello")
        (folder / "out" / "instance" / "raw").write_bytes(b"\xff")
        raise CallFailed("it is", code="f.bad")

    given: dict[str, Any] = {"namespace": {"text": b"abc"}, "workflow": {"workflow": {"coded": b"/w=="}}}
    run = simulate(text, {}, functions={"f": f}, variables=given)
    assert run.output == {"error": {"code": "f.bad", "msg": "it is"}}
    assert seen == {"text": b"abc", "plain.bin": b"\xff", "missing": b""}
    assert run.variables["workflow"] == {"workflow": {"coded": b"/w==", "n": [1]}}
    assert (run.variables["namespace"]["word"], run.variables["instance"]) == ("hello", {"raw": b"\xff"})


def test_a_directory_becomes_an_archive_that_can_be_a_file_again() -> None:
    text = """
functions: [{type: knative-workflow, id: pack, image: x}, {type: knative-workflow, id: unpack, image: x}]
states:
  - {id: one, type: action, action: {function: pack}, transition: two}
  - {id: two, type: action, action: {function: unpack, files: [{key: tree, as: there, type: tar.gz}]}}
"""

    def pack(_: Any, folder: Path) -> None:
        (folder / "out" / "instance" / "tree").mkdir()
        (folder / "out" / "instance" / "tree" / "leaf").write_text("green")

    def unpack(_: Any, folder: Path) -> str:
        return (folder / "there" / "leaf").read_text()

    run = simulate(text, {}, functions={"pack": pack, "unpack": unpack})
    assert run.output == {"return": "green"}
