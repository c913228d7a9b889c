"""What is told of definitions in the draft of May 2020, and what only this draft has."""

from swf_temporal.languages.loading import load
from tests.languages.serverless_workflow.outlining.described import describe

SHOP = """
id: shop
name: Shop
version: "1.0"
functions: [{name: work, resource: work}]
tasks:
  - name: Work
    type: operation
    start: {kind: scheduled, schedule: {interval: 2020-03-20T09:00:00Z/PT6H}}
    actions: [{functionRef: {refName: work}, timeout: PT2M}]
    retry:
      - {expression: "name eq 'Busy'", interval: PT1M, multiplier: PT2M, maxAttempts: 3}
      - {expression: "name eq 'Late'"}
      - {expression: "name eq 'Broken'", maxAttempts: 0}
    transition: {nextTask: Each, expression: "$.user.title eq 'MANAGER'"}
  - name: Each
    type: foreach
    inputCollection: $.list
    inputParameter: $.one
    max: 2
    timeDelay: PT1S
    tasks: [{name: Do, type: delay, start: {kind: default}, timeDelay: PT1M, end: {kind: terminate}}]
    end: {kind: default}
"""


def test_what_only_this_draft_has_is_told() -> None:
    """When a start is active, how a task is tried again, what a transition asks for, and pauses between iterations."""
    lines = describe(load(SHOP)).text().splitlines()
    assert "  starts in Work, in 2020-03-20T09:00:00Z/PT6H only" in lines
    start = lines.index("  Work: operation")
    assert lines[start + 1 : start + 11] == [
        "    calls work, for PT2M at most",
        "    again 3 times at most if name eq 'Busy', after PT1M and PT2M more each time",
        "    again 1 time at most if name eq 'Late'", "    never again if name eq 'Broken'",
        "    → Each, only if $.user.title eq 'MANAGER'", "  Each: foreach",
        "    each of $.list as $.one, parallel, 2 at once, PT1S apart", "    Do: delay", "      waits PT1M",
        "      → the end of all paths",
    ]  # fmt: skip
