"""The instances that a mailbox begins, and those that it gives events to.

The instance of a key has the id that follows from it. Where one has continued as another definition, and so has that id
still, the next has an id that follows from its event.
"""

from collections.abc import Callable, Sequence
from typing import Final

from temporalio import workflow
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.workflow import ParentClosePolicy

from swf_temporal.base.data import JSON
from swf_temporal.base.strict_json import json_length
from swf_temporal.events.routing.gathering import Arrived
from swf_temporal.languages.port import Definition
from swf_temporal.runtime.names import WORKFLOW_TYPES
from swf_temporal.temporal import summaries
from swf_temporal.temporal.constants import EVENT, PROBE, ROUTED
from swf_temporal.temporal.converter import limit_of
from swf_temporal.temporal.instance_signals import InstanceSignals
from swf_temporal.temporal.kept_options import OptionsRecord, start_options
from swf_temporal.temporal.outgoing import heard
from swf_temporal.temporal.records import Pin
from swf_temporal.temporal.sizes import check_fits, check_together

_OTHER_BYTES: Final = 64 * 1024
"""The size limit of what an instance is begun with beside definitions and events."""
_NO_OPTIONS: Final = OptionsRecord()


class Instances:
    def __init__(self, begun: str | None, latest: str | None, continue_if_long: Callable[[], None]) -> None:
        self.begun = begun
        """The id of the first run of the instance that was begun last."""
        self.latest = latest
        """The id of that instance, where it is known."""
        self._signals = InstanceSignals(continue_if_long)

    async def begin(
        self, instance: str, definition: Definition, data: JSON, pin: Pin, options: OptionsRecord = _NO_OPTIONS
    ) -> bool:
        """Begin an instance with *options*; tell whether there was none that runs. Raises PayloadTooLarge."""
        if definition.id in WORKFLOW_TYPES:  # of a record that no program of ours has written
            workflow.logger.warning("%s does not begin %r", workflow.info().workflow_id, definition.id)
            return True
        record, limit = pin.to_json(), limit_of(workflow.payload_converter())
        sizes = json_length(data), json_length(record)
        check_fits(max(sizes), "an instance can be started with", limit)
        check_together(sizes, limit)
        try:
            begun = await workflow.start_child_workflow(
                definition.id,
                args=[data, record],
                id=instance,
                parent_close_policy=ParentClosePolicy.ABANDON,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                static_summary=summaries.of_instance(definition),
                **start_options(options),
            )
        except WorkflowAlreadyStartedError:
            return False
        begun.add_done_callback(heard)
        self.begun, self.latest = begun.first_execution_run_id, instance
        self._signals.runs[instance] = str(self.begun)
        return True

    async def begin_with(
        self,
        instance: str,
        definition: Definition,
        pin: Pin,
        events: Sequence[Arrived],
        options: OptionsRecord = _NO_OPTIONS,
    ) -> int:
        """Begin an instance with as many *events* as its start can carry, and give it the others.

        Return how many of them it was given, before it ended; 0 if one runs already.
        """
        room = limit_of(workflow.payload_converter()) - json_length([one.to_json() for one in pin.definitions])
        pin.start.events, size = [], _OTHER_BYTES
        for one in events:
            size += json_length(one.event.to_json())
            if pin.start.events and size > room:
                break
            pin.start.events.append(one.event)
        given = len(pin.start.events)
        if not await self.begin(instance, definition, {}, pin, options):
            return 0
        while given < len(events) and await self.give(instance, events[given]):
            given += 1
        return given

    async def give(self, instance: str, arrived: Arrived, *, comes_back: bool = True) -> bool:
        """Give an event to an instance; tell whether it runs. It *comes_back* if the instance does not take it."""
        return await self._signals.send(instance, ROUTED if comes_back else EVENT, arrived.event.to_json())

    @property
    def have_handed_over(self) -> bool:
        """Whether the one that could be given nothing just now has continued as another definition, and runs still."""
        return self._signals.handed_over

    async def is_running(self, instance: str) -> bool:
        """Tell whether an instance runs."""
        return await self._signals.send(instance, PROBE, {}, insists=False)
