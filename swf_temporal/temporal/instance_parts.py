"""The parts of an instance, in the order in which they are called."""

from typing import Final

from swf_temporal.temporal.instance_log import DataChanges, InstanceLog
from swf_temporal.temporal.instance_part import Part
from swf_temporal.temporal.known_definitions import KnownDefinitions
from swf_temporal.temporal.lifecycle import Lifecycle
from swf_temporal.temporal.metrics import InstanceMetrics
from swf_temporal.temporal.own_attributes import OwnAttributes
from swf_temporal.temporal.own_place import OwnPlace
from swf_temporal.temporal.spans import InstanceSpans
from swf_temporal.temporal.subscribing import Subscriptions

PARTS: Final[tuple[type[Part], ...]] = (
    KnownDefinitions,
    DataChanges,
    Lifecycle,  # reports the end before events go back to a mailbox, which may start the next instance with them
    Subscriptions,
    OwnAttributes,
    OwnPlace,
    InstanceMetrics,
    InstanceSpans,
    InstanceLog,
)
"""Parts that report how an execution ends come last: others may still fail at its end."""

OF_SCENARIOS: Final = tuple(one for one in PARTS if one not in {Subscriptions, OwnPlace})
"""The parts of an instance in a scenario, which has no other workflows around it."""
