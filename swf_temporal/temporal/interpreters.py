"""The workflows of a worker beside the one that interprets definitions."""

from typing import Final

from swf_temporal.temporal.delayed_events import DelayedEvent
from swf_temporal.temporal.event_mailboxes import EventMailbox
from swf_temporal.temporal.places import Places
from swf_temporal.temporal.variables import VariablesOfScope

OTHER_WORKFLOWS: Final = (VariablesOfScope, DelayedEvent, EventMailbox, Places)
