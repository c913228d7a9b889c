"""Size limits of payloads, if the configuration does not store large ones outside of the server."""

from datetime import timedelta
from typing import Final

MAX_PAYLOAD_BYTES: Final = 2 * 1024 * 1024 - 64 * 1024
"""The size limit of one payload, in bytes: the server's, with room for what surrounds it."""

MAX_RESULT_BYTES: Final = 2 * 1024 * 1024
"""The size limit of a function's result, in bytes: the server's."""

MAX_CALLS_IN_ONE_EXECUTION: Final = 15_000
"""How many calls an execution holds at most: a run with more has to go on in another, with what it carries."""

CARRY_LESS: Final = "keep less of what actions and events yield, or store large payloads outside of Temporal"
"""What to do where a run would have to carry on more than it can."""

PUBLISH_LIMIT: Final = timedelta(minutes=1)
"""The time limit of one delivery of an event."""
