"""What a call may carry."""

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import PayloadTooLarge
from swf_temporal.runtime.performing import MAX_PAYLOAD_BYTES, check_size, size_of


def test_a_payload_may_be_as_large_as_a_server_takes() -> None:
    check_size(MAX_PAYLOAD_BYTES, "one step can carry")
    check_size(5, "a function can return", 5)
    with pytest.raises(PayloadTooLarge, match=r"^2,031,617 bytes of data are more than the 2,031,616 that it takes$"):
        check_size(MAX_PAYLOAD_BYTES + 1, "it takes")
    assert size_of({"a": [1, 2]}) == len('{"a":[1,2]}')


def test_very_many_bytes_are_not_counted_to_the_last() -> None:
    """Data that share their parts may be far more than can be written to be measured."""
    assert size_of("ü" * 10) == len('"') * 2 + len("\\u00fc") * 10
    shared: JSON = [1]
    for _ in range(60):
        shared = [shared, shared]
    assert size_of(shared) > MAX_PAYLOAD_BYTES
