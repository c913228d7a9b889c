"""Log lines of workflows, and of the functions that they call, in the log of a worker."""

import logging

from swf_temporal.functions.call import Call
from swf_temporal.functions.secrets import scrub

_log = logging.getLogger("swf.function")


def write_line(call: Call, level: int, text: str) -> None:
    """Write *text* as one line that names the function and the instance, without the secrets of *call*."""
    # Data must not look like a separate line.
    line = "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
    _log.log(
        level,
        "%s: %s [%s]",
        call.function.name,
        scrub(line, {**call.secrets, "": [call.secrets.get(""), *call.made_of_secrets]}),
        call.idempotency_key or "no instance",
    )
