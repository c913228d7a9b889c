"""Parts of a run's progress that go along beside its record, each as a payload of its own.

A payload is made once, and is the same from one execution to the next: where large ones are stored under the names of
their contents, none is written a second time. Without such a storage there are no parts, since the server counts all
that an execution is started with as one.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from temporalio.api.common.v1 import Payload
from temporalio.converter import PayloadConverter

from swf_temporal.base.data import JSON
from swf_temporal.runtime.limits import MAX_PAYLOAD_BYTES
from swf_temporal.temporal.converter import limit_of

_LEAST: Final = 256 * 1024
"""From how many bytes on values are a part."""
_MAX_PART_BYTES: Final = 4 * 1024 * 1024
"""How many bytes a part has, unless a single value has more: reading it should take a fraction of a second."""


class Parts:
    def __init__(self, converter: PayloadConverter, payloads: Mapping[int, Payload]) -> None:
        self._converter = converter
        self._payloads = dict(payloads)
        self._last = max(payloads, default=0)

    def add(self, values: Sequence[JSON]) -> list[int]:
        """Make parts of *values*, unless there is no place for them, or they are few; return their numbers."""
        if limit_of(self._converter) <= MAX_PAYLOAD_BYTES:
            return []
        texts = [self._converter.to_payload(value).data for value in values]
        if sum(map(len, texts)) < _LEAST:
            return []
        numbers: list[int] = []
        part: list[bytes] = []
        size = 0
        for text in texts:
            if part and size + len(text) > _MAX_PART_BYTES:
                numbers.append(self._made(part))
                part, size = [], 0
            part.append(text)
            size += len(text)
        return [*numbers, self._made(part)]

    @property
    def size(self) -> int:
        """How many bytes all of them have."""
        return sum(len(payload.data) for payload in self._payloads.values())

    def take(self, number: int) -> list[JSON]:
        values: list[JSON] = self._converter.from_payload(self._payloads.pop(number))
        return values

    def of(self, numbers: Sequence[int]) -> list[Payload]:
        return [self._payloads[number] for number in numbers]

    def _made(self, texts: Sequence[bytes]) -> int:
        self._last += 1
        array = self._converter.to_payload([])
        self._payloads[self._last] = Payload(metadata=array.metadata, data=b"[" + b",".join(texts) + b"]")
        return self._last


def parts_of(progress: Mapping[str, Any] | None, payloads: Sequence[Payload]) -> dict[int, Payload]:
    """Return the parts that an execution was started with beside its record, by the numbers that this gives them."""
    return dict(zip((progress or {}).get("parts", ()), payloads, strict=False))
