"""Answers of JSON-RPC as server-sent events, however they are cut into pieces."""

from collections.abc import AsyncIterator

import pytest

from swf_temporal.functions.json_rpc import events_of


async def pieces(content: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(content), size):
        yield content[start : start + size]


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
@pytest.mark.parametrize(("content", "expected"), [
    (b"data: a\n\ndata: b\n\n", ["a", "b"]),
    (b"data: a\r\n\r\ndata:b\r\rdata:  c\n\n", ["a", "b", " c"]),
    (b": comment\nevent: message\nid: 7\ndata: a\ndata: b\nretry: 5\n\n", ["a\nb"]),
    (b"event: ping\n\n\n\ndata\n\ndata: x", ["", "x"]),
    ("\ufeffdata: ü€\n\n".encode(), ["ü€"]),
    (b"", []),
    (b"data: a\r\n", ["a"]),
])  # fmt: skip
async def test_messages_of_a_stream(content: bytes, expected: list[str], size: int) -> None:
    assert [one async for one in events_of(pieces(content, size))] == expected
