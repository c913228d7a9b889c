"""The instances that wait for events of a mailbox which did not begin them."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from temporalio import workflow

from swf_temporal.base.strict_json import json_length
from swf_temporal.temporal.mailbox_instances import Instances
from swf_temporal.temporal.mailbox_records import Held

MAX_SUBSCRIBERS: Final = 2000
"""The number of instances that may wait for events of one key."""
MAX_SUBSCRIBERS_BYTES: Final = 256 * 1024
"""The size limit of what is known of them."""
_PROBE_AFTER: Final = timedelta(days=1)
"""The time after which those are looked for that have ended without saying so."""


class Subscribers:
    def __init__(
        self, waits: Mapping[str, list[dict[str, str]]], instances: Instances, probed: float | None = None
    ) -> None:
        self.waits = dict(waits)
        """By the ids of instances, what the attributes of their events must be, once for each wait."""
        self._instances = instances
        self.probed = workflow.time() if probed is None else probed
        """When those were looked for last that have ended, in seconds since 1970, also in earlier executions."""

    def of(self, arrived: Held) -> list[str]:
        """Return the ids of the instances that have subscribed to such an event."""
        values = arrived.values
        if values is None:
            return []
        return [one for one, waits in self.waits.items() if any(w.items() <= values.items() for w in waits)]

    def add(self, instance: str, values: dict[str, str]) -> bool:
        """Take note of what an instance waits for; tell whether there is room for that."""
        is_full = len(self.waits) >= MAX_SUBSCRIBERS and instance not in self.waits
        if is_full or json_length([self.waits, instance, values]) > MAX_SUBSCRIBERS_BYTES:
            workflow.logger.warning("%s accepts no more subscribers", workflow.info().workflow_id)
            return False
        waits = self.waits.setdefault(instance, [])
        if values not in waits:
            waits.append(values)
        return True

    def remove(self, instance: str) -> None:
        self.waits.pop(instance, None)

    async def tell(self, instance: str, arrived: Held, *, alone: bool) -> bool:
        """Give an event to a subscriber, which gives it back if it is *alone*; forget one that has ended."""
        if await self._instances.give(instance, arrived, comes_back=alone):
            return True
        self.remove(instance)
        return False

    async def probe(self) -> None:
        """Forget subscribers that have ended without saying so, once a day."""
        if not self.waits or workflow.time() - self.probed < _PROBE_AFTER.total_seconds():
            return
        self.probed = workflow.time()
        for instance in list(self.waits):
            if not await self._instances.is_running(instance):
                self.remove(instance)

    @property
    def next_probe(self) -> float | None:
        """When they are to be probed, in seconds since 1970; None if there are none."""
        return self.probed + _PROBE_AFTER.total_seconds() if self.waits else None
