"""How values are given to an evaluation."""

import pytest

from swf_temporal.base.errors import ExpressionLimitExceeded
from swf_temporal.base.strict_json import NotJSON
from swf_temporal.expressions.guarding.guard import written


def test_values_are_written_for_an_engine() -> None:
    assert written({"a": [1, None]}) == '{"a":[1,null]}'
    with pytest.raises(NotJSON, match=r"Infinity is not a JSON number \(at \.\[0\]\)"):
        written([float("inf")])


def test_no_more_is_written_than_an_evaluation_may_be_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is measured before it is written: data that share their parts may be far larger than they look."""
    monkeypatch.setattr("swf_temporal.base.accounting.MAX_WRITTEN", 2 << 20)
    half = "x" * ((1 << 20) - 4)
    assert len(written([half, half + "x"])) == 2 << 20
    with pytest.raises(ExpressionLimitExceeded, match="an expression met more than 2 MiB of data") as told:
        written([half, half, half])
    assert not told.value.retryable
