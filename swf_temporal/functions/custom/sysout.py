"""Lines that a workflow writes to the log, with functions that SonataFlow knows: `sysout:LEVEL`."""

from swf_temporal.data import JSON
from swf_temporal.functions import log_lines
from swf_temporal.functions.call import Call, permanent_failure
from swf_temporal.functions.custom.type import LEVELS
from swf_temporal.strict_json import show_json
from swf_temporal.text.suggestions import suggestion


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
    log_lines.write_line(call, level, _text(call.arguments))
    return None


def _text(arguments: JSON) -> str:
    given = arguments["message"] if isinstance(arguments, dict) and "message" in arguments else arguments
    return given if isinstance(given, str) else show_json(given)
