"""The commands about instances, as processes, on `swf dev`."""

import json
import re

import pytest
from temporalio.client import Client

from tests.cli.conftest import PATIENCE, Dev, On, Swf, free_port, until
from tests.definitions import definition

pytestmark = pytest.mark.temporal


PATIENT = definition("""\
id: patient
functions: [{name: ask, type: http, operation: "rest:GET:http://127.0.0.1:PORT/"}]
retries: [{name: tomorrow, delay: P1D, maxAttempts: 5}]
states:
  - name: Both
    type: parallel
    branches:
      - {name: north, actions: [{name: ask the shop, functionRef: ask, retryRef: tomorrow}]}
      - {name: south, actions: [{name: wait, subFlowRef: waiter}]}
    end: true
""")

GATHERING = definition("""\
id: gathering
start: Start
events: [{name: Ours, type: com.ours, source: shop, correlation: [{contextAttributeName: order}]}]
states:
  - {name: Start, type: sleep, duration: PT1S, transition: Wait}
  - {name: Wait, type: event, onEvents: [{eventRefs: [Ours]}], end: true}
""")


def test_life_of_an_instance(on: On) -> None:
    assert on("start", "waiter", "--id", "w-1")[:2] == (0, "w-1\n")
    _, out, _ = on("status", "w-1")
    assert out.startswith("w-1: waiter, running\n  in state Wait\n  Wait waits for event 'Paid up' of type 'com.paid'")
    assert on("event", "w-1", "--name", "Paid up", "--data", '{"a": 1}')[0] == 0
    assert on("result", "w-1")[:2] == (0, '{"a": 1}\n')
    code, out, _ = on("status", "w-1", "--output", "json", "--trace")
    facts = json.loads(out)
    assert (code, facts["status"], facts["definition"]) == (0, "completed", "waiter")
    assert [entry["name"] for entry in facts["trace"] if entry["kind"] == "event-taken"] == ["Paid up"]
    code, out, err = on("graph", "--instance", "w-1")
    assert (code, err) == (0, "")
    assert 'data-path="Wait" class="part wait done"' in out


def test_a_workflow_is_started_by_its_path(on: On, dev: Dev) -> None:
    (dev.folder / "greet.yaml").write_text("states: [{id: greet, type: noop, transform: 'jq({hello: .name})'}]\n")
    dev.until("greet.yaml: serving /greet.yaml")
    assert on("start", "/greet.yaml", "--id", "g-1", "--input", '{"name": "Ada"}')[:2] == (0, "g-1\n")
    assert on("result", "g-1")[:2] == (0, '{"hello": "Ada"}\n')
    missing = str(dev.folder / "gret.yaml")
    assert on("start", missing)[::2] == (2, f"error: {missing} cannot be read: No such file or directory\n")


def test_status_tells_what_is_under_way(on: On) -> None:
    on.swf.write("patient.yaml", PATIENT.replace("PORT", str(free_port())))
    on("start", "patient.yaml", "--id", "p-1")
    shown = on.until(lambda said: "after GET" in said.out, "status", "p-1").out
    assert re.search(r"calls ask \(Both/north/ask the shop#1\), attempt 2 at [0-9T:+-]+, after GET .*refused", shown)
    assert re.search("^  runs p-1/[0-9a-f]{12}/Both/south/wait#1$", shown, re.MULTILINE)
    facts = json.loads(on("status", "p-1", "--output", "json")[1])
    assert [(call["function"], call["attempt"]) for call in facts["calls"]] == [("ask", 2)]
    drawn = on("graph", "--instance", "p-1")[1]
    assert re.search(r'data-path="Both/north" class="part sides branch running".*refused', drawn)
    on("cancel", "p-1")


def test_whole_events(on: On) -> None:
    on("start", "waiter", "--id", "w-2")
    code, _, err = on("event", "w-2", "com.paid", "--source", "shop", "--data", '{"b": 2}', "--attribute", "subject=x")
    assert (code, err) == (0, "w-2 took an event of type 'com.paid'\n")
    assert on("result", "w-2")[1] == '{"b": 2}\n'
    on("start", "waiter", "--id", "w-3")
    on.swf.write("paid.json", '{"type": "com.paid", "source": "shop", "data": {"c": 3}}')
    assert on("event", "w-3", "--file", "paid.json")[0] == 0
    assert on("result", "w-3")[1] == '{"c": 3}\n'


def test_start_from_a_file(on: On) -> None:
    states = "states: [{name: Mine, type: inject, data: {mine: true}, end: true}]"
    on.swf.write("mine.yaml", definition(f"id: hello\n{states}", "9.0"))
    code, out, _ = on("start", "mine.yaml", "--wait", "--output", "json")
    assert (code, json.loads(out)["output"]) == (0, {"mine": True})


async def test_start_with_a_priority(on: On, dev: Dev) -> None:
    options = ["--priority", "2", "--fairness-key", "tenant-7", "--fairness-weight", "2.5"]
    assert on("start", "waiter", "--id", "early-1", *options)[0] == 0
    client = await Client.connect(dev.address)
    found = await client.get_workflow_handle("early-1").describe()
    told = found.raw_description.workflow_execution_info.priority
    assert (told.priority_key, told.fairness_key, told.fairness_weight) == (2, "tenant-7", 2.5)
    on("terminate", "early-1")


def test_start_with_a_business_key(on: On) -> None:
    assert on("start", "waiter", "--id", "keyed-1", "--business-key", "A-17")[0] == 0
    assert json.loads(on("status", "keyed-1", "--output", "json")[1])["businessKey"] == "A-17"
    assert "  business key: A-17" in on("status", "keyed-1")[1].splitlines()
    on("terminate", "keyed-1")
    code, _, err = on("start", "waiter", "--business-key", " ")
    assert code == 2
    assert "Invalid value for '--business-key': it is empty" in err


def test_start_with_events(on: On) -> None:
    on.swf.write("paid.json", '{"type": "com.paid", "source": "shop", "data": {"d": 4}}')
    assert on("start", "waiter", "--event", "paid.json", "--wait")[:2] == (0, '{"d": 4}\n')


def test_functions_of_the_server(on: On) -> None:
    assert on("start", "caller", "--input", '{"n": 2}', "--wait")[1] == '{"n": 2, "doubled": 4}\n'
    code, _, err = on("start", "caller", "--id", "failed-0", "--input", '{"n": "x"}', "--wait")
    assert code == 1
    assert "that is no number" in err
    assert "failed-0" in err.splitlines()  # the id by which one looks at it, although it failed at once


def test_status_tells_why_an_instance_failed(on: On) -> None:
    on("start", "caller", "--id", "failed-1", "--input", '{"n": "x"}', "--wait")
    _, out, _ = on("status", "failed-1")
    assert out.startswith("failed-1: caller, failed\n  workflow 'caller' failed in state 'Work'\n")
    assert "that is no number" in out
    assert "that is no number" in json.loads(on("status", "failed-1", "--output", "json")[1])["reason"]


def test_unknown_definition(on: On, dev: Dev) -> None:
    """An id that no worker knows leaves no instance behind, unless that is asked for: another worker may know it."""
    code, _, err = on("start", "helo", "--id", "helo 0")
    assert (code, "did you mean 'hello'?" in err, "with --keep" in err) == (2, True, True)
    assert "helo 0: helo, terminated\n" in on("status", "helo 0")[1]
    assert "swf terminate 'helo 1'\n" in on("start", "helo", "--id", "helo 1", "--keep")[2]
    on("terminate", "helo 1")
    code, _, err = on("start", "helo", "--wait", "--keep")
    assert code == 2
    assert "and another may: no definition 'helo' is known here; did you mean 'hello'?" in err
    assert "to stop it: swf terminate helo-" in err
    workflow_id = err.partition("swf terminate ")[2].split()[0]
    assert "it does not continue: a worker of the task queue" in on("status", workflow_id)[1]
    on("terminate", workflow_id)
    dev.until("helo 0")
    assert "Failing workflow task" not in dev.log.read_text()  # the core says it again, without a reason


def test_no_worker(on: On) -> None:
    code, out, err = on("start", "hello", "--id", "lonely", "--task-queue", "nobody")
    assert (code, out) == (0, "lonely\n")
    assert "is one serving the task queue 'nobody'?" in err
    assert on("cancel", "lonely")[0] == 0


def test_cancel(on: On) -> None:
    on("start", "waiter", "--id", "w-4")
    assert on("cancel", "w-4") == (0, "", "requested cancellation of w-4\n")
    assert on("result", "w-4") == (1, "", "error: the workflow was cancelled\n")
    code, _, err = on("cancel", "w-4")
    assert (code, "the instance 'w-4' has ended already" in err) == (2, True)


def test_list(on: On) -> None:
    on("start", "waiter", "--id", "listed")
    waiting = ["list", "--status", "running", "--definition", "waiter"]
    found = until(lambda: on.json(*waiting), lambda rows: any(row["id"] == "listed" for row in rows))
    assert {(row["status"], row["definition"]) for row in found} == {("running", "waiter")}
    on("start", "waiter", "--id", "listed-2")
    _, out, more = on.until(lambda said: bool(said.err), *waiting, "--limit", "1")
    assert len(out.splitlines()) == 2
    assert re.fullmatch(r"\d+ more: --limit \d+ shows all\n", more)
    on("cancel", "listed")
    on("cancel", "listed-2")


def test_list_without_what_is_ours(on: On) -> None:
    """Workflows that hold events and variables are no instances: they are listed only if that is asked for."""
    on.swf.write("gathering.yaml", GATHERING)
    ours = '{"id": "1", "type": "com.ours", "source": "shop", "order": "7"}'
    assert on("events", "send", "gathering.yaml", ours).code == 0
    rows = on.until(lambda said: "swf events" in said.out, "list", "--all", "--limit", "200", "-o", "json").out
    assert "swf events" not in on("list", "--limit", "200", "-o", "json").out
    for row in json.loads(rows):
        if row["definition"] == "swf events":
            on("terminate", row["id"])


def test_list_by_a_filter(on: On) -> None:
    on("start", "hello", "-w", "found-1", "--wait")
    found = until(lambda: on.json("list", "--query", "WorkflowId = 'found-1'"))
    assert [row["id"] for row in found] == ["found-1"]
    either = ["--query", "WorkflowId = 'found-1' OR WorkflowId = 'x'", "--status", "failed"]
    assert on("list", *either, "-o", "yaml").out == "[]\n"
    code, out, err = on("list", "--query", "WorkflowId ~ 1")
    assert (code, out) == (2, "")
    assert err.startswith("error: the server refuses: ")


def test_terminate(on: On) -> None:
    on("start", "waiter", "-w", "t-1")
    assert on("terminate", "t-1", "--reason", "ordered twice") == (0, "", "terminated t-1\n")
    assert "ordered twice" in on("status", "-w", "t-1")[1]
    assert on("terminate", "t-1")[0] == 2


def test_logs(on: On) -> None:
    on("start", "waiter", "-w", "l-1")
    with on.swf.running("logs", "l-1", "--follow", "--address", on.env["TEMPORAL_ADDRESS"], stream="stdout") as logs:
        assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d  Wait\n", logs.until("Wait"))
        on("event", "l-1", "--name", "Paid up")
        logs.until("← event Paid up")
        assert logs.process.wait(PATIENCE) == 0
    code, out, err = on("logs", "l-1")
    assert (code, err) == (0, "l-1: completed\n")
    entries = [json.loads(line) for line in on("logs", "-w", "l-1", "-o", "json")[1].splitlines()]
    assert (entries[0]["kind"], entries[-1]["kind"]) == ("workflow-started", "workflow-completed")
    (event_id,) = (entry["detail"]["id"] for entry in entries if entry["kind"] == "event-taken")
    assert [line.partition("  ")[2] for line in out.splitlines()] == ["Wait", f"  ← event Paid up {event_id}"]


@pytest.mark.parametrize(("arguments", "told"), [
    (["status", "nobody"], "there is no instance 'nobody'"),
    (["result", "nobody"], "there is no instance 'nobody'"),
    (["cancel", "nobody"], "there is no instance 'nobody'"),
    (["event", "nobody", "com.paid"], "there is no instance 'nobody'"),
    (["list", "--namespace", "elsewhere"], "has no namespace 'elsewhere'"),
    (["start", "waiter", "--namespace", "elsewhere"], "has no namespace 'elsewhere'"),
    (["worker", "--namespace", "elsewhere"], "has no namespace 'elsewhere'"),
    (["event", "nobody"], "give one of TYPE, --name and --file"),
    (["event", "nobody", "a", "--name", "b"], "TYPE, --name and --file exclude each other"),
    (["event", "nobody", "--file", "none.json"], "there is no event: the list is empty"),
    (["events", "send", "waiter.yaml", "[]"], "there is no event: the list is empty"),
    (["event", "nobody", "--name", "b", "--source", "c"], "need the TYPE of an event"),
    (["event", "nobody", "a", "--attribute", "b"], "write name=value"),
    (["event", "nobody", "a", "--data", "b"], "--data is not JSON"),
    (["start", "nowhere.yaml"], "nowhere.yaml cannot be read"),
    (["terminate", "nobody"], "there is no instance 'nobody'"),
    (["logs", "nobody"], "there is no instance 'nobody'"),
    (["logs", "nobody", "-w", "somebody"], "two instances are given: 'nobody' and 'somebody'"),
])  # fmt: skip
def test_mistakes(on: On, arguments: list[str], told: str) -> None:
    on.swf.write("none.json", "[]")
    code, out, err = on(*arguments)
    assert (code, out) == (2, "")
    assert told in err


def test_running_already(on: On) -> None:
    on("start", "waiter", "--id", "once")
    code, _, err = on("start", "waiter", "--id", "once")
    assert code == 2
    assert "an instance 'once' is running already" in err
    on("cancel", "once")


@pytest.mark.parametrize("command", [["list"], ["start", "hello"]])
def test_no_server(swf: Swf, command: list[str]) -> None:
    assert "no Temporal server answers" in swf.refused(*command, "--address", f"127.0.0.1:{free_port()}")
