"""Commands that change instances, their tasks and the server, on `swf dev`."""

import json
import re
import signal
from functools import partial

import pytest

from swf_temporal.base.client_errors import InstanceEndedError
from swf_temporal.base.errors import UsageError
from swf_temporal.operations.changing import Outcome, for_each
from swf_temporal.operations.identity import user_identity
from tests.cli.conftest import Dev, On, Swf, free_port, until
from tests.definitions import definition

QUERY = "WorkflowId STARTS_WITH 'many-'"


def _until_found(on: On, verb: str, number: int) -> str:
    return on.until(lambda said: said[2].startswith(f"{number} instance"), verb, "--query", QUERY, "--dry-run")[1]


@pytest.mark.temporal
def test_many_instances(on: On) -> None:
    for n in "12":
        on("start", "waiter", "--id", f"many-{n}")
    _until_found(on, "pause", 2)
    assert on("pause", "many-1")[0] == 0
    lines = _until_found(on, "resume", 1).splitlines()
    assert [line.split()[:3] for line in lines] == [["id", "definition", "status"], ["many-1", "waiter", "paused"]]
    told = "1 instance to resume of waiter (1)\nresumed 1 instance\n"
    assert on("resume", "--query", QUERY, "--yes") == (0, "", told)
    _until_found(on, "terminate", 2)
    code, _, err = on("terminate", "--query", QUERY)
    assert (code, "stdin is not a terminal\n  give --yes" in err) == (2, True)
    told = "2 instances to terminate of waiter (2)\nterminated 2 instances\n"
    assert on("terminate", "-q", QUERY, "-y", "--reason", "ordered twice") == (0, "", told)
    assert f"the workflow was terminated: {user_identity()}: ordered twice" in on("status", "many-2")[1]


@pytest.mark.temporal
def test_who_made_a_change(on: On) -> None:
    """The status of an instance says which user cancelled it, and why; with the trace, also who started it."""
    who = user_identity()
    on("start", "waiter", "--id", "of-a-user")
    assert on("pause", "of-a-user", "--reason", "lunch")[0] == 0
    assert f" by {who}: lunch" in on("status", "of-a-user")[1]
    assert on("resume", "of-a-user")[0] == 0
    assert on("cancel", "of-a-user", "--reason", "ordered twice")[0] == 0
    on.until(lambda said: "cancelled" in said[1].splitlines()[0], "status", "of-a-user")
    assert re.search(
        rf"\n  cancellation requested at \S+ by {re.escape(who)}: ordered twice\n", on("status", "of-a-user")[1]
    )
    whole = on.json("status", "of-a-user", "--trace")["changes"]
    assert [one["what"] for one in whole] == ["started", "paused", "resumed", "cancellation requested"]
    assert {one["by"] for one in whole} == {who}


async def test_failures() -> None:
    made = []

    async def make(workflow_id: str) -> None:
        if workflow_id == "bad":
            raise UsageError("it is bad")
        if workflow_id == "over":
            raise InstanceEndedError("it is over", instance=workflow_id)
        made.append(workflow_id)

    outcome, told = Outcome(), []
    ids = ["bad", "over", *(f"good-{n}" for n in range(30))]
    await for_each(ids, make, outcome, lambda: told.append(1))
    assert (outcome.changed, outcome.ended, list(outcome.failures), len(told)) == (30, 1, ["bad"], len(ids))
    assert "good-29" in made


LATER = definition("""\
id: later
start: Check
events: [{name: Paid, type: paid, source: shop}]
functions: [{name: ask, type: http, operation: "rest:GET:http://127.0.0.1:1/"}]
states:
  - {name: Check, type: inject, data: {checked: true}, transition: Wait}
  - {name: Wait, type: event, onEvents: [{eventRefs: [Paid]}], transition: Charge}
  - {name: Charge, type: operation, actions: [{functionRef: ask}], end: true}
""")


@pytest.fixture(autouse=True)
def _later(dev: Dev) -> None:
    (dev.folder / "later.yaml").write_text(LATER)
    dev.until("serving later")


@pytest.mark.temporal
def test_shows_what_it_does_before_it_does_it(on: On) -> None:
    """It asks, and does nothing without a terminal. The instance then fails once more, as its service is away."""
    on("start", "later", "--id", "later-1")
    on("event", "later-1", "--name", "Paid")
    assert on("result", "later-1")[0] == 1
    code, out, _ = on("retry", "later-1", "--dry-run")
    lines = out.splitlines()
    assert (code, lines[0]) == (0, "later-1: later, failed")
    assert lines[1].startswith("  continues in Charge, reached at 20")
    assert lines[2:] == ["  made again, with the same idempotency keys:", "    calls ask (Charge/ask#1), failed"]
    assert "stdin is not a terminal\n  give --yes" in on("retry", "later-1")[2]

    before = json.loads(on("status", "later-1", "-o", "json")[1])["runId"]
    assert on("retry", "later-1", "--yes")[::2] == (0, "later-1 continues in Charge\n")
    assert on("result", "later-1")[0] == 1
    assert json.loads(on("status", "later-1", "-o", "json")[1])["runId"] != before

    code, out, err = on("rerun", "later-1", "--from", "Wait", "--drop-events", "-y", "-o", "json")
    assert (code, err) == (0, "later-1 continues from Wait\n")
    facts = json.loads(out)
    assert (facts["from"], facts["again"], facts["events"]) == ("Wait", ["Wait", "Charge"], 1)
    assert "in state Wait" in on("status", "later-1")[1]
    code, _, err = on("rerun", "later-1", "--from", "Wiat", "--dry-run")
    assert (code, err) == (2, "error: 'later-1' has never entered a state 'Wiat'\n  did you mean 'Wait'?\n")
    on("terminate", "later-1")


@pytest.mark.temporal
def test_with_other_data(on: On) -> None:
    on("start", "later", "--id", "later-2")
    on("event", "later-2", "--name", "Paid")
    assert on("result", "later-2")[0] == 1
    patch = '{"checked": null, "note": {"by": "ada"}}'
    code, out, _ = on("rerun", "later-2", "--from", "Wait", "--data", patch, "--dry-run")
    assert (code, out.splitlines()[2]) == (0, f"  with changed data: {patch}")
    wrong = on("rerun", "later-2", "--from", "Charge", "--action", "ask", "--data", patch, "--dry-run")
    assert "the data of the action 'ask' cannot be changed" in wrong[2]
    begun = on("rerun", "later-2", "--from", "Wait", "--data", patch, "--drop-events", "-y")
    assert begun[::2] == (0, "later-2 continues from Wait\n")
    assert "in state Wait" in on("status", "later-2")[1]
    assert "Check" not in on("logs", "later-2")[1]
    on("event", "later-2", "--name", "Paid")
    assert on("result", "later-2")[0] == 1
    code, out, _ = on("rerun", "later-2", "--from", "Check", "--dry-run")
    assert (code, out.splitlines()[2]) == (0, "  done again: Check, Wait, Charge")


OF_EACH = "WorkflowId STARTS_WITH 'each-'"


def _until_told(on: On, number: int, *arguments: str) -> tuple[str, str]:
    return on.until(lambda said: f"{number} instance" in said[2], *arguments, "--dry-run")[1:]


@pytest.mark.temporal
def test_many(on: On) -> None:
    for instance in ("each-1", "each-2"):
        on("start", "later", "--id", instance)
        on("event", instance, "--name", "Paid")
        assert on("result", instance)[0] == 1
    on("start", "waiter", "--id", "each-3")
    out, err = _until_told(on, 2, "retry", "--query", OF_EACH)
    head, *lines = [line.split() for line in out.splitlines()]
    assert head == ["id", "definition", "status", "from", "again", "outside", "events"]
    assert sorted(lines) == [[f"each-{n}", "later", "failed", "Charge", "1", "1", "0"] for n in "12"]
    told = "2 instances to continue: later in Charge (2)\n  made again, with the same idempotency keys: 2 calls\n"
    assert err == told
    assert "stdin is not a terminal\n  give --yes" in on("retry", "--query", OF_EACH)[2]
    assert "exclude each other" in on("retry", "each-1", "--query", OF_EACH, "--yes")[2]

    before = json.loads(on("status", "each-1", "-o", "json")[1])["runId"]
    assert on("retry", "-q", OF_EACH, "-y")[::2] == (0, f"{told}2 instances continue\n")
    assert [on("result", instance)[0] for instance in ("each-1", "each-2")] == [1, 1]
    code, out, err = on("retry", "-q", f"RunId = '{before}'", "-y", "-o", "json")
    assert (code, json.loads(out)) == (0, [])
    assert err == "no instances to continue\n  left out, because an earlier run was found: 1 instance\n"

    wanted = ("rerun", "-q", f"{OF_EACH} AND ExecutionStatus != 'Terminated'", "--from", "Check", "--drop-events")
    out, err = _until_told(on, 2, *wanted, "-o", "json")
    assert {(one["id"], one["from"], one["events"]) for one in json.loads(out)} == {
        (f"each-{n}", "Check", 1) for n in "12"
    }
    refused, counted, *rest = err.splitlines()
    assert refused.startswith("error: 'each-3' has never entered a state 'Check'")
    assert counted == "2 instances to continue: later from Check (2)"
    assert rest[1] == "  2 events received since: dropped"
    code, _, err = on(*wanted, "--yes")
    assert (code, err.splitlines()[-1]) == (1, "2 instances continue")
    assert "in state Wait" in on("status", "each-1")[1]
    on("terminate", "--query", OF_EACH, "--yes")


VISA = definition("""\
id: visa-task
start: Ask
functions: [{name: ask, type: expression, operation: '{}'}]
events:
  - name: Decided
    type: visa.decided
    source: desk/+
    correlation: [{contextAttributeName: visaId, contextAttributeValue: '${ .id }'}]
    metadata:
      roles: [desk]
      assignee: {attribute: visaId}
      dataSchema: {type: object, required: [granted], properties: {granted: {type: boolean}}}
  - {name: Withdrawn, type: visa.withdrawn, source: applicant}
states:
  - name: Ask
    type: callback
    action: {functionRef: {refName: ask}}
    eventRef: Decided
    eventDataFilter: {toStateData: .decision}
    timeouts: {eventTimeout: P1D}
    transition: Wait
  - name: Wait
    type: switch
    eventConditions: [{eventRef: Decided, end: true}, {eventRef: Withdrawn, end: true}]
    defaultCondition: {end: true}
""")


@pytest.mark.temporal
def test_a_task_is_listed_shown_and_completed(on: On) -> None:
    on.swf.write("visa.yaml", VISA)
    assert on("start", "visa.yaml", "--id", "visa-1", "--input", '{"id": 7}')[0] == 0
    code, out, err = on("tasks", "list", "--definition", "visa-task", "--output", "json")
    while not (tasks := json.loads(out)):  # it has yet to be listed, and to begin to wait
        code, out, err = on("tasks", "list", "--definition", "visa-task", "--output", "json")
    assert (code, err, len(tasks)) == (0, "", 1)
    [task] = tasks
    assert task.pop("since") < task.pop("until")
    assert task == {
        "instance": "visa-1", "definition": "visa-task", "state": "Ask", "kind": "callback", "event": "Decided",
        "type": "visa.decided", "roles": ["desk"], "assignee": "7",
    }  # fmt: skip
    table = on("tasks", "list", "--definition", "visa-task")[1].splitlines()
    assert table[0].split() == ["instance", "definition", "at", "event", "until", "assignee"]
    assert table[1].startswith("visa-1    visa-task   Ask  Decided  20")
    assert table[1].endswith("  7")
    for wanted, count in (("--role=desk", 1), ("--role=guests", 0), ("--assignee=7", 1), ("--waiting=P1D", 0)):
        found = json.loads(on("tasks", "list", "--definition", "visa-task", wanted, "--output", "json")[1])
        assert len(found) == count, wanted
    assert on("tasks", "list", "--waiting", "soon")[0] == 2

    shown = json.loads(on("tasks", "show", "visa-1", "--output", "json")[1])
    properties = shown["schema"]["properties"]
    assert (properties["type"], properties["visaId"]) == ({"const": "visa.decided"}, {"const": "7"})
    assert properties["source"] == {"type": "string", "pattern": "^desk/[^/]*$"}
    assert properties["data"]["required"] == ["granted"]
    assert "Ask (callback) waits for event 'Decided' until" in on("tasks", "show", "visa-1", "Decided")[1]

    code, _, err = on("tasks", "complete", "visa-1", "--data", '{"granted": "yes"}')
    assert (code, err) == (
        1,
        "error: the data does not match the schema of the event 'Decided': $.granted: 'yes' is not of type 'boolean'\n",
    )
    assert on("tasks", "complete", "visa-1", "Decide")[::2] == (
        1, "error: 'visa-1' does not wait for an event called 'Decide'\n  did you mean 'Decided'?\n"
    )  # fmt: skip
    code, out, _ = on("tasks", "complete", "visa-1", "--data", '{"granted": true}', "--output", "json")
    assert (code, json.loads(out)) == (0, {"id": "visa-1", "status": "taken"})

    code, _, err = on("tasks", "complete", "visa-1")
    assert (code, err) == (1, "error: 'visa-1' waits for 2 events\n  name one of Decided, Withdrawn\n")
    assert on("tasks", "complete", "visa-1", "Withdrawn")[0] == 0
    assert json.loads(on("result", "visa-1")[1]) == {"id": 7, "decision": {"granted": True}}
    code, _, err = on("tasks", "complete", "visa-1", "Withdrawn")
    assert (code, err) == (1, "error: 'visa-1' does not wait for an event\n  `swf status` shows its state\n")


NAMING = definition("""\
id: naming
metadata: {searchAttributes: {NAME: "${ .customer }"}}
events: [{name: Go, type: go, source: shop}]
states: [{name: Wait, type: event, onEvents: [{eventRefs: [Go]}], end: true}]
""")


@pytest.mark.temporal
def test_registers_what_is_missing(swf: Swf) -> None:
    port = free_port()
    swf.write("definitions/naming.yaml", NAMING.replace("NAME", "Customer"))
    with swf.running("dev", "definitions", "--port", str(port), "--ui-port", str(free_port())) as dev:
        dev.until("ready")
        swf.env["TEMPORAL_ADDRESS"] = f"127.0.0.1:{port}"
        refused = swf("worker", "definitions", "--task-queue", "other", "--search-attributes", "--no-wait")
        assert refused.code == 2
        assert "lacks the search attributes SwfVersion (Keyword), " in refused.err
        assert "Customer (Keyword)\n  register them with `swf setup`" in refused.err
        refused = swf("list", "--state", "Wait")
        assert (refused.code, refused.out) == (2, "")
        assert "lacks the search attribute SwfState\n  `swf setup` registers it" in refused.err
        for options, became in (("--dry-run", "is missing"), ("", "registered"), ("", "is there already")):
            ended = swf("setup", "definitions", *options.split())
            assert (ended.code, ended.err) == (0, "")
            assert ended.out.splitlines() == [
                *(f"Swf{name} (Keyword): {became}" for name in NAMES),
                f"SwfWaitsFor (KeywordList): {became}",
                f"SwfSince (Datetime): {became}",
                f"Customer (Keyword): {became}",
            ]
        assert swf("list", "--state", "Wait", "--version", "1", "--business-key", "b", "--error-code", "E").code == 0


NAMES = ("Version", "State", "BusinessKey", "ErrorName", "ErrorCode")


@pytest.mark.temporal
def test_dev_registers_what_instances_set(swf: Swf) -> None:
    port = free_port()
    swf.env["SWF_SEARCH_ATTRIBUTES"] = "1"
    swf.write("definitions/naming.yaml", NAMING.replace("NAME", "Customer"))
    with swf.running("dev", "definitions", "--port", str(port), "--ui-port", str(free_port())) as dev:
        dev.until("ready")
        swf.env["TEMPORAL_ADDRESS"] = f"127.0.0.1:{port}"
        swf.write("definitions/later.yaml", NAMING.replace("naming", "later").replace("NAME", "Team"))
        dev.until("later.yaml: serving later")
        for name, attribute in (("naming", "Customer"), ("later", "Team")):
            begun = swf("start", name, "--id", name, "--business-key", f"of {name}", "--input", '{"customer": "c"}')
            assert begun.code == 0
            listing = partial(swf, "list", "--state", "Wait", "--query", f"{attribute} = 'c'")
            assert until(listing, lambda ended: "Wait" in ended.out).out.splitlines()[0].split() == [
                "id", "definition", "status", "state", "waitsFor", "since", "started",
            ]  # fmt: skip
            [row] = json.loads(swf("list", "--state", "Wait", "--business-key", f"of {name}", "--output", "json").out)
            assert (row["id"], row["state"], row["version"]) == (name, "Wait", "1.0")
        assert dev.stop(signal.SIGTERM).code == 0
