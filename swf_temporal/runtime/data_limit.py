"""How much data a run may keep in memory.

What evaluations yield and what calls and events bring is counted, so it is known by how much the data of a run can have
grown. A run that has grown by `STEP` is measured at its next step. What it measures depends on its data alone, so that
a replay fails at the same step.
"""

from collections.abc import Callable, Iterable
from typing import Final

from swf_temporal.base.accounting import MIB, Account
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import PayloadTooLarge
from swf_temporal.base.weighing import json_size, memory_of

STEP: Final = 16 * MIB
"""Bytes by which a run grows before it is measured again, or half of what it had if that is more."""
MAX_DATA_BYTES: Final = 128 * MIB
"""Bytes of memory that the data of a run may take where nothing large leaves it: a history holds 50 MiB at most."""
_OF_PAYLOAD: Final = 4
"""How many times as much memory it may take as one payload holds, where payloads may be large."""


class DataLimit:
    def __init__(self, account: Account, carries: int) -> None:
        """Limit the run that charges *account*, of which a payload *carries* so many bytes."""
        self.most = max(MAX_DATA_BYTES, _OF_PAYLOAD * carries)
        """Bytes of memory that its data may take."""
        self._account = account
        self._received = 0
        self._size = self._measured_at = 0

    def receive(self, value: JSON) -> None:
        """Count what came from outside."""
        self._received += json_size(value, STEP)

    def check(self, data: Callable[[], Iterable[object]]) -> None:
        """Raise PayloadTooLarge where the *data* of the run have grown to more than they may take."""
        made = self._account.made + self._received
        if made - self._measured_at < max(STEP, self._size // 2):
            return
        self._measured_at, self._size = made, memory_of(data())
        if self._size > self.most:
            raise PayloadTooLarge(
                f"the data of the run take more memory than the {self.most // MIB:,} MiB that a run may hold in its "
                "worker: keep less of what actions and expressions yield"
            )
