"""How does a worker carry out calls, with its secrets and its settings?"""

from collections.abc import Callable, Mapping
from typing import Any

from swf_temporal.data import JSON
from swf_temporal.errors import CallFailed
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.functions.operator.configuration import read_settings
from swf_temporal.functions.operator.settings import Settings, environment_name
from swf_temporal.functions.secrets import Secrets
from swf_temporal.interpreter.host import FunctionCall
from swf_temporal.interpreter.performing import filled
from swf_temporal.temporal.activities import folder_of


class Calls:
    """Carries out calls for real."""

    def __init__(
        self,
        custom: Mapping[str, Callable[..., Any]] | None = None,
        *,
        env: Mapping[str, str] | None = None,
        settings: Settings | None = None,
        secrets: Secrets | None = None,
    ) -> None:
        """Take settings and secrets from the environment *env* where they are not given."""
        self.functions = Functions(custom, settings or read_settings(env or {}))
        self.secrets = secrets or Secrets.from_environment(env or {})

    async def perform(self, call: FunctionCall, *, source: str, key: str, attempt: int) -> JSON:
        """Make one attempt at *call*."""
        secrets = self.secrets.as_mapping(call.secrets)
        missing = [name for name in call.secrets if name not in secrets]
        if missing:
            variable = f"SWF_SECRET_{environment_name(missing[0])}"
            message = (
                f"this worker does not know the secret {missing[0]!r}: it is given by {variable} or SWF_SECRETS_FILE"
            )
            raise CallFailed(message, code="UnknownSecret", retryable=False)
        return await self.functions.call(
            Call(
                function=call.function,
                arguments=filled(call, secrets),
                selection_set=call.selection_set,
                base=folder_of(source),
                idempotency_key=key,
                attempt=attempt,
                auth=call.auth,
                secrets=secrets,
            )
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self.functions.aclose()
