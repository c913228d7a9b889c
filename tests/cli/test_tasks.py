"""`swf tasks` as a process, on `swf dev`."""

import json

import pytest

from tests.cli.conftest import On
from tests.definitions import definition

pytestmark = pytest.mark.temporal

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
