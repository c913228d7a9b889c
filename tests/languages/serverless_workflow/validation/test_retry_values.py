"""Retries count and wait sensibly."""

from collections.abc import Callable

import pytest

CASES: dict[str, tuple[str, list[str]]] = {
    "attempts": (
        """
id: a
specVersion: "0.8"
retries:
- {name: r, maxAttempts: -1}
- {name: s, maxAttempts: some}
- {name: t, maxAttempts: "1.5"}
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [
            "4:26 error retry 'r': maxAttempts -1 is not a number of attempts",
            "5:26 error retry 's': maxAttempts 'some' is not a number of attempts",
            "6:26 error retry 't': maxAttempts '1.5' is not a number of attempts",
        ],
    ),
    "multipliers": (
        """
id: a
specVersion: "0.8"
retries:
- {name: r, multiplier: -2}
- {name: s, multiplier: twice}
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [
            "4:25 error retry 'r': multiplier -2.0 is not a positive number",
            "5:25 error retry 's': multiplier 'twice' is not a positive number",
        ],
    ),
    "jitter": (
        """
id: a
specVersion: "0.8"
retries:
- {name: r, jitter: 1.5}
- {name: s, jitter: some}
- {name: t, jitter: -0.1}
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [
            "4:21 error retry 'r': jitter 1.5 is neither a fraction from 0 to 1 nor a duration",
            "5:21 error retry 's': jitter 'some' is neither a fraction from 0 to 1 nor a duration",
            "6:21 error retry 't': jitter -0.1 is neither a fraction from 0 to 1 nor a duration",
        ],
    ),
    "sensible ones": (
        """
id: a
specVersion: "0.8"
retries:
- {name: r, maxAttempts: 0, multiplier: "1.5", jitter: PT1S}
- {name: s, maxAttempts: "${ $CONST.n }", multiplier: 2, jitter: 0.5}
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [],
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_retry_values(found: Callable[[str, str], list[str]], text: str, expected: list[str]) -> None:
    """Retries count and wait sensibly."""
    assert found("retry", text.lstrip()) == expected
