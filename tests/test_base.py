"""Small modules of `base`: durations, grammar, and bodies of requests."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swf_temporal.base import request_bodies
from swf_temporal.base.durations import is_misplaced, parse_duration
from swf_temporal.base.grammar import counted, listed, plural, with_article
from swf_temporal.base.request_bodies import BodyTooLargeError, SlowBodyError, body_of


@pytest.mark.parametrize(("text", "length"), [
    ("PT15M", timedelta(minutes=15)), ("P1DT12H", timedelta(days=1, hours=12)), ("PT0.5S", timedelta(milliseconds=500)),
    ("PT0,5S", timedelta(milliseconds=500)), ("P2W", timedelta(weeks=2)), ("P1M", timedelta(days=30)),
    ("P1Y", timedelta(days=365)), ("PT1M", timedelta(minutes=1)), ("PT7D", timedelta(days=7)),
    ("PT2W", timedelta(weeks=2)), ("-PT5S", timedelta(seconds=-5)), ("+PT5S", timedelta(seconds=5)),
    (" PT5S ", timedelta(seconds=5)), ("PT0S", timedelta()), ("P9999Y", timedelta(days=5_000 * 365)),
    ("-P9999Y", timedelta(days=-5_000 * 365)),
])  # fmt: skip
def test_reads(text: str, length: timedelta) -> None:
    assert parse_duration(text) == length


@pytest.mark.parametrize(
    "text", ["", "P", "PT", "10s", "5", "PT5", "P5S", "PTS", "PT1H30", "pt5s", "PT5S PT5S", "P-1D"]
)
def test_refuses(text: str) -> None:
    with pytest.raises(ValueError, match="ISO 8601"):
        parse_duration(text)


@given(st.integers(0, 400), st.integers(0, 30), st.integers(0, 70), st.integers(0, 70))
def test_adds_its_parts(days: int, hours: int, minutes: int, seconds: int) -> None:
    text = f"P{days}DT{hours}H{minutes}M{seconds}S"
    assert parse_duration(text) == timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)


@pytest.mark.parametrize(("text", "misplaced"), [("PT7D", True), ("PT2W", True), ("P7D", False), ("nonsense", False)])
def test_knows_what_is_misplaced(text: str, misplaced: bool) -> None:  # noqa: FBT001 - a parameter of the table
    assert is_misplaced(text) is misplaced


@pytest.mark.parametrize(("made", "text"), [
    (counted(0, "event"), "no events"), (counted(1, "event"), "1 event"), (counted(2000, "event"), "2,000 events"),
    (plural("branch"), "branches"), (plural("retry"), "retries"), (plural("key"), "keys"),
    (with_article("object"), "an object"), (with_article("OSError"), "an OSError"), (with_article("set"), "a set"),
    (with_article("UUID"), "a UUID"), (with_article("User"), "a User"), (listed(["a"]), "a"),
    (listed(["a", "b"]), "a and b"), (listed(["a", "b", "c"]), "a, b and c"),
])  # fmt: skip
def test_words_are_as_english_has_them(made: str, text: str) -> None:
    assert made == text


class Received:
    def __init__(self, *pieces: bytes, headers: Mapping[str, str] | None = None, is_whole: bool = True) -> None:
        self.headers = headers or {}
        self._pieces = pieces
        self._is_whole = is_whole

    async def stream(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece
        if not self._is_whole:
            await asyncio.Event().wait()


async def test_a_body_is_read_up_to_its_limit() -> None:
    assert await body_of(Received(b"ab", b"c"), 3) == b"abc"
    with pytest.raises(BodyTooLargeError, match="more than 2 bytes"):
        await body_of(Received(b"ab", b"c"), 2)


async def test_a_body_is_refused_by_the_size_that_its_head_names() -> None:
    with pytest.raises(BodyTooLargeError):
        await body_of(Received(headers={"content-length": "3"}, is_whole=False), 2)


async def test_a_body_that_does_not_arrive_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_bodies, "_SENDING", 0.01)
    with pytest.raises(SlowBodyError):
        await body_of(Received(b"a", is_whole=False), 2)
