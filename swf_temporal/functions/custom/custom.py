"""Who carries out a function of the type `custom`? Its operation says so: the log, a script, or Python."""

from swf_temporal.data import JSON
from swf_temporal.functions.call import Call
from swf_temporal.functions.custom.python import Python
from swf_temporal.functions.custom.script import Scripts, is_script
from swf_temporal.functions.custom.sysout import is_sysout, write_line


class Custom:
    """Carries out functions of the type `custom`, and of types that nobody has defined."""

    def __init__(self, python: Python, scripts: Scripts) -> None:
        self._python = python
        self._scripts = scripts

    async def perform(self, call: Call) -> JSON:
        """Return the function's result."""
        if is_sysout(call.function.operation):
            return await write_line(call)
        if is_script(call.function.operation):
            return await self._scripts.perform(call)
        return await self._python.perform(call)

    def check(self, call: Call) -> None:
        """Raise CallFailed if this is a call of a Python function that is not there, or may not be called."""
        if not is_sysout(call.function.operation) and not is_script(call.function.operation):
            self._python.find(call)
