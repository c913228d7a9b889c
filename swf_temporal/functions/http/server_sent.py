"""Server-sent events: the messages of an answer of the type `text/event-stream`, as they arrive."""

import re
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Final

MEDIA_TYPE: Final = "text/event-stream"
_LINE: Final = re.compile(rb"\r\n|\n|\r(?=.)", re.DOTALL)
"""The end of a line. A carriage return that has arrived last may be the first half of one."""


async def messages(chunks: AsyncIterator[bytes]) -> AsyncGenerator[str, None]:
    """Yield the data of each event that has some. The last event needs no empty line after it."""
    data: list[str] = []
    async for line in _lines(chunks):
        if line:
            field, _, value = line.partition(":")
            if field == "data":
                data.append(value.removeprefix(" "))
        elif data:
            yield "\n".join(data)
            data = []


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncGenerator[str, None]:
    parts: list[bytes] = []
    async for chunk in chunks:
        parts.append(chunk)
        if b"\n" in chunk or b"\r" in chunk or (len(parts) > 1 and parts[-2].endswith(b"\r")):
            *lines, rest = _LINE.split(b"".join(parts))
            parts = [rest]
            for line in lines:
                yield line.decode(errors="replace").removeprefix("\ufeff")
    if rest := b"".join(parts).removesuffix(b"\r"):
        yield rest.decode(errors="replace")
    yield ""
