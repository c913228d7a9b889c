"""Performs functions of the type `custom`, and of unknown types: their operations say what is called."""

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import permanent_failure
from swf_temporal.base.strict_json import show_json
from swf_temporal.functions.call import Call
from swf_temporal.functions.custom.python import Python
from swf_temporal.functions.custom.script import Scripts, is_script
from swf_temporal.functions.custom.type import LEVELS
from swf_temporal.functions.plain.type import TYPE as PLAIN
from swf_temporal.functions.plain.type import is_plain_text
from swf_temporal.functions.port import Described, Performer, Services
from swf_temporal.functions.secrets import write_line
from swf_temporal.runtime.external_activities import is_external_activity, parse_activity
from swf_temporal.text.suggestions import suggestion


class Custom(Performer):
    """Sends a request, writes to the log, runs a script or calls Python."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._python = Python(services.custom, services.settings, services.threads)
        self._scripts = Scripts(services.settings)

    async def perform(self, call: Call) -> JSON:
        """Return the function's result."""
        operation = call.function.operation
        if is_plain_text(operation):
            return await PLAIN.performer(self._services).perform(call)
        if _is_sysout(operation):
            return await _write_line(call)
        if is_script(operation):
            return await self._scripts.perform(call)
        return await self._python.perform(call)

    async def look(self, call: Call) -> Described | None:
        """Return the activity or the URL in the operation, or that it is a script; None for others."""
        activity = parse_activity(call.function)
        if activity is not None:
            address: dict[str, JSON] = {activity.word: activity.activity}
            return Described(address | ({"taskQueue": activity.task_queue} if activity.task_queue else {}))
        if is_plain_text(call.function.operation):
            return await PLAIN.performer(self._services).look(call)
        return Described({"script": True}) if is_script(call.function.operation) else None

    def check(self, call: Call) -> None:
        """Raise CallFailed for a Python function that does not exist, or may not be called."""
        operation = call.function.operation
        is_python = not (is_plain_text(operation) or _is_sysout(operation) or is_script(operation))
        if is_python and not is_external_activity(call.function):
            self._python.find(call)


def _is_sysout(operation: object) -> bool:
    """Return whether *operation* is `sysout` or `sysout:LEVEL`."""
    return isinstance(operation, str) and operation.strip().partition(":")[0] == "sysout"


async def _write_line(call: Call) -> JSON:
    """Log the argument `message`, or all arguments without one. The result is null, so nothing is merged.

    SonataFlow has such functions, `sysout:LEVEL`.
    """
    word = str(call.function.operation).strip().partition(":")[2].strip() or "INFO"
    level = LEVELS.get(word.upper())
    if level is None:
        message = f"function '{call.function.name}': '{word}' is not a level{suggestion(word.upper(), LEVELS)}"
        raise permanent_failure("BadOperation", f"{message}; the levels are {', '.join(LEVELS)}")
    write_line(call, level, _text(call.arguments))
    return None


def _text(arguments: JSON) -> str:
    given = arguments["message"] if isinstance(arguments, dict) and "message" in arguments else arguments
    return given if isinstance(given, str) else show_json(given)
