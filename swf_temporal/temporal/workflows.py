"""The workflows of a worker: the one that interprets definitions, and its helpers.

They run no user code, so they need no sandbox; other workflows on a worker keep theirs.
"""

from typing import Final

from swf_temporal.temporal.event_mailboxes import EventMailbox
from swf_temporal.temporal.places import Places
from swf_temporal.temporal.publishing import DelayedEvent
from swf_temporal.temporal.variables import VariablesOfScope
from swf_temporal.temporal.workflow import Interpreter

OTHER_WORKFLOWS: Final[tuple[type, ...]] = (VariablesOfScope, DelayedEvent, EventMailbox, Places)
ALL_WORKFLOWS: Final[tuple[type, ...]] = (Interpreter, *OTHER_WORKFLOWS)
