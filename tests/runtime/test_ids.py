"""How long may an id become, and what is left of one that is too long?"""

import re

import pytest

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.events.routing import instance_id, mailbox_id, single_id
from swf_temporal.runtime.ids import (
    FREE_ID_PATTERN,
    MAX_ID_BYTES,
    MAX_INSTANCE_ID_BYTES,
    id_of_child,
    shortened_id,
    why_reserved,
)

RUN = "01a2175a-4615-7603-993d-ada966d6325f"


def test_an_id_that_fits_stays_as_it_is() -> None:
    assert id_of_child("order-7", RUN, "Pay/charge#1") == "order-7/ada966d6325f/Pay/charge#1"
    longest = "é" * (MAX_ID_BYTES // 2)
    assert shortened_id(longest) == longest


def test_what_is_too_long_keeps_its_front_and_stays_different() -> None:
    """A digest of all of it stands behind, so that what differs at the end alone differs still. It never changes."""
    first, second = (id_of_child("order-7", RUN, "é" * 200 + f"#{number}") for number in (1, 2))
    assert first == "order-7/ada966d6325f/" + "é" * 49 + "~af63392155aeb7e037b8bd56d67fdc54"
    assert first != second
    assert first.partition("~")[0] == second.partition("~")[0]


def test_ids_of_any_nesting_fit() -> None:
    ids = ["order-7"]
    for _ in range(200):
        ids.append(id_of_child(ids[-1], RUN, "A state/with an action#1"))
    assert max(len(one.encode()) for one in ids) <= MAX_INSTANCE_ID_BYTES
    assert len(set(ids)) == len(ids)
    assert sum("~" in one.removesuffix("/ada966d6325f/A state/with an action#1") for one in ids[-5:]) == len(ids[-5:])


OURS = {
    "of a correlation key": instance_id("orders", {"order": "42"}),
    "of an event": single_id("orders", CloudEvent("e-1", "shop", "placed", None, {})),
    "of a mailbox": mailbox_id("orders", {"order": "42"}),
    "of variables": "variables:namespace:",
    "of a sub-workflow": id_of_child("order-7", RUN, "Pay/charge#1"),
    "shortened": id_of_child("é" * 200, RUN, "Pay"),
}


@pytest.mark.parametrize("what", OURS)
def test_ids_that_are_given_here_are_chosen_by_nobody(what: str) -> None:
    assert why_reserved(OURS[what]) is not None
    assert re.fullmatch(FREE_ID_PATTERN, OURS[what]) is None


@pytest.mark.parametrize("chosen", ["order-7", "orders:42", "orders:of~may", "a" * 24, "swf", "é~1"])
def test_all_others_are_free(chosen: str) -> None:
    assert why_reserved(chosen) is None
    assert re.fullmatch(FREE_ID_PATTERN, chosen)
