"""`swf retry` and `swf rerun` as processes, on `swf dev`."""

import json

import pytest

from tests.cli.conftest import Dev, Swf
from tests.cli.test_tasks import On

pytestmark = pytest.mark.temporal

LATER = """\
id: later
specVersion: "0.8"
version: "1.0"
start: Check
events: [{name: Paid, type: paid, source: shop}]
functions: [{name: ask, type: http, operation: "rest:GET:http://127.0.0.1:1/"}]
states:
  - {name: Check, type: inject, data: {checked: true}, transition: Wait}
  - {name: Wait, type: event, onEvents: [{eventRefs: [Paid]}], transition: Charge}
  - {name: Charge, type: operation, actions: [{functionRef: ask}], end: true}
"""


@pytest.fixture
def on(swf: Swf, dev: Dev) -> On:
    """Return the command, told of the server, whose worker serves the definition."""
    (dev.folder / "later.yaml").write_text(LATER)
    return On(swf, dev)


def test_shows_what_it_does_before_it_does_it(on: On, dev: Dev) -> None:
    """It asks, and does nothing without a terminal. The instance then fails once more, as its service is away."""
    dev.until("serving later")
    on("start", "later", "--id", "later-1")
    on("event", "later-1", "--name", "Paid")
    assert on("result", "later-1")[0] == 1
    code, out, _ = on("retry", "later-1", "--dry-run")
    lines = out.splitlines()
    assert (code, lines[0]) == (0, "later-1: later, failed")
    assert lines[1].startswith("  goes on from Charge, where it came at 20")
    assert lines[2:] == [
        "  done again: Charge",
        "  was done outside since, and is not undone:",
        "    calls ask (Charge/ask#1), failed",
    ]
    assert "stdin is no terminal\n  give --yes" in on("retry", "later-1")[2]

    before = json.loads(on("status", "later-1", "-o", "json")[1])["runId"]
    assert on("retry", "later-1", "--yes")[::2] == (0, "later-1 goes on from Charge\n")
    assert on("result", "later-1")[0] == 1
    assert json.loads(on("status", "later-1", "-o", "json")[1])["runId"] != before

    code, out, err = on("rerun", "later-1", "--from", "Wait", "--drop-events", "-y", "-o", "json")
    assert (code, err) == (0, "later-1 goes on from Wait\n")
    facts = json.loads(out)
    assert (facts["from"], facts["again"], facts["events"]) == ("Wait", ["Wait", "Charge"], 1)
    assert "in state Wait" in on("status", "later-1")[1]
    code, _, err = on("rerun", "later-1", "--from", "Wiat", "--dry-run")
    assert (code, err) == (2, "error: 'later-1' has never entered a state 'Wiat'\n  did you mean 'Wait'?\n")
    on("terminate", "later-1")
