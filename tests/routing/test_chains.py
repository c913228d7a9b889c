"""The length of chains of instances, as events carry it."""

from typing import Any

import pytest

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.events.routing import HOPS, hops_of, next_hops


@pytest.mark.parametrize(("value", "hops"), [
    (0, 0), (7, 7), ("7", 7), ("-7", 0), (-7, 0), ("x", 0), (True, 0), (1.5, 0), (2**31, 0), ([], 0),
])  # fmt: skip
def test_what_a_sender_may_write(value: Any, hops: int) -> None:
    """An integer, or a text as the binary mode has it; anything else counts as none."""
    assert hops_of(CloudEvent("1", "s", "t", attributes={HOPS: value})) == hops


def test_the_longest_chain_counts() -> None:
    """Of several events that start an instance; and the number stays an integer of CloudEvents."""
    events = [CloudEvent("1", "s", "t", attributes={HOPS: 2}), CloudEvent("2", "s", "t")]
    assert (hops_of(), hops_of(*events), next_hops(2)) == (0, 2, 3)
    most = next_hops(next_hops(2**31 - 2))
    assert most == hops_of(CloudEvent("1", "s", "t", attributes={HOPS: str(10**30)})) == 2**31 - 1
