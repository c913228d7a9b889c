"""Makes the calls that a scenario does not answer itself, to its services, as a worker would."""

from collections.abc import Iterable, Mapping

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.functions.performing import Calls
from swf_temporal.functions.secrets import Secrets
from swf_temporal.runtime.external_activities import parse_activity
from swf_temporal.runtime.host import FunctionCall
from swf_temporal.simulation.model.services import Service
from swf_temporal.simulation.services.calling_thread import CallingThread
from swf_temporal.simulation.services.places import Places

_WHERE_TO_SAY = {
    "UnknownSecret": "give it in `secrets`",
    "NoServer": "describe it in `services`, by the name of its document or of the function",
}
"""By the code of a fault: what a scenario does where a worker would be configured."""


class StubServices(CallingThread):
    """The services of one run, and who calls them. They start with the first call."""

    def __init__(self, services: Iterable[Service], secrets: Mapping[str, JSON]) -> None:
        super().__init__()
        self._services = tuple(services)
        self._secrets = Secrets(secrets)
        self._places = Places()

    async def start(self) -> Calls:
        """Start the services."""
        await self._places.start(self._services, self.recorded)
        return Calls(functions=self._places.functions(), secrets=self._secrets)

    async def attempt(self, calls: Calls, call: FunctionCall, source: str, key: str, attempt: int) -> JSON:
        """Return what a service answers. Raises CallFailed, in the words of scenarios."""
        try:
            if parse_activity(call.function) is not None:
                message = f"function {call.function.name!r} is an activity of another worker: answer it in `functions`"
                raise permanent_failure("NotScripted", message)
            return await calls.perform(call, source=source, key=key, attempt=attempt)
        except CallFailed as fault:
            fault.message = _for_scenarios(self._places.as_named(fault.message), fault.code)
            if fault.code == "NotScripted":
                self.recorded.unanswered.append(fault.message)  # a definition may catch it
            raise

    async def stop(self) -> None:
        """Stop the services."""
        for server in self._places.servers:
            await server.stop()


def _for_scenarios(message: str, code: str) -> str:
    """Return *message* with what is to be done in a scenario, if that is not what it says."""
    return f"{message.partition(': ')[0]}: {_WHERE_TO_SAY[code]}" if code in _WHERE_TO_SAY else message
