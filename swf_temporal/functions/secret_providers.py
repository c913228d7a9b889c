"""Secrets that a program's own provider looks up, such as in a vault."""

import asyncio
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Protocol, runtime_checkable

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed

MAX_AGE: Final = 60.0
"""Seconds for which a secret is cached."""
MAX_LOOKING_UP: Final = 10.0
"""Seconds within which a provider has to answer: all calls with the secret wait for it, otherwise for up to a day."""


@runtime_checkable
class SecretProvider(Protocol):
    """Looks up secrets by their names, for the calls of a worker. Its answers are cached for a minute."""

    async def secret(self, name: str) -> JSON:
        """Return the secret that definitions call *name*; None to use the one in the environment.

        An exception fails the attempt at the call with the code `SecretsUnavailable`, and so does an answer that takes
        more than 10 seconds; the next attempt looks it up again. The exception's message is not shown, as it might
        contain a secret.
        """


@dataclass(slots=True)
class _Kept:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    value: JSON = None
    until: float = 0.0


class ProvidedSecrets:
    """The secrets of a provider, each cached for a while for all calls that need it."""

    def __init__(self, provider: SecretProvider) -> None:
        self._provider = provider
        self._kept: dict[str, _Kept] = {}

    async def of(self, names: Iterable[str]) -> dict[str, JSON]:
        """Return those of *names* that the provider has. Raises CallFailed if it fails at the moment."""
        found = {name: await self._secret(name) for name in names}
        return {name: value for name, value in found.items() if value is not None}

    async def _secret(self, name: str) -> JSON:
        kept = self._kept.setdefault(name, _Kept())
        async with kept.lock:
            if kept.until <= time.monotonic():
                try:
                    async with asyncio.timeout(MAX_LOOKING_UP):
                        kept.value = await self._provider.secret(name)
                except Exception as error:
                    kind = type(error).__name__
                    message = f"the secret {name!r} cannot be looked up at the moment: {kind}"
                    raise CallFailed(message, code="SecretsUnavailable", cause=kind) from error
                kept.until = time.monotonic() + MAX_AGE
            return kept.value
