"""What is written of drafts: comments and order stay, and what cannot be expressed is told with its line."""

import pytest

from swf_temporal.languages.known import upgrade
from swf_temporal.languages.loading import check
from swf_temporal.text.origin import Source

ACTIONS = "since 0.5 branches and iterations run actions"
MAY = """\
id: orders   # the id
name: Orders
version: "1.0"
functions:
  - {name: ship, resource: shop.json#ship}   # by OpenAPI
tasks:
  # First all are shipped.
  - name: Ship
    type: operation
    start: {kind: default}
    actions:
      - functionRef:
          refName: ship
          parameters:
            id: $.order.id      # of the order
    transition: {nextTask: Wait}
  # Then we wait.
  - name: Wait
    type: delay
    timeDelay: PT1M   # long enough
    end: {kind: default}
"""
MAY_NOW = """\
id: orders   # the id
name: Orders
version: "1.0"
specVersion: '0.8'
start: Ship
functions:
  - {name: ship, operation: shop.json#ship}  # by OpenAPI
states:
  # First all are shipped.
  - name: Ship
    type: operation
    actions:
      - functionRef:
          refName: ship
          arguments:
            id: ${ .order?.id? } # of the order
    transition: Wait
  # Then we wait.
  - name: Wait
    type: sleep
    duration: PT1M    # long enough
    end: true
"""


def test_comments_of_a_draft_are_kept() -> None:
    assert upgrade(Source(MAY, "a.yaml")).text == MAY_NOW
    assert [problem.code for problem in check(MAY_NOW).problems] == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            """\
tasks:
- name: A
  type: operation
  start: {kind: scheduled, schedule: {interval: PT1H}}
  actions: []
  end: {kind: default}
""",
            (3, "task 'A' starts only within 'PT1H': since 0.5 a schedule creates instances"),
        ),
        (
            """\
tasks:
- name: A
  type: parallel
  start: {kind: default}
  branches:
  - name: B
    tasks:
    - {name: C, type: switch, start: {kind: default}}
  end: {kind: default}
""",
            (9, f"branch 'B' of task 'A': task 'C' is of the type 'switch': {ACTIONS}"),
        ),
        (
            """\
startsAt: A
states:
- name: A
  type: PARALLEL
  end: true
  branches: [{name: B, startsAt: C, states: [{name: C, type: DELAY, timeDelay: PT1S}]}]
""",
            (7, "branch 'B' of state 'A' is not awaited: since 0.5 a parallel state waits for its branches"),
        ),
    ],
)
def test_what_drafts_cannot_say_is_told_with_its_line(text: str, told: tuple[int, str]) -> None:
    result = upgrade(Source(f"id: a\n{text}"))
    assert [(change.line, change.message) for change in result.changes if change.kind == "inexpressible"] == [told]
