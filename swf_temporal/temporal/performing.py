"""How does a worker carry out calls, with its secrets and its settings?"""

import json
from collections.abc import Callable, Mapping
from typing import Any

import httpx

from swf_temporal.data import JSON
from swf_temporal.errors import CallFailed
from swf_temporal.expressions.evaluation import NOTHING, Expressions
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.functions.secrets import Secrets
from swf_temporal.functions.settings import Settings
from swf_temporal.interpreter.host import FunctionCall
from swf_temporal.model.cloudevent import CloudEvent
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
        self.functions = Functions(custom, settings or Settings.from_environment(env or {}))
        self.secrets = secrets or Secrets.from_environment(env or {})

    async def perform(self, call: FunctionCall, *, source: str, key: str, attempt: int) -> JSON:
        """Make one attempt at *call*."""
        secrets = self.secrets.as_mapping(call.secrets)
        missing = [name for name in call.secrets if name not in secrets]
        if missing:
            raise CallFailed(
                f"this worker does not know the secret {missing[0]!r}", code="UnknownSecret", retryable=False
            )
        return await self.functions.call(
            Call(
                function=call.function,
                arguments=filled(call, secrets),
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


class Sink:
    """Sends produced events to an HTTP address, as CloudEvents in structured mode, or to nobody if there is none."""

    def __init__(self, url: str | None = None) -> None:
        self.url = url
        self._client: httpx.AsyncClient | None = None

    async def publish(self, event: CloudEvent) -> None:
        """Send *event*. Raises CallFailed if it was not taken."""
        if self.url is None:
            return
        if self._client is None:
            self._client = httpx.AsyncClient(timeout=30)
        headers = {"content-type": "application/cloudevents+json; charset=utf-8"}
        try:
            response = await self._client.post(self.url, content=json.dumps(event.to_json()), headers=headers)
        except httpx.HTTPError as error:
            raise CallFailed(f"event {event.type!r} could not be sent to {self.url}: {error}") from error
        if not response.is_success:
            raise CallFailed(
                f"{self.url} answered {response.status_code} to event {event.type!r}",
                status=response.status_code,
            )

    async def aclose(self) -> None:
        """Close the connection."""
        if self._client is not None:
            await self._client.aclose()


def filled(call: FunctionCall, secrets: Mapping[str, JSON]) -> JSON:
    """Return the arguments of *call*, those that mention secrets filled: only here, never in a workflow."""
    if call.deferred is None:
        return call.arguments
    given = call.deferred
    declared = [name for name in given.variables if not name.startswith("__")]
    template = Expressions(variables=declared).template(given.template)
    value = template(given.data, {**given.variables, "SECRETS": dict(secrets)})
    return None if value is NOTHING else value
