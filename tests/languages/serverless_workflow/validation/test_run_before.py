"""What runs before a workflow times out stands apart, and ends."""

from collections.abc import Callable

import pytest

CASES: dict[str, tuple[str, list[str]]] = {
    "part of the control flow": (
        """
id: a
specVersion: "0.8"
timeouts:
  workflowExecTimeout: {duration: PT1H, runBefore: B}
states:
- {name: A, type: inject, data: {}, transition: B}
- {name: B, type: inject, data: {}, end: true}
""",
        [
            ("4:52 error state 'B' runs before the workflow times out and cannot be part of the control flow as well"),
        ],
    ),
    "back into the control flow": (
        """
id: a
specVersion: "0.8"
timeouts:
  workflowExecTimeout: {duration: PT1H, runBefore: B}
states:
- {name: A, type: inject, data: {}, end: true}
- {name: B, type: inject, data: {}, transition: A}
""",
        [
            ("7:49 error state 'B' runs before the workflow times out, and from it the control flow is entered again"),
        ],
    ),
    "without an end": (
        """
id: a
specVersion: "0.8"
timeouts:
  workflowExecTimeout: {duration: PT1H, runBefore: B}
states:
- {name: A, type: inject, data: {}, end: true}
- {name: B, type: inject, data: {}, transition: B}
""",
        [
            "4:52 error state 'B' runs before the workflow times out and never comes to an end",
        ],
    ),
    "used for compensation": (
        """
id: a
specVersion: "0.8"
timeouts:
  workflowExecTimeout: {duration: PT1H, runBefore: B}
states:
- {name: A, type: inject, data: {}, end: true, compensatedBy: B}
- {name: B, type: inject, data: {}, usedForCompensation: true}
""",
        [
            "4:52 error state 'B' runs before the workflow times out, but 'B' is used for compensation",
        ],
    ),
    "as it should be": (
        """
id: a
specVersion: "0.8"
timeouts:
  workflowExecTimeout: {duration: PT1H, runBefore: B}
states:
- {name: A, type: inject, data: {}, end: true}
- {name: B, type: inject, data: {}, end: true}
""",
        [],
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_run_before(found: Callable[[str, str], list[str]], text: str, expected: list[str]) -> None:
    """What runs before a workflow times out stands apart, and ends."""
    assert found("run-before", text.lstrip()) == expected
