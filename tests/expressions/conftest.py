"""What every test of expressions uses: short limits, and no process left behind."""

from collections.abc import Iterator

import pytest

from swf_temporal.expressions.guarding import guard

LIMITS = guard.EvaluationLimits(seconds=0.25, memory=256 << 20, output=1 << 20, processes=2)


@pytest.fixture(autouse=True, scope="module")
def _short_limits() -> Iterator[None]:
    # Not for the package: without an `__init__.py` that lasts as long as the process, whose other tests it would limit.
    guard.configure(LIMITS)
    yield
    guard.configure(guard.EvaluationLimits())
