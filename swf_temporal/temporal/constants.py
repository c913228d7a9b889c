"""Names and defaults that commands, clients, workflows and workers share.

Nothing is imported here: commands need these before they need the SDK.
"""

INSTANCES = "swf.instance"
"""Starts, ends and problems of instances."""

CALLS = "swf.call"
"""Failed calls and produced events."""

QUEUES = "swf.queue"
"""Task queues that no worker serves."""

FACTS = "swf"
"""The attribute of a record that holds its facts, for logs that programs read."""


DEFAULT_HOST, DEFAULT_PORT = "localhost", 7233
"""The default address of a server."""

DEFAULT_NAMESPACE = "default"
"""The namespace that is used unless another is configured."""

DEFAULT_UI_PORT = 8233
"""The default port of a development server's UI."""

EVENT = "event"
"""The signal that carries a whole CloudEvent."""

ROUTED = "routed event"
"""The signal that carries a CloudEvent which a mailbox takes back if it is not taken."""

PROBE = "swf-are-you-there"
"""The signal by which a mailbox finds out whether an instance has ended; a running instance ignores it."""

PLACE = "swf-place"
"""The signal that informs an instance that it may run, or that too many wait already."""

DELIVER = "deliver"
"""The update that carries an event, and returns its outcome."""

CHANGE_DATA = "swf-change-data"
"""The update that changes the data of the running state."""

CHANGE_REFUSED = "ChangeRefused"
"""The error type with which that update refuses what is not a change, or comes too early or too late."""

EVENT_REFUSED = "EventRefused"
"""The error type with which that update refuses what is not an event, or an event that the definition never takes."""

INBOX_FULL = "InboxFull"
"""The error type with which that update refuses an event because the instance keeps too many already."""

ENDING = "ending of workflow"
"""The activity that waits for the end of a workflow that an earlier execution of the same instance started."""

MEMO = "swf"
"""The memo key under which schedules, and the instances that they start, keep facts about their definition."""
NOTE = "definition "
"""The prefix of our note on a schedule; a note without it was written by others."""

MAX_INPUT_BYTES = 2 * 1024 * 1024 - 4096
"""The size limit of all arguments of a workflow together, in bytes: the server's, with room for their metadata."""
GIVE_WAY = "give way"
"""The activity that does nothing, with which a long-working run ends its workflow task."""
AWAITED = "awaited"
"""A field of an update, beside the `name` of an event: refuse the event if nothing waits for it."""
