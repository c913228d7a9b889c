"""Are repeating intervals taken apart?"""

import pytest

from swf_temporal.languages.serverless_workflow.drafts.repetitions import repetition_of


@pytest.mark.parametrize(
    ("text", "taken_apart"),
    [
        (None, (None, 0)),
        ("PT15M", ("PT15M", 0)),
        ("R5/PT15M", ("PT15M", 5)),
        (" R/PT1M ", ("PT1M", None)),
        ("R0/PT1M", ("PT1M", 0)),
    ],
)
def test_repetitions(text: str | None, taken_apart: tuple[str | None, int | None]) -> None:
    """A duration alone is not repeated, and `R/` is without limit."""
    assert repetition_of(text) == taken_apart
