"""Calls the functions of a registry as a worker does: by keywords, with models, in a thread if they are not async."""

from collections.abc import Mapping
from dataclasses import replace

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.base.function_types import TYPES
from swf_temporal.functions.current_call import CurrentCall, answering
from swf_temporal.functions.performing import Calls
from swf_temporal.functions.plain.type import is_plain_text
from swf_temporal.functions.registry import Registry
from swf_temporal.functions.secrets import Secrets
from swf_temporal.runtime.external_activities import parse_activity
from swf_temporal.runtime.host import FunctionCall
from swf_temporal.settings.calls import Settings
from swf_temporal.simulation.services.calling_thread import CallingThread


class RegisteredFunctions(CallingThread):
    """The functions and types of a registry. By its name, a function also stands for one that calls a service."""

    def __init__(self, registry: Registry, secrets: Mapping[str, JSON]) -> None:
        super().__init__()
        self._registry = registry
        self._secrets = Secrets(secrets)

    async def start(self) -> Calls:
        """Offer what the registry has, and open its resources; nothing of the environment is read."""
        calls = Calls(self._registry, settings=Settings(), secrets=self._secrets)
        await calls.functions.open()
        return calls

    async def attempt(self, calls: Calls, call: FunctionCall, source: str, key: str, attempt: int) -> JSON:
        """Return what the function returns. Raises CallFailed, `NotScripted` if it would leave this process."""
        here = replace(call, function=self._here(call.function))
        instance = key.removesuffix(f"/{call.id}")
        current = CurrentCall(
            function=call.function.name,
            instance=instance,
            run_id=instance,
            definition=None if "/" in instance else instance,  # that of a sub-workflow is not known here
            state=call.state or "",
            action=call.action or "",
            attempt=attempt,
            idempotency_key=key,
            deadline=None,
            _beat=lambda: None,
        )
        try:
            with answering(current):
                return await calls.perform(here, source=source, key=key, attempt=attempt)
        except CallFailed as fault:
            if fault.code == "UnknownSecret":
                fault.message = f"{fault.message.partition(': ')[0]}: give it in `secrets`"
            raise

    def _here(self, function: Function) -> Function:
        is_custom = function.type == "custom" or function.type not in TYPES
        leaves = is_plain_text(function.operation) or parse_activity(function) is not None
        if function.type in self._registry.types or (is_custom and not leaves):
            return function
        if function.name in self._registry:
            return replace(function, type="custom", operation=None)
        raise permanent_failure("NotScripted", f"function {function.name!r} is called elsewhere: register a stand-in")
