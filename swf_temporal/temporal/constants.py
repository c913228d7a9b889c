"""Names and defaults that commands, clients, workflows and workers share.

Nothing is imported here: commands need to know it before they need the engine's library.
"""

TASK_QUEUE = "swf"
"""The task queue that everything here uses unless told otherwise."""

DEFAULT_HOST, DEFAULT_PORT = "localhost", 7233
"""Where a server is looked for unless another is named."""

DEFAULT_UI_PORT = 8233
"""Where a development server has its UI."""

EVENT = "event"
"""The signal that carries a whole CloudEvent."""

DELIVER = "deliver"
"""The update that carries an event, and answers what became of it."""

EVENT_REFUSED = "EventRefused"
"""The type of the error with which that update refuses what is not an event, or one that the definition never takes."""

MEMO = "swf"
"""Under which name schedules, and the instances that they start, remember their definition."""
NOTE = "definition "
"""How the note begins that we write on a schedule; any other was written by others."""

ACTIVITIES = 200
"""How many function calls may be under way at once in a worker that is not told otherwise."""

WORKFLOWS = 2000
"""How many running instances such a worker keeps in memory."""
