"""What the payload codec costs: time for each payload, both ways, and what becomes of its size.

    python -m bench.payloads

Each row is the median of nine runs. The definition is that of an example, and the records are generated.
"""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from temporalio.converter import PayloadCodec

from swf_temporal.temporal.converter import CONVERTER
from swf_temporal.temporal.payloads.codec import Compressing, Encrypting
from swf_temporal.temporal.payloads.keys import Keys

_RUNS, _SECONDS = 9, 0.05


def _records(count: int) -> list[dict[str, Any]]:
    return [
        {"id": number, "name": f"item {number}", "price": number * 1.19, "tags": ["a", "b"]} for number in range(count)
    ]


async def _microseconds(work: Callable[[], Awaitable[object]]) -> float:
    """Return how long *work* takes."""
    times = []
    for _ in range(_RUNS):
        count, begin = 0, time.perf_counter()
        while (passed := time.perf_counter() - begin) < _SECONDS:
            await work()
            count += 1
        times.append(passed / count)
    return median(times) * 1e6


async def main(definition: str) -> None:
    """Print the table."""
    keys = Keys({"1": "env:KEY"}, {"KEY": "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="})
    codecs: dict[str, PayloadCodec] = {
        "compressed": Compressing(),
        "encrypted": Encrypting(keys, "default", "1", compression=False),
        "both": Encrypting(keys, "default", "1"),
    }
    values = {
        "small": {"orderId": 7, "status": "paid"},
        "definition": definition,
        "100 records": _records(100),
        "10,000 records": _records(10_000),
        "1 MB of noise": os.urandom(500_000).hex(),
    }
    print(f"{'payload':16}{'bytes':>10}  {'codec':12}{'encode µs':>11}{'decode µs':>11}{'bytes':>10}{'of JSON':>9}")
    for name, value in values.items():
        [payload] = CONVERTER.payload_converter.to_payloads([value])
        for kind, codec in codecs.items():
            [encoded] = await codec.encode([payload])
            encode = await _microseconds(partial(codec.encode, [payload]))
            decode = await _microseconds(partial(codec.decode, [encoded]))
            size, whole = encoded.ByteSize(), len(payload.data)
            print(f"{name:16}{whole:10,}  {kind:12}{encode:11,.0f}{decode:11,.0f}{size:10,}{size / whole:9.2f}")


if __name__ == "__main__":
    asyncio.run(main(next(Path("examples/orders").rglob("*.yaml")).read_text(encoding="utf-8")))
