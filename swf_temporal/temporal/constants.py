"""Names and defaults that commands, clients, workflows and workers share.

Nothing is imported here: commands need to know it before they need the engine's library.
"""

DEFAULT_HOST, DEFAULT_PORT = "localhost", 7233
"""The default address of a server."""

DEFAULT_NAMESPACE = "default"
"""The namespace that everything here uses unless told otherwise."""

DEFAULT_UI_PORT = 8233
"""The default port of a development server's UI."""

EVENT = "event"
"""The signal that carries a whole CloudEvent."""

ROUTED = "routed event"
"""The signal that carries a CloudEvent which a mailbox takes back if it is not taken."""

PROBE = "swf-are-you-there"
"""The signal by which a mailbox finds out that an instance has ended; a running one ignores it."""

PLACE = "swf-place"
"""The signal that tells an instance that it may run, or that too many wait already."""

DELIVER = "deliver"
"""The update that carries an event, and answers what became of it."""

CHANGE_DATA = "swf-change-data"
"""The update that changes the data of the running state."""

CHANGE_REFUSED = "ChangeRefused"
"""The type of the error with which that update refuses what is no change, or comes too early or too late."""

EVENT_REFUSED = "EventRefused"
"""The type of the error with which that update refuses what is not an event, or one that the definition never takes."""

INBOX_FULL = "InboxFull"
"""The type of the error with which that update refuses an event of an instance that keeps too many as it is."""

ENDING = "ending of workflow"
"""The activity that waits for the end of a workflow, which an earlier execution of the same instance began."""

MEMO = "swf"
"""Under which name schedules, and the instances that they start, remember their definition."""
NOTE = "definition "
"""The beginning of the note that we write on a schedule; a different one was written by others."""

MAX_INPUT_BYTES = 2 * 1024 * 1024 - 4096
"""The size limit of all arguments of a workflow together, in bytes: the server's, with room for their metadata."""
GIVE_WAY = "give way"
"""The activity that does nothing, by which a run that works long ends its workflow task."""
