"""Lines that a workflow writes to the log, with functions that SonataFlow knows: `sysout:LEVEL`."""

import json
import logging

from swf_temporal.data import JSON
from swf_temporal.functions.call import Call, permanent_failure
from swf_temporal.functions.custom.type import LEVELS
from swf_temporal.functions.secrets import scrub
from swf_temporal.text.suggestions import suggestion

_log = logging.getLogger("swf.function")


def is_sysout(operation: object) -> bool:
    """Tell whether *operation* is `sysout` or `sysout:LEVEL`."""
    return isinstance(operation, str) and operation.strip().partition(":")[0] == "sysout"


async def write_line(call: Call) -> JSON:
    """Log the argument `message`, or all arguments if there is none. The result is null: nothing is merged."""
    word = str(call.function.operation).strip().partition(":")[2].strip() or "INFO"
    level = LEVELS.get(word.upper())
    if level is None:
        message = f"function '{call.function.name}': '{word}' is not a level{suggestion(word.upper(), LEVELS)}"
        raise permanent_failure("BadOperation", f"{message}; those known are {', '.join(LEVELS)}")
    line = scrub(_line(call.arguments), call.secrets)
    _log.log(level, "%s: %s [%s]", call.function.name, line, call.idempotency_key or "no instance")
    return None


def _line(arguments: JSON) -> str:
    given = arguments["message"] if isinstance(arguments, dict) and "message" in arguments else arguments
    text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    # What comes with the data must not look like a line of its own.
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
