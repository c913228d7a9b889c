"""With which number of the semantics does a run read its definition otherwise?"""

from collections.abc import Callable

import pytest

from swf_temporal.runtime import semantics
from swf_temporal.runtime.semantics import FIRST_SEMANTICS, SEMANTICS


@pytest.mark.parametrize(
    ("reads_otherwise", "since"),
    [
        (semantics.slow_is_fatal, 3),
        (semantics.reads_own_version, 4),
        (semantics.checks_formats, 5),
        (semantics.tells_in_own_words, 5),
        (semantics.tells_cancelled_subflows, 5),
        (semantics.forgives_delays, 5),
        (semantics.gives_cycles_up, 5),
        (semantics.is_compact, 5),
        (semantics.takes_turns, 6),
        (semantics.outlasts_slow_calls, 6),
        (semantics.limits_what_is_held, 6),
    ],
)
def test_a_run_reads_as_releases_of_its_number_did(reads_otherwise: Callable[[int], bool], since: int) -> None:
    """From the number on with which a reading came, and not before: histories are replayed by it."""
    numbers = range(FIRST_SEMANTICS, SEMANTICS + 2)
    assert [reads_otherwise(number) for number in numbers] == [number >= since for number in numbers]
