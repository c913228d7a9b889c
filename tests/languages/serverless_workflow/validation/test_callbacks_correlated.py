"""What answers a callback state is known to be the answer."""

from collections.abc import Callable

import pytest

DOCUMENT = """\
id: a
specVersion: "0.8"
functions: [{{name: f, type: custom}}]
events: [{{name: E, type: e{correlation}}}]
states:
- {{name: A, type: callback, action: {{functionRef: f}}, eventRef: {event}, end: true}}
"""


@pytest.mark.parametrize(
    ("event", "correlation", "expected"),
    [
        ("E", "", ["6:65 warning state 'A' takes any event 'E' for its answer: that has no correlation"]),
        ("E", ", correlation: [{contextAttributeName: order}]", []),
        ("F", "", []),
    ],
)
def test_callbacks(found: Callable[[str, str], list[str]], event: str, correlation: str, expected: list[str]) -> None:
    """Only an event that is defined, and has no correlation, is told of."""
    told = found("correlation", DOCUMENT.format(event=event, correlation=correlation))
    assert [one.partition(" | ")[0] for one in told] == expected
