"""The records that cross the port: how they are read that other releases wrote."""

from swf_temporal.runtime.host import Limit


def test_a_limit_is_read_as_it_was_written() -> None:
    """A number alone is its seconds, what is missing is as usual, and nothing is no limit."""
    limit = Limit(5.5, interrupt=False, run_before="Tidy")
    assert Limit.from_json(limit.to_json()) == limit
    assert Limit.from_json(7) == Limit.from_json({"seconds": 7}) == Limit(7, interrupt=True, run_before=None)
    assert Limit.from_json(None) is None
