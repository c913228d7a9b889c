"""What leads to a state names one that is there."""

from collections.abc import Callable

import pytest

CASES: dict[str, tuple[str, list[str]]] = {
    "a transition": (
        """
id: a
specVersion: "0.8"
states:
- {name: Check stock, type: inject, data: {}, transition: Shp order}
- {name: Ship order, type: inject, data: {}, end: true}
""",
        [
            (
                "4:59 error state 'Check stock' leads to 'Shp order', which is not a state here | did you "
                "mean 'Ship order'?"
            ),
        ],
    ),
    "start, compensation and timeout": (
        """
id: a
specVersion: "0.8"
start: X
timeouts: {workflowExecTimeout: {duration: PT1H, runBefore: W}}
states:
- {name: A, type: inject, data: {}, compensatedBy: Y, end: true}
""",
        [
            "3:8 error the workflow starts in 'X', which is not a state here",
            "4:61 error the workflow's timeout first runs 'W', which is not a state here",
            "6:52 error state 'A' is compensated by 'Y', which is not a state here",
        ],
    ),
    "a condition, a default and an error": (
        """
id: a
specVersion: "0.8"
states:
- name: A
  type: switch
  dataConditions: [{name: c, condition: .a, transition: X}]
  defaultCondition: {transition: Y}
  onErrors: [{errorRef: "*", transition: V}]
""",
        [
            "6:57 error condition 'c' of state 'A' leads to 'X', which is not a state here",
            "7:34 error state 'A' leads to 'Y', which is not a state here",
            "8:42 error state 'A' leads to 'V', which is not a state here",
        ],
    ),
    "by id": (
        """
id: a
specVersion: "0.8"
states:
- {id: first, name: A, type: inject, data: {}, transition: second}
- {id: second, name: B, type: inject, data: {}, end: true}
""",
        [],
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_targets_exist(found: Callable[[str, str], list[str]], text: str, expected: list[str]) -> None:
    """What leads to a state names one that is there."""
    assert found("transition-target", text.lstrip()) == expected
