"""Expressions that take a given time: of the processor, and on the machine that asks."""

from functools import cache
from typing import Final

from swf_temporal.base.accounting import current_account
from swf_temporal.expressions.guarding.guard import guard

SLOW: Final = "[range({})] | length"
"""An expression of jq that takes as long as its number is large."""
_SAMPLE: Final = 300_000


def counting(seconds: float) -> tuple[str, int]:
    """Return an expression that takes so many seconds of processor time, and what it yields."""
    numbers = int(_numbers_in_a_second() * seconds)
    return SLOW.format(numbers), numbers


@cache
def _numbers_in_a_second() -> float:
    program = SLOW.format(_SAMPLE) + " | tojson"
    guard().run(program, "null")  # the first one also waits for its helper
    before = current_account().seconds
    guard().run(program, "null")
    return _SAMPLE / (current_account().seconds - before)
