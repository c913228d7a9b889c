"""`swf retry` and `swf rerun` as processes, on `swf dev`."""

import json

import pytest

from tests.cli.conftest import Dev, On
from tests.definitions import definition

pytestmark = pytest.mark.temporal

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


QUERY = "WorkflowId STARTS_WITH 'each-'"


def _until_found(on: On, number: int, *arguments: str) -> tuple[str, str]:
    return on.until(lambda said: f"{number} instance" in said[2], *arguments, "--dry-run")[1:]


def test_many(on: On) -> None:
    for instance in ("each-1", "each-2"):
        on("start", "later", "--id", instance)
        on("event", instance, "--name", "Paid")
        assert on("result", instance)[0] == 1
    on("start", "waiter", "--id", "each-3")
    out, err = _until_found(on, 2, "retry", "--query", QUERY)
    head, *lines = [line.split() for line in out.splitlines()]
    assert head == ["id", "definition", "status", "from", "again", "outside", "events"]
    assert sorted(lines) == [[f"each-{n}", "later", "failed", "Charge", "1", "1", "0"] for n in "12"]
    told = "2 instances to continue: later in Charge (2)\n  made again, with the same idempotency keys: 2 calls\n"
    assert err == told
    assert "stdin is not a terminal\n  give --yes" in on("retry", "--query", QUERY)[2]
    assert "exclude each other" in on("retry", "each-1", "--query", QUERY, "--yes")[2]

    before = json.loads(on("status", "each-1", "-o", "json")[1])["runId"]
    assert on("retry", "-q", QUERY, "-y")[::2] == (0, f"{told}2 instances continue\n")
    assert [on("result", instance)[0] for instance in ("each-1", "each-2")] == [1, 1]
    code, out, err = on("retry", "-q", f"RunId = '{before}'", "-y", "-o", "json")
    assert (code, json.loads(out)) == (0, [])
    assert err == "no instances to continue\n  left out, because an earlier run was found: 1 instance\n"

    wanted = ("rerun", "-q", f"{QUERY} AND ExecutionStatus != 'Terminated'", "--from", "Check", "--drop-events")
    out, err = _until_found(on, 2, *wanted, "-o", "json")
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
    on("terminate", "--query", QUERY, "--yes")
