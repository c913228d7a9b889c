"""Performs the calls of a run, with secrets and settings."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from swf_temporal.base.data import JSON
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.functions.secret_providers import ProvidedSecrets, SecretProvider
from swf_temporal.functions.secrets import Secrets
from swf_temporal.languages.performing import fill_auth_of, filled, made_of_secrets
from swf_temporal.runtime.host import FunctionCall
from swf_temporal.settings.calls import Settings, read_settings


class Calls:
    def __init__(
        self,
        custom: Mapping[str, Callable[..., Any]] | None = None,
        *,
        env: Mapping[str, str] | None = None,
        settings: Settings | None = None,
        secrets: Secrets | None = None,
        functions: Functions | None = None,
        provider: SecretProvider | None = None,
    ) -> None:
        """Take settings and secrets that are not given from the environment *env*.

        *functions* perform the calls instead of those made from *custom* and *settings*. Secrets of *provider* override
        *secrets*.
        """
        self.functions = functions or Functions(custom, settings or read_settings(env or {}))
        self.secrets = secrets or Secrets.from_environment(env or {})
        self._provided = None if provider is None else ProvidedSecrets(provider)

    async def perform(self, call: FunctionCall, *, source: str, key: str, attempt: int) -> JSON:
        # A secret that only a document asks for may be unknown: the service decides about a call without it.
        is_needed = call.secret_template is not None or call.function.auth_ref is not None
        known = self.secrets
        if self._provided is not None and call.secrets:
            known = known.beneath(await self._provided.of(call.secrets))
        secrets = known.entrusted(call.secrets) if is_needed else known.as_mapping(call.secrets)
        arguments = filled(call, secrets)
        return await self.functions.call(
            Call(
                function=call.function,
                arguments=arguments,
                selection_set=call.selection_set,
                headers=call.headers,
                base=folder_of(source),
                idempotency_key=key,
                attempt=attempt,
                auth=call.auth,
                secrets=secrets,
                fill_auth=fill_auth_of(call),
                made_of_secrets=made_of_secrets(call, secrets, arguments),
                folder=call.folder,
            )
        )

    async def aclose(self) -> None:
        await self.functions.aclose()


@lru_cache(maxsize=512)
def folder_of(source: str) -> str | None:
    """Return the folder of a definition, or its URL; documents are relative to it."""
    if "://" in source:
        return source
    return None if source.startswith("<") else str(Path(source).parent)
