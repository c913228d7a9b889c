"""`swf pause`, `resume`, `cancel` and `terminate` with `--query` as processes, on `swf dev`."""

import re

import pytest

from swf_temporal.base.client_errors import InstanceEndedError
from swf_temporal.base.errors import UsageError
from swf_temporal.operations.changing import Outcome, for_each
from swf_temporal.operations.identity import user_identity
from tests.cli.conftest import On

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
