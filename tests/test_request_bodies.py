"""The bodies of requests that our servers receive are limited in size and time."""

import asyncio
from collections.abc import AsyncIterator, Mapping

import pytest

from swf_temporal.base import request_bodies
from swf_temporal.base.request_bodies import BodyTooLargeError, SlowBodyError, body_of


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
