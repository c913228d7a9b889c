"""A program that is attacked, what a client beside the attacker sees of it, and the memory that it takes."""

import re
import statistics
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Final

_EVERY: Final = 0.05
_PATIENCE: Final = 100


@dataclass
class Seen:
    seconds: list[float] = field(default_factory=list)
    """What each request of another client took."""
    mebibytes: int = 0
    """By how much the memory grew that it held at most."""

    def __str__(self) -> str:
        p95 = statistics.quantiles(self.seconds, n=20)[-1] if len(self.seconds) > 1 else sum(self.seconds)
        return f"others: p95 {p95:.3f} s, longest {max(self.seconds):.3f} s; memory: {self.mebibytes:+} MiB"


@contextmanager
def probed(url: str, pid: int) -> Iterator[Seen]:
    """Ask for *url* again and again for as long as the context lasts; each answer has to be a good one."""
    seen, is_over, failures = Seen(), Event(), list[Exception]()

    def probe() -> None:
        try:
            while not is_over.wait(_EVERY) or not seen.seconds:
                begun = time.monotonic()
                with urllib.request.urlopen(url, timeout=_PATIENCE) as answer:
                    answer.read()
                seen.seconds.append(time.monotonic() - begun)
        except Exception as error:  # noqa: BLE001 - told by the thread that waits
            failures.append(error)

    Path(f"/proc/{pid}/clear_refs").write_text("5")  # the highest mark begins anew
    before, thread = _held(pid), Thread(target=probe)
    thread.start()
    try:
        yield seen
    finally:
        is_over.set()
        thread.join()
        seen.mebibytes = _held(pid, "VmHWM") - before
    if failures:
        raise failures[0]


def _held(pid: int, mark: str = "VmRSS") -> int:
    found = re.search(rf"{mark}:\s*(\d+)", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) >> 10
