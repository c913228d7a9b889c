"""The calls of functions in containers in progress on this worker, which may use the endpoint."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from swf_temporal.functions.call import Call
from swf_temporal.functions.log_lines import write_line
from swf_temporal.runtime.variables import VariableRef, VariableScope


@dataclass(frozen=True, slots=True)
class RunningCall:
    """A call in progress."""

    call: Call

    def log(self, text: str) -> None:
        """Write *text* to the log of the worker, as a line of the instance."""
        write_line(self.call, logging.INFO, text)

    def variable(self, scope: str, key: str) -> VariableRef | None:
        """Return the variable that the function means, by default the instance's. None if there is no such scope."""
        owners = {} if self.call.folder is None else self.call.folder.owners
        named: list[VariableScope] = [one for one in owners if one == (scope or "instance")]
        return VariableRef(named[0], owners[named[0]], key) if named else None


class RunningCalls:
    """The calls in progress, by their action ids."""

    def __init__(self) -> None:
        self._calls: dict[str, list[RunningCall]] = {}

    @contextmanager
    def entered(self, action_id: str, call: Call) -> Iterator[None]:
        """Register *call* within the context. For a moment, two attempts may be in progress."""
        running = RunningCall(call)
        self._calls.setdefault(action_id, []).append(running)
        try:
            yield
        finally:
            self._calls[action_id].remove(running)
            if not self._calls[action_id]:
                del self._calls[action_id]

    def get(self, action_id: str) -> RunningCall | None:
        """Return the latest attempt at the call with this *action_id*."""
        return self._calls.get(action_id, [None])[-1]
