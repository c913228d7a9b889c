"""The function types that users add, as `Functions` asks them: what such a type leaves out is as usual."""

import inspect
from typing import Any

from swf_temporal.data import JSON
from swf_temporal.functions.call import Call
from swf_temporal.functions.custom.outcomes import as_json, raised
from swf_temporal.functions.port import Described, FunctionType, Performer


class OwnType(Performer):
    """Performs functions with a type of the user's own: exceptions become faults, and results JSON."""

    def __init__(self, kind: FunctionType) -> None:
        self._kind: Any = kind

    async def perform(self, call: Call) -> JSON:
        """Return the function's result. Raises CallFailed."""
        try:
            result = await self._kind.perform(call)
        except Exception as error:
            raise raised(error) from error
        return as_json(call, result)

    async def look(self, call: Call) -> Described | None:
        """Return where the type says that the function leads, if it says so."""
        if not hasattr(self._kind, "look"):
            return None
        found = self._kind.look(call)
        address = await found if inspect.isawaitable(found) else found
        return address if address is None or isinstance(address, Described) else Described(dict(address))

    def check(self, call: Call) -> None:
        """Raise CallFailed if the type refuses the function before it is called."""
        if hasattr(self._kind, "check"):
            try:
                self._kind.check(call)
            except Exception as error:
                raise raised(error) from error

    async def aclose(self) -> None:
        """Close what the type holds."""
        if hasattr(self._kind, "aclose"):
            await self._kind.aclose()
