"""Which event goes to which waiting path."""

import asyncio
import json
from collections.abc import Callable

import pytest

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.runtime.inbox import MAX_CRITERIA, MAX_SEEN, Inbox, InboxRecord
from swf_temporal.runtime.joining import SuspendRequested
from swf_temporal.runtime.performing import size_of


def _event(type_: str, id_: str = "", source: str = "s") -> CloudEvent:
    return CloudEvent(id=id_, source=source, type=type_)


def _like(type_: str) -> Callable[[CloudEvent], bool]:
    return lambda event: event.type == type_


@pytest.fixture
def inbox() -> Inbox:
    return Inbox()


async def _waiting(inbox: Inbox) -> asyncio.Task[CloudEvent]:
    waiting = asyncio.create_task(inbox.wait(_like("a")))
    await asyncio.sleep(0)
    return waiting


class Shown:
    """A criterion that notes which events it is shown, and accepts those of a type."""

    def __init__(self, type_: str = "") -> None:
        self.type, self.ids = type_, list[str]()

    def __call__(self, event: CloudEvent) -> bool:
        self.ids.append(event.id)
        return event.type == self.type


async def test_keeps_what_nobody_waits_for(inbox: Inbox) -> None:
    inbox.deliver(_event("a"))
    assert (await inbox.wait(_like("a"))).type == "a"
    assert inbox.is_empty


async def test_hands_an_event_to_who_waits(inbox: Inbox) -> None:
    waiting = await _waiting(inbox)
    assert inbox.is_awaited(_event("a"))
    assert not inbox.is_awaited(_event("b"))
    inbox.deliver(_event("a"))
    assert (await waiting).type == "a"
    assert inbox.is_empty
    assert not inbox.is_awaited(_event("a"))


async def test_the_first_to_wait_is_the_first_to_get(inbox: Inbox) -> None:
    first, second = await _waiting(inbox), await _waiting(inbox)
    inbox.deliver(_event("a", "1"))
    inbox.deliver(_event("a", "2"))
    assert [(await first).id, (await second).id] == ["1", "2"]


async def test_gives_kept_events_in_the_order_of_arrival(inbox: Inbox) -> None:
    for id_, type_ in (("1", "a"), ("2", "b"), ("3", "a")):
        inbox.deliver(_event(type_, id_))
    taken = [inbox.take(_like("a")), inbox.take(_like("a")), inbox.take(_like("a"))]
    assert [event and event.id for event in taken] == ["1", "3", None]


def test_takes_an_event_in_once(inbox: Inbox) -> None:
    """The same source and id is the same event; an event without an id is like no other."""
    assert inbox.deliver(_event("a", "1"))
    assert not inbox.deliver(_event("a", "1"))
    assert inbox.deliver(_event("a", "1", source="elsewhere"))
    assert inbox.deliver(_event("a"))
    assert inbox.deliver(_event("a"))
    assert len(inbox.kept) == 4


def test_remembers_ids_up_to_a_bound(inbox: Inbox) -> None:
    for number in range(MAX_SEEN + 5):
        inbox.deliver(_event("a", str(number)))
    assert len(inbox.seen) == MAX_SEEN
    assert not inbox.deliver(_event("a", str(MAX_SEEN)))


async def test_loses_nothing_when_a_path_is_given_up(inbox: Inbox) -> None:
    """An event handed over in the moment in which its path is cancelled is kept for somebody else, in its place."""
    waiting = await _waiting(inbox)
    inbox.deliver(_event("a", "1"))
    inbox.deliver(_event("a", "2"))
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert [event.id for event in inbox.kept] == ["1", "2"]


async def test_a_path_that_is_given_up_while_it_is_suspended_is_given_up(inbox: Inbox) -> None:
    """What cancels a path in the moment of an interruption is not told that it goes on later."""
    waiting = await _waiting(inbox)
    inbox.interrupt()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert inbox.is_empty


async def test_an_interruption_ends_waiting_and_lets_none_begin(inbox: Inbox) -> None:
    waiting = await _waiting(inbox)
    inbox.interrupt()
    with pytest.raises(SuspendRequested):
        await waiting
    with pytest.raises(SuspendRequested):
        await inbox.wait(_like("a"))
    inbox.deliver(_event("a", "1"))
    assert (await inbox.wait(_like("a"))).id == "1"


def test_what_is_known_of_an_event_survives_beside_it(inbox: Inbox) -> None:
    """An event that was addressed is so after a suspension; one that says so of itself is not."""
    claims: dict[str, JSON] = {"swfaddressed": True, "addressed": {"id": "1", "source": "s", "type": "a"}}
    inbox.deliver(CloudEvent("", "s", "a", {"x": 1}, is_addressed=True))
    inbox.deliver(CloudEvent("2", "s", "a", None, claims))
    again = _resumed(inbox)
    assert again.kept == inbox.kept
    assert [(event.is_addressed, event.attributes) for event in again.kept] == [(True, {}), (False, claims)]


def test_what_a_criterion_did_not_accept_is_not_looked_at_again(inbox: Inbox) -> None:
    """However many events are kept that a path does not ask for, each is shown to it once."""
    accepts = Shown("b")
    for n in range(10):
        inbox.deliver(_event("a", f"a{n}"))
    for n in range(3):
        inbox.deliver(_event("b", f"b{n}"))
        taken = inbox.take(accepts, "b")
        assert taken is not None
        assert taken.id == f"b{n}"
    assert inbox.take(accepts, "b") is None
    assert accepts.ids == [*(f"a{n}" for n in range(10)), "b0", "b1", "b2"]
    assert inbox.take(accepts, "another") is None
    assert len(accepts.ids) == 23


def test_every_criterion_finds_the_first_that_it_accepts(inbox: Inbox) -> None:
    for n, type_ in enumerate("abcabc"):
        inbox.deliver(_event(type_, str(n)))
    assert [_id(inbox.take(_like(type_), type_)) for type_ in "cbacd"] == ["2", "1", "0", "5", None]
    inbox.release([_event("c", "5"), _event("d", "6")])
    assert [_id(inbox.take(_like(type_), type_)) for type_ in "dcabc"] == ["6", "5", "3", "4", None]
    assert inbox.is_empty


def test_forgets_how_far_it_was_searched_beyond_a_bound(inbox: Inbox) -> None:
    """An instance whose criteria always change does not remember them all: what it has forgotten it searches again."""
    accepts_none = Shown()
    inbox.deliver(_event("a", "1"))
    for n in [*range(MAX_CRITERIA + 1), 0, 0]:
        assert inbox.take(accepts_none, n) is None
    assert len(accepts_none.ids) == MAX_CRITERIA + 2


def test_knows_how_much_it_keeps(inbox: Inbox) -> None:
    events = [_event("a", str(n)) for n in range(4)]
    for event in events:
        inbox.deliver(event)
    assert inbox.size == sum(size_of(event.to_record()) for event in events)
    taken = inbox.take(_like("a"))
    assert taken is not None
    assert inbox.size == sum(size_of(event.to_record()) for event in events[1:])
    inbox.release([taken])
    assert inbox.size == sum(size_of(event.to_record()) for event in events)
    assert Inbox(inbox.record()).size == inbox.size
    for _ in events:
        inbox.take(_like("a"))
    assert inbox.size == 0


def _id(event: CloudEvent | None) -> str | None:
    return None if event is None else event.id


def test_survives_as_json(inbox: Inbox) -> None:
    """Kept events and seen ids survive a suspension as plain JSON."""
    inbox.deliver(CloudEvent("1", "s", "a", {"x": 1}, {"subject": "y"}))
    again = _resumed(inbox)
    assert again.kept == inbox.kept
    assert not again.deliver(_event("a", "1"))
    assert Inbox().record() == InboxRecord()


def test_what_was_seen_survives_what_was_kept() -> None:
    seen, kept = Inbox(), Inbox()
    seen.deliver(_event("a", "1"))
    seen.take(_like("a"))
    kept.deliver(_event("a"))
    assert seen.record() == InboxRecord(seen=[("s", "1")], has_taken=True)
    assert kept.record() == InboxRecord([_event("a")])


async def test_what_was_never_taken_goes_elsewhere(inbox: Inbox) -> None:
    """Not what was sent to this instance alone, or was taken and given back; and nothing if nothing was ever taken."""
    for id_ in ("1", "2"):
        inbox.deliver(_event("a", id_), is_forwardable=True)
    assert not inbox.has_untaken
    taken = inbox.take(_like("a"))
    assert taken is not None
    inbox.release([taken])
    inbox.deliver(_event("b", "3"))
    inbox = _resumed(inbox)
    assert inbox.has_untaken
    assert [event.id for event in inbox.forward_untaken()] == ["2"]
    assert ([event.id for event in inbox.kept], inbox.has_untaken) == (["1", "3"], False)
    assert inbox.size == sum(size_of(event.to_record()) for event in inbox.kept)
    assert inbox.deliver(_event("a", "2"), is_forwardable=True)
    assert not inbox.deliver(_event("a", "2"))


@pytest.mark.parametrize("id_", ["1", ""], ids=["with an id", "without"])
def test_what_was_taken_long_ago_counts(inbox: Inbox, id_: str) -> None:
    """Of an event that is not remembered any more, or has no id, it is known that one was taken."""
    inbox.deliver(_event("a", id_))
    assert inbox.take(_like("a")) is not None
    inbox = _resumed(inbox)
    for number in range(MAX_SEEN):
        inbox.deliver(_event("b", f"b{number}"), is_forwardable=True)
    assert inbox.has_untaken
    assert len(inbox.forward_untaken()) == MAX_SEEN


def test_what_another_criterion_takes_moves_what_was_searched_by_one(inbox: Inbox) -> None:
    """What lies behind it is neither shown again nor left out; what lies before it stays where it is."""
    accepts = Shown("c")
    for n, type_ in enumerate("aabab"):
        inbox.deliver(_event(type_, str(n)))
    assert inbox.take(accepts, "c") is None
    assert _id(inbox.take(_like("b"), "b")) == "2"
    inbox.deliver(_event("c", "5"))
    assert _id(inbox.take(accepts, "c")) == "5"
    assert accepts.ids == ["0", "1", "2", "3", "4", "5"]
    assert _id(inbox.take(_like("b"), "b")) == "4"


def test_remembers_how_far_it_was_searched_within_the_bound(inbox: Inbox) -> None:
    accepts_none = Shown()
    inbox.deliver(_event("a", "1"))
    for n in [*range(MAX_CRITERIA), *range(MAX_CRITERIA)]:
        assert inbox.take(accepts_none, n) is None
    assert len(accepts_none.ids) == MAX_CRITERIA


async def test_what_was_handed_over_in_vain_is_shown_to_those_that_searched_before(inbox: Inbox) -> None:
    waiting = asyncio.create_task(inbox.wait(_like("a"), "one"))
    await asyncio.sleep(0)
    inbox.deliver(_event("b", "0"))
    assert inbox.take(_like("a"), "two") is None
    inbox.deliver(_event("a", "1"))
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert _id(inbox.take(_like("a"), "two")) == "1"
    assert _id(inbox.take(_like("b"), "three")) == "0"
    assert inbox.is_empty


def _resumed(inbox: Inbox) -> Inbox:
    return Inbox(InboxRecord.from_json(json.loads(json.dumps(inbox.record().to_json()))))
